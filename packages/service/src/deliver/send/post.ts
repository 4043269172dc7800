/** One HTTP exchange, bounded in time and in bytes. Never rejects: a failure is an outcome too. */
import { Socket, isIP } from 'node:net';
import type { Dispatcher, buildConnector } from 'undici';
import type { AttemptParts } from '@sluice/kit/contract';
import { describeError } from '../../base/log.ts';
import { startDeadline } from './deadline.ts';
import { type LocalFailure, readLocalFailure } from './localFailure.ts';
import type { AttemptTransport } from '../../store/deliveries/contract.ts';
import { type ShownCertificate, explainRefusal, readCertificate } from './certificate.ts';

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

/**
 * How connections to receivers came to be: where the time went until they stood, at which address, and by
 * which certificate. It is noted where a connection is made, so that what goes over an open one pays
 * nothing for it.
 */
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

export interface Posted {
  /** Null when no answer began. */
  status: number | null;
  /** The `Retry-After` header, as it came. */
  retryAfter: string | undefined;
  /** The first {@link RESPONSE_LIMIT_BYTES} of the answer, as text. */
  responseBody: string;
  /** Why the answer is not complete; null when it is. */
  failure: string | null;
  /** Why the failure is this process's own; undefined for one of the receiver or the way to it. */
  localFailure: LocalFailure | undefined;
  /** The connection that was made for it, or that failed; undefined on an open one. */
  connecting: Connecting | undefined;
  /** When it was given to a connection, and when an answer began, as `performance.now()` says. */
  isSent: boolean;
  answeredAt: number | undefined;
}

const RESPONSE_LIMIT_BYTES = 4 * 1024;
/** Read, but not kept, so that a small answer leaves its connection usable. */
const DRAIN_LIMIT_BYTES = 64 * 1024;

/**
 * Posts over the dispatcher and reads the start of the answer. It works on undici's `dispatch`, below
 * its streams: an answer is a few bytes, and there are thousands a second.
 *
 * @param timeoutMs from now to the last byte read: connection, headers and body together
 */
export function post(
  dispatcher: Dispatcher,
  connections: Connections,
  request: { origin: string; path: string; headers: Record<string, string>; body: Uint8Array },
  timeoutMs: number,
): Promise<Posted> {
  return new Promise((resolve) => {
    let status: number | null = null;
    let retryAfter: string | undefined;
    let controller: Dispatcher.DispatchController | undefined;
    const kept: Buffer[] = [];
    let keptBytes = 0;
    let readBytes = 0;
    let over = false;
    let connecting: Connecting | undefined;
    let answeredAt: number | undefined;

    const end = (failure: string | null, localFailure?: LocalFailure): void => {
      if (over) return;
      over = true;
      endDeadline();
      // PostgreSQL cannot hold a NUL in text.
      const responseBody = Buffer.concat(kept).toString('utf8').replaceAll('\0', '\u{fffd}');
      const isSent = controller !== undefined;
      const exchange = { status, retryAfter, responseBody, failure, localFailure };
      resolve({ ...exchange, connecting, isSent, answeredAt });
    };
    const giveUp = (failure: string | null, localFailure?: LocalFailure): void => {
      end(failure, localFailure);
      controller?.abort(new Error('given up'));
    };
    const endDeadline = startDeadline(timeoutMs, (stalled) => {
      const late = `no complete answer within ${timeoutMs / 1000} s`;
      if (stalled) giveUp(`${late}, in which this process was stopped`, 'STALLED');
      else giveUp(late);
    });

    dispatcher.dispatch(
      { ...request, method: 'POST' },
      {
        onRequestStart(started) {
          controller = started;
          connecting = connections.takeOpened();
          // The deadline passed while it waited for a connection: it must not be sent now.
          if (over) started.abort(new Error('given up'));
        },
        onResponseStart(_, statusCode, headers) {
          status = statusCode;
          answeredAt = performance.now();
          const header = headers['retry-after'];
          if (typeof header === 'string') retryAfter = header;
        },
        onResponseData(_, chunk) {
          if (over) return;
          readBytes += chunk.length;
          if (keptBytes < RESPONSE_LIMIT_BYTES) {
            // A copy: the chunk's memory is the parser's.
            const part = Buffer.from(chunk.subarray(0, RESPONSE_LIMIT_BYTES - keptBytes));
            kept.push(part);
            keptBytes += part.length;
          }
          // The status has decided; the rest of a huge answer is not worth its bytes.
          if (readBytes > DRAIN_LIMIT_BYTES) giveUp(null);
        },
        onResponseEnd: () => end(null),
        onResponseError(_, error) {
          connecting ??= connections.ofError(error);
          end(connecting?.refusal ?? describeError(error), readLocalFailure(error));
        },
      },
    );
  });
}

const SOON_MS = 14 * 24 * 3_600_000;

/** Of an attempt on an open connection it is told only while it matters. */
function toldOf(
  certificate: ShownCertificate | null,
  isNew: boolean,
): AttemptTransport['certificate'] {
  if (certificate === null) return null;
  const expiresSoon = certificate.expiresAt - Date.now() < SOON_MS;
  return isNew || expiresSoon ? { ...certificate, expiresSoon } : null;
}

/**
 * Null of an attempt on an open connection that was answered at once: that is nearly every attempt, and what
 * is known of it is how long it took.
 *
 * @param beganAt when the attempt began and ended, as `performance.now()` says
 * @param known the certificate of the receiver, if it was shown before
 */
export function toTransport(
  { connecting, isSent, answeredAt }: Pick<Posted, 'connecting' | 'isSent' | 'answeredAt'>,
  { beganAt, endedAt }: { beganAt: number; endedAt: number },
  known: ShownCertificate | null,
): AttemptTransport | null {
  const bodyMs = answeredAt === undefined ? null : Math.round(endedAt - answeredAt);
  const isNew = connecting !== undefined;
  const certificate = toldOf(isNew ? connecting.certificate : known, isNew);
  if (connecting === undefined && bodyMs === 0 && certificate === null) return null;
  const sentAt = connecting?.endedAt ?? beganAt;
  return {
    parts: {
      dnsMs: connecting?.dnsMs ?? null,
      connectMs: connecting?.connectMs ?? null,
      tlsMs: connecting?.tlsMs ?? null,
      waitMs: isSent ? Math.round((answeredAt ?? endedAt) - sentAt) : null,
      bodyMs,
    },
    address: connecting?.address ?? null,
    certificate,
  };
}
