/**
 * How connections to receivers came to be: where the time went until they stood, at which address, and by
 * which certificate. It is noted where a connection is made, so that what goes over an open one pays
 * nothing for it.
 */
import { Socket, isIP } from 'node:net';
import type { AttemptParts } from '@sluice/kit/contract';
import type { buildConnector, Dispatcher } from 'undici';
import { type ShownCertificate, explainRefusal, readCertificate } from './certificate.ts';
import { startDeadline } from './deadline.ts';

/** A connection that was made, or that was tried and failed. */
export interface Connecting extends Pick<AttemptParts, 'dnsMs' | 'connectMs' | 'tlsMs'> {
  /** IP address and port; null where none was tried, and behind a proxy. */
  address: string | null;
  certificate: ShownCertificate | null;
  /** For people: why its certificate was refused; undefined where it was not. */
  refusal: string | undefined;
  /** When it stood or failed, as `performance.now()` says. */
  endedAt: number;
}

export interface Connections {
  /** A connector that does the same, noted. */
  noted(connect: buildConnector.connector): buildConnector.connector;
  /**
   * A proxy that does the same: of a connection through it is noted when its tunnel stood. undici waits
   * for a tunnel without an end, so one that is not open in time is given up here, with its socket.
   */
  notedTunnels(proxy: Dispatcher, timeoutMs: number): Dispatcher;
  /** As a request begins: the connection that was made for it; undefined on an open one. */
  takeOpened(): Connecting | undefined;
  /** Of the connection that failed with this error; undefined of any other error. */
  ofError(error: Error): Connecting | undefined;
}

export function createConnections(): Connections {
  let opened: Connecting | undefined;
  /** What a proxy that is asked for a tunnel now is asked for. */
  let beginning: ReturnType<typeof begin> | undefined;
  const failed = new WeakMap<Error, Connecting>();

  return {
    noted: (connect) => (options, callback) => {
      const began = begin(options);
      beginning = began;
      // A connector returns its socket, which its type does not say; a proxy's returns a promise.
      const connection: unknown = connect(options, (...[error, socket]) => {
        if (error !== null) {
          failed.set(error, began.end(error));
          callback(error, null);
          return;
        }
        // undici begins the request that waits for the connection in there, not later.
        opened = began.end(socket);
        callback(null, socket);
        opened = undefined;
      });
      beginning = undefined;
      began.follow(connection);
    },
    notedTunnels(proxy, timeoutMs) {
      const connect = proxy.connect.bind(proxy);
      return Object.assign(proxy, {
        // undici asks for the tunnel before its connector returns.
        async connect(options: Dispatcher.ConnectOptions) {
          const began = beginning;
          const patience = new AbortController();
          const endDeadline = startDeadline(timeoutMs, () =>
            patience.abort(
              new Error(`the egress proxy opened no tunnel within ${timeoutMs / 1_000} s`),
            ),
          );
          try {
            const answer = await connect({ ...options, signal: patience.signal });
            if (answer.statusCode === 200) began?.standTunnel();
            return answer;
          } finally {
            endDeadline();
          }
        },
      });
    },
    takeOpened() {
      const connecting = opened;
      opened = undefined;
      return connecting;
    },
    ofError: (error) => failed.get(error),
  };
}

/** Notes one connection from here on. */
function begin({ protocol, hostname }: buildConnector.Options) {
  const beganAt = performance.now();
  let followed: 'socket' | 'tunnel' | undefined;
  let lookedUpAt: number | undefined;
  let connectedAt: number | undefined;
  let address: string | null = null;
  let certificate: ShownCertificate | null = null;

  return {
    follow(connection: unknown) {
      followed = connection instanceof Socket ? 'socket' : 'tunnel';
      if (!(connection instanceof Socket)) return;
      connection
        .once('lookup', (error) => {
          if (!error) lookedUpAt = performance.now();
        })
        .on('connectionAttempt', (ip, port) => {
          address = isIP(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`;
        })
        .once('connect', () => (connectedAt = performance.now()))
        // Before anybody judges it: a certificate that is refused is gone with its socket.
        .prependOnceListener('secure', () => (certificate = readCertificate(connection)));
    },

    standTunnel() {
      connectedAt = performance.now();
    },

    end(outcome: Error | Socket): Connecting {
      const endedAt = performance.now();
      const between = (from: number, to: number | undefined): number =>
        Math.round((to ?? endedAt) - from);
      // A connector that refuses at once has tried nothing.
      const isNamed = followed === 'socket' && isIP(hostname) === 0;
      const isResolved = followed !== undefined && (!isNamed || lookedUpAt !== undefined);
      const isSecured = protocol === 'https:' && connectedAt !== undefined;
      return {
        dnsMs: isNamed ? between(beganAt, lookedUpAt) : null,
        connectMs: isResolved ? between(lookedUpAt ?? beganAt, connectedAt) : null,
        tlsMs: isSecured ? between(connectedAt!, undefined) : null,
        address,
        certificate: outcome instanceof Error ? certificate : readCertificate(outcome),
        refusal:
          outcome instanceof Error
            ? explainRefusal(outcome, { hostname, certificate, address })
            : undefined,
        endedAt,
      };
    },
  };
}
