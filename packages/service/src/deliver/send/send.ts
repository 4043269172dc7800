/**
 * Sends one signed POST to a webhook URL, with limits on the time and on the size of the response.
 */
import { type Dispatcher, Pool, ProxyAgent, type buildConnector } from 'undici';
import {
  WEBHOOK_HEADERS,
  type WebhookOrigin,
  readInboxName,
  readRetryAfterMs,
} from '@sluice/kit/contract';
import { describeError } from '../../base/log.ts';
import type { AttemptTransport } from '../../store/deliveries/contract.ts';
import type { ShownCertificate } from './certificate.ts';
import type { CertifiedKey } from './clientCertificate.ts';
import { type Connections, createConnections, type Posted, post, toTransport } from './post.ts';
import type { AddressGuard } from './guard.ts';
import { startDeadline } from './deadline.ts';
import type { LocalFailure } from './localFailure.ts';
import { createSigner } from './signer.ts';

export interface Sending {
  url: string;
  /** Value of the `webhook-id` header. */
  id: string;
  /** UTF-8. */
  body: Uint8Array;
  /** The stream's custom headers. */
  headers: Record<string, string>;
  /**
   * The stream's own secrets, which sign `webhook-signature` together with the account's secret.
   * Default: none.
   */
  secrets?: readonly string[] | undefined;
  /** Trace context of the attempt's span, if tracing is on. */
  traceparent?: string | undefined;
  /** Part number and number of parts, as `i/n`, if a match is split across several webhooks. */
  part?: string | undefined;
  /** Reason for sending the webhook; undefined for test webhooks and alerts. */
  origin?: WebhookOrigin | undefined;
  /** Milliseconds by which the ledger's clock is ahead of this process's clock. Default: 0. */
  clockSkewMs?: number | undefined;
  /** Value of the `x-queue-size` header; `recordsCharged` is the value of `x-records-charged`. */
  queueSize: number;
  recordsCharged: number;
}

export interface SendResult {
  startedAt: number;
  durationMs: number;
  status: number | null;
  /** Reason for the failure; null on success. */
  error: string | null;
  /** Milliseconds to wait, as requested by a 429 or 503, at most 24 hours. */
  retryAfterMs?: number | undefined;
  /** The first 4 KiB of the response, as text. */
  responseBody: string;
  /**
   * Timing, address and certificate of the attempt; null for an inbox, or if {@link toTransport}
   * has nothing to report.
   */
  transport: AttemptTransport | null;
  /**
   * Cause of a failure in this process, and whether the receiver may have received the webhook
   * anyway.
   */
  localFailure?: { cause: LocalFailure; isSent: boolean } | undefined;
}

export interface Sender {
  send(sending: Sending): Promise<SendResult>;
  /** Closes idle connections and aborts attempts in flight. */
  close(): Promise<void>;
}

/** Timeout from the start of an attempt to the last byte read: connection, headers and body. */
const TOTAL_TIMEOUT_MS = 15_000;
const IDLE_ORIGIN_MS = 60_000;
/** The share of the timeout in which a proxy must open its tunnel: 10 s by default. */
const TUNNEL_SHARE = 2 / 3;

/** The parsed destination of a webhook URL. */
type Target = { headers: Record<string, string> } & (
  | { origin: string; path: string }
  | { inbox: string }
  | { refused: string }
);

export interface SenderOptions {
  guard: AddressGuard;
  /** Returns the account's streams secret. Called for each attempt. */
  secret(): string;
  /** Returns the value of the contract's `x-region`. */
  region(): string;
  /** Returns the private keys that sign at this time by the ledger's clock. Default: none. */
  privateKeys?: ((at: number) => readonly string[]) | undefined;
  timeoutMs?: number | undefined;
  /** Certificate for receivers that request one. Default: none. */
  clientCertificate?: { read(): CertifiedKey | undefined } | undefined;
  /**
   * URL of an HTTP or HTTPS proxy for all requests, including its login. Default: none. The proxy
   * resolves names and decides which addresses are allowed, so the guard checks only URLs.
   */
  egressProxy?: string | undefined;
  /**
   * Receives webhooks for the service's own inboxes; undefined if this process cannot reach them.
   */
  inbox?:
    | ((
        name: string,
        request: { headers: Record<string, string>; body: Uint8Array },
      ) => Promise<{
        status: number;
        body: string;
      }>)
    | undefined;
}

