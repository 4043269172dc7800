/**
 * Records how connections to receivers were opened: the duration of each step, the address, and the
 * certificate. Requests that reuse a connection have no additional cost.
 */
import { Socket, isIP } from 'node:net';
import type { Dispatcher, buildConnector } from 'undici';
import type { AttemptTimings } from '@sluice/kit/contract';
import { startDeadline } from '../../send/deadline.ts';
import {
  type ShownCertificate,
  explainAlert,
  explainRefusal,
  readCertificate,
} from './certificate.ts';

/** A connection that was opened, or that failed. */
export interface ConnectionAttempt extends Pick<AttemptTimings, 'dnsMs' | 'connectMs' | 'tlsMs'> {
  /**
   * IP address and port of the last connection attempt; null if there was none, or behind a proxy.
   */
  address: string | null;
  certificate: ShownCertificate | null;
  /** Reason for rejecting the certificate; undefined if it was not rejected. */
  refusal: string | undefined;
  /**
   * Returns why the receiver rejected the client certificate; undefined if it did not. With TLS
   * 1.3, the receiver reports this only after the connection is ready.
   */
  alert(): string | undefined;
  /** Time at which the connection was ready or failed, from `performance.now()`. */
  endedAt: number;
}

export interface Connections {
  /** Wraps a connector to record its connections. */
  noted(connect: buildConnector.connector): buildConnector.connector;
  /**
   * Wraps a proxy to record when the tunnel of a connection opened. Aborts a tunnel that does not
   * open in time, because undici has no timeout for tunnels.
   */
  notedTunnels(proxy: Dispatcher, timeoutMs: number): Dispatcher;
  /**
   * Returns the connection that was opened for the request that starts now; undefined if the
   * request reuses one.
   */
  takeOpened(): ConnectionAttempt | undefined;
  /** Returns the connection that failed with this error; undefined for any other error. */
  ofError(error: Error): ConnectionAttempt | undefined;
}

export function createConnections(): Connections {
  let opened: ConnectionAttempt | undefined;
  /**
   * The connection whose connector is being called. A proxy requests the tunnel during this call.
   */
  let beginning: ReturnType<typeof begin> | undefined;
  const failed = new WeakMap<Error, ConnectionAttempt>();

  return {
    noted: (connect) => (options, callback) => {
      const began = begin(options);
      beginning = began;
      // A connector returns its socket, although its type does not declare it; a proxy's connector
      // returns a promise.
      const connection: unknown = connect(options, (...[error, socket]) => {
        if (error !== null) {
          failed.set(error, began.end(error));
          callback(error, null);
          return;
        }
        // undici starts the waiting request inside this callback, not later.
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
        // undici requests the tunnel before its connector returns.
        async connect(options: Dispatcher.ConnectOptions) {
          const began = beginning;
          const patience = new AbortController();
          const endDeadline = startDeadline(timeoutMs, () =>
            patience.abort(
              new Error(`the egress proxy did not open a tunnel within ${timeoutMs / 1_000} s`),
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

/** Starts recording one connection. */
function begin({ protocol, hostname }: buildConnector.Options) {
  const beganAt = performance.now();
  let followed: 'socket' | 'tunnel' | undefined;
  let lookedUpAt: number | undefined;
  let connectedAt: number | undefined;
  let address: string | null = null;
  let certificate: ShownCertificate | null = null;
  let alert: string | undefined;

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
        // undici reports only that the connection was closed, not the alert before that.
        .on('error', (error) => (alert ??= explainAlert(error)))
        // Runs before verification, because the certificate is lost when its socket is rejected.
        .prependOnceListener('secure', () => (certificate = readCertificate(connection)));
    },

    standTunnel() {
      connectedAt = performance.now();
    },

    end(outcome: Error | Socket): ConnectionAttempt {
      const endedAt = performance.now();
      const between = (from: number, to: number | undefined): number =>
        Math.round((to ?? endedAt) - from);
      // A connector that rejects at once has not tried to connect.
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
        alert: () => alert,
        endedAt,
      };
    },
  };
}
