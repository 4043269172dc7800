/**
 * Makes one HTTP request, with limits on time and response size. A failure is returned as a result,
 * so the promise never rejects.
 */
import { Socket, isIP } from 'node:net';
import type { Dispatcher, buildConnector } from 'undici';
import type { AttemptParts } from '@sluice/kit/contract';
import { describeError } from '../../base/log.ts';
import { startStopwatch } from '../stopwatch.ts';
import { STALL_MS, startDeadline } from './deadline.ts';
import { type StatusLine, watchStatusLine } from './statusLine.ts';
import { type LocalFailure, readLocalFailure } from './localFailure.ts';
import type { AttemptTransport } from '../../store/deliveries/contract.ts';
import {
  type ShownCertificate,
  explainAlert,
  explainRefusal,
  readCertificate,
} from './certificate.ts';

/** A connection that was opened, or that failed. */
export interface Connecting extends Pick<AttemptParts, 'dnsMs' | 'connectMs' | 'tlsMs'> {
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
  takeOpened(): Connecting | undefined;
  /** Returns the connection that failed with this error; undefined for any other error. */
  ofError(error: Error): Connecting | undefined;
}

/**
 * Records how connections to receivers were opened: the duration of each step, the address, and the
 * certificate. Requests that reuse a connection have no additional cost.
 */
export function createConnections(): Connections {
  let opened: Connecting | undefined;
  /**
   * The connection whose connector is being called. A proxy requests the tunnel during this call.
   */
  let beginning: ReturnType<typeof begin> | undefined;
  const failed = new WeakMap<Error, Connecting>();

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

    end(outcome: Error | Socket): Connecting {
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

export interface Posted {
  /** HTTP status; null if no status line arrived. */
  status: number | null;
  /** The raw `Retry-After` header. */
  retryAfter: string | undefined;
  /** The first bytes of the response, up to the limit of the request, as text. */
  responseBody: string;
  /** Whether the response was longer than `responseBody`. */
  isCut: boolean;
  /** Reason why no complete response arrived; null if enough of the response was read. */
  failure: string | null;
  /**
   * Cause of a failure in this process; undefined on success, or if the receiver or the network
   * failed.
   */
  localFailure: LocalFailure | undefined;
  /** The connection that was opened for the request or failed; undefined if one was reused. */
  connecting: Connecting | undefined;
  /** Whether the request was given to a connection, so that the receiver may have received it. */
  isSent: boolean;
  /** Time at which the response started, from `performance.now()`; undefined if none started. */
  answeredAt: number | undefined;
}

const RESPONSE_LIMIT_BYTES = 4 * 1024;
/** Maximum bytes of a response that is read to its end, so that its connection stays reusable. */
const DRAIN_LIMIT_BYTES = 64 * 1024;

/**
 * Posts a request over the dispatcher and reads the start of the response. Uses undici's `dispatch`
 * instead of streams, because thousands of small responses may arrive per second.
 *
 * @param timeoutMs time from now to the last byte read: connection, headers and body together
 * @param responseLimitBytes maximum size of `responseBody`. Default: 4 KiB
 */
export function post(
  dispatcher: Dispatcher,
  connections: Connections,
  request: { origin: string; path: string; headers: Record<string, string>; body: Uint8Array },
  timeoutMs: number,
  responseLimitBytes = RESPONSE_LIMIT_BYTES,
): Promise<Posted> {
  return new Promise((resolve) => {
    const elapsedMs = startStopwatch();
    let status: number | null = null;
    let statusLine: StatusLine | undefined;
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
      // PostgreSQL cannot store NUL in text.
      const responseBody = Buffer.concat(kept).toString('utf8').replaceAll('\0', '\u{fffd}');
      const isSent = controller !== undefined;
      const isCut = readBytes > keptBytes;
      status ??= statusLine?.read() ?? null;
      const exchange = { status, retryAfter, responseBody, isCut, failure, localFailure };
      resolve({ ...exchange, connecting, isSent, answeredAt });
    };
    const giveUp = (failure: string | null, localFailure?: LocalFailure): void => {
      end(failure, localFailure);
      controller?.abort(new Error('given up'));
    };
    const late = `no complete response within ${timeoutMs / 1000} s`;
    const stopped = `${late}, during which this process was suspended`;
    const endDeadline = startDeadline(timeoutMs, (stalled) => {
      if (stalled) giveUp(stopped, 'STALLED');
      else giveUp(late);
    });

    dispatcher.dispatch(
      { ...request, method: 'POST' },
      {
        onRequestStart(started) {
          connecting = connections.takeOpened();
          // The deadline passed while the request waited for a connection. It must not be sent now,
          // because its lease may have expired if this process was stopped meanwhile.
          if (elapsedMs() > timeoutMs + STALL_MS) end(stopped, 'STALLED');
          if (over) started.abort(new Error('given up'));
          else {
            controller = started;
            statusLine = watchStatusLine();
          }
        },
        onResponseStart(_, statusCode, headers) {
          // Interim responses, such as 103 Early Hints, precede the response.
          if (statusCode < 200) return;
          status = statusCode;
          answeredAt = performance.now();
          const header = headers['retry-after'];
          if (typeof header === 'string') retryAfter = header;
        },
        onResponseData(_, chunk) {
          if (over) return;
          readBytes += chunk.length;
          if (keptBytes < responseLimitBytes) {
            // Copies the chunk, because the parser owns its memory.
            const part = Buffer.from(chunk.subarray(0, responseLimitBytes - keptBytes));
            kept.push(part);
            keptBytes += part.length;
          }
          // The status is known, so the rest of a huge response need not be read.
          if (readBytes > DRAIN_LIMIT_BYTES) giveUp(null);
        },
        onResponseEnd: () => end(null),
        onResponseError(_, error) {
          connecting ??= connections.ofError(error);
          const explained = connecting?.refusal ?? connecting?.alert();
          end(explained ?? describeError(error), readLocalFailure(error));
        },
      },
    );
  });
}

const SOON_MS = 14 * 24 * 3_600_000;

/**
 * Returns the certificate to report: on a new connection always, on a reused connection only if it
 * expires soon; otherwise null.
 */
function toReported(
  certificate: ShownCertificate | null,
  isNew: boolean,
): AttemptTransport['certificate'] {
  if (certificate === null) return null;
  const expiresSoon = certificate.expiresAt - Date.now() < SOON_MS;
  return isNew || expiresSoon ? { ...certificate, expiresSoon } : null;
}

/**
 * Returns the timing, address and certificate of an attempt; null if it reused a connection, its
 * response body arrived at once and its certificate does not expire soon.
 *
 * @param beganAt start of the attempt, from `performance.now()`
 * @param known the receiver's certificate, if it was observed before
 */
export function toTransport(
  { connecting, isSent, answeredAt }: Pick<Posted, 'connecting' | 'isSent' | 'answeredAt'>,
  { beganAt, endedAt }: { beganAt: number; endedAt: number },
  known: ShownCertificate | null,
): AttemptTransport | null {
  const bodyMs = answeredAt === undefined ? null : Math.round(endedAt - answeredAt);
  const isNew = connecting !== undefined;
  const certificate = toReported(isNew ? connecting.certificate : known, isNew);
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