interface Origin {
  pool: Dispatcher;
  /** The client certificate of the pool's connections. */
  presented: CertifiedKey | undefined;
  usedAt: number;
  /** The last received certificate; null before the first connection, and without TLS. */
  certificate: ShownCertificate | null;
}

export function createSender({
  guard,
  secret,
  region,
  privateKeys = () => [],
  timeoutMs = TOTAL_TIMEOUT_MS,
  clientCertificate,
  egressProxy,
  inbox = () => Promise.reject(new Error('inboxes cannot be reached from this process')),
}: SenderOptions): Sender {
  const connections = createConnections();
  const pools = new Map<string, Origin>();
  /** Targets by webhook URL. Streams have few URLs and use them thousands of times. */
  const targets = new Map<string, Target>();
  const signer = createSigner();

  const createPool = createPools({ guard, connections, timeoutMs, egressProxy });

  /**
   * Returns the entry of an origin that passed the guard, and creates its connection pool if
   * necessary.
   */
  const reach = (origin: string): Origin => {
    const presented = clientCertificate?.read();
    let entry = pools.get(origin);
    if (entry !== undefined && entry.presented !== presented) {
      // Attempts in flight keep their connections; later ones use the new client certificate.
      void entry.pool.close();
      entry = undefined;
    }
    if (entry === undefined) {
      const pool = createPool(origin, presented);
      entry = { pool, presented, usedAt: 0, certificate: null };
      pools.set(origin, entry);
    }
    entry.usedAt = performance.now();
    return entry;
  };

  const targetOf = (webhookUrl: string): Target => {
    let target = targets.get(webhookUrl);
    if (target === undefined) {
      target = readTarget(webhookUrl, guard);
      targets.set(webhookUrl, target);
    }
    return target;
  };

  const sweep = setInterval(() => {
    targets.clear();
    signer.forget();
    for (const [origin, { pool, usedAt }] of pools) {
      if (performance.now() - usedAt < IDLE_ORIGIN_MS) continue;
      pools.delete(origin);
      void pool.close();
    }
  }, IDLE_ORIGIN_MS);
  sweep.unref();

  const headersFor = (sending: Sending, startedAt: number): Record<string, string> => {
    const { id, body, secrets = [], queueSize, recordsCharged, clockSkewMs = 0 } = sending;
    const ledgerTime = startedAt + clockSkewMs;
    const timestamp = Math.floor(ledgerTime / 1000);
    const signed = signer.sign({
      ...{ id, timestamp, body, secret: secret(), secrets },
      privateKeys: privateKeys(ledgerTime),
    });
    return {
      ...toOptionalHeaders(sending),
      'content-type': 'application/json',
      'user-agent': 'Sluice',
      'accept-encoding': 'identity',
      'x-region': region(),
      'x-queue-size': String(queueSize),
      'x-records-charged': String(recordsCharged),
      [WEBHOOK_HEADERS.signature]: signed.signature,
      [WEBHOOK_HEADERS.id]: id,
      [WEBHOOK_HEADERS.timestamp]: String(timestamp),
      [WEBHOOK_HEADERS.standardSignature]: signed.standardSignature,
    };
  };

  return {
    async send(sending) {
      const startedAt = Date.now();
      const beganAt = performance.now();
      const end = (posted: Posted, origin: Origin | undefined): SendResult => {
        const { status, failure, localFailure, retryAfter, responseBody, isSent } = posted;
        const endedAt = performance.now();
        const known = origin?.certificate ?? null;
        return {
          startedAt,
          durationMs: Math.round(endedAt - beganAt),
          status,
          // A 2xx with a stalled body is not a success yet, because the receiver may still fail.
          error: failure ?? statusError(status),
          retryAfterMs: readRetryAfterMs(
            status,
            retryAfter,
            Date.now() + (sending.clockSkewMs ?? 0),
          ),
          responseBody,
          transport: toTransport(posted, { beganAt, endedAt }, known),
          localFailure: localFailure && { cause: localFailure, isSent },
        };
      };
      const target = targetOf(sending.url);
      if ('refused' in target) return end({ ...UNSENT, failure: target.refused }, undefined);
      const request = {
        headers: { ...target.headers, ...sending.headers, ...headersFor(sending, startedAt) },
        body: sending.body,
      };
      if ('inbox' in target) {
        const posted = await hand(inbox(target.inbox, request), timeoutMs);
        return { ...end(posted, undefined), transport: null };
      }
      const origin = reach(target.origin);
      const posted = await post(
        origin.pool,
        connections,
        { ...request, origin: target.origin, path: target.path },
        timeoutMs,
      );
      if (posted.connecting !== undefined) origin.certificate = posted.connecting.certificate;
      return end(posted, origin);
    },
    async close() {
      clearInterval(sweep);
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()));
      pools.clear();
    },
  };
}

// undici's own timeouts are off, because the deadline of `post` covers everything.
const LIMITS = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 16 * 1024 };

/**
 * Returns a function that creates the pool of an origin. The pool allows as many connections as
 * attempts, because two streams may share a host, and one that hangs must not delay the other. The
 * deliverer limits the number of attempts.
 */
function createPools({
  guard,
  connections,
  timeoutMs,
  egressProxy,
}: Pick<SenderOptions, 'guard' | 'egressProxy'> & {
  connections: Connections;
  timeoutMs: number;
}): (origin: string, certificate: CertifiedKey | undefined) => Dispatcher {
  return (origin, certificate) =>
    egressProxy === undefined
      ? new Pool(origin, { ...LIMITS, connect: connections.noted(guard.connectWith(certificate)) })
      : new ProxyAgent({
          ...LIMITS,
          uri: egressProxy,
          ...(certificate !== undefined && { requestTls: certificate }),
          // Always uses a tunnel, so that a rejection by the proxy is not mistaken for the
          // receiver's response.
          proxyTunnel: true,
          clientFactory: (proxy, options) =>
            connections.notedTunnels(new Pool(proxy, options), timeoutMs * TUNNEL_SHARE),
          factory(target, options) {
            const tunnel = options as Pool.Options & { connect: buildConnector.connector };
            return new Pool(target, { ...tunnel, connect: connections.noted(tunnel.connect) });
          },
        });
}

function toOptionalHeaders({ part, origin, traceparent }: Sending): Record<string, string> {
  const headers: Record<string, string> = {};
  if (part !== undefined) headers[WEBHOOK_HEADERS.part] = part;
  if (origin !== undefined) headers[WEBHOOK_HEADERS.origin] = origin;
  if (traceparent !== undefined) headers['traceparent'] = traceparent;
  return headers;
}

const UNSENT: Posted = {
  status: null,
  retryAfter: undefined,
  responseBody: '',
  failure: null,
  localFailure: undefined,
  connecting: undefined,
  isSent: false,
  answeredAt: undefined,
};

/** Returns an inbox's response in the form of a network response. */
async function hand(
  answer: Promise<{ status: number; body: string }>,
  timeoutMs: number,
): Promise<Posted> {
  let endDeadline = (): void => {};
  const deadline = new Promise<Posted>((resolve) => {
    const failure = `no complete response within ${timeoutMs / 1000} s`;
    endDeadline = startDeadline(timeoutMs, () => resolve({ ...UNSENT, failure }));
  });
  const answered = answer.then(
    ({ status, body }): Posted => ({ ...UNSENT, status, responseBody: body }),
    (error: unknown): Posted => ({ ...UNSENT, failure: describeError(error) }),
  );
  try {
    return await Promise.race([answered, deadline]);
  } finally {
    endDeadline();
  }
}

function statusError(status: number | null): string | null {
  if (status === null || (status >= 200 && status < 300)) return null;
  return status >= 300 && status < 400
    ? `HTTP ${status}: redirects are not followed; set the stream's URL to the final address`
    : `HTTP ${status}`;
}

/**
 * Parses and checks a URL. The result may be cached, because the addresses of a name are checked
 * for each connection.
 */
function readTarget(webhookUrl: string, guard: AddressGuard): Target {
  const url = new URL(webhookUrl);
  const headers: Record<string, string> =
    url.username === '' ? {} : { authorization: basicAuthorization(url) };
  const inbox = readInboxName(webhookUrl);
  if (inbox !== undefined) return { headers, inbox };
  const refused = guard.refuse(url);
  if (refused !== undefined) return { headers, refused };
  return { headers, origin: url.origin, path: url.pathname + url.search };
}

function basicAuthorization({ username, password }: URL): string {
  const login = `${decode(username)}:${decode(password)}`;
  return `Basic ${Buffer.from(login).toString('base64')}`;
}

/** Decodes percent escapes. If any of them is invalid, returns the text unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
