import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  createServer,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { type SinkBehavior, applyBehavior } from './sinkBehavior.ts';

/** A webhook receiver that records requests and misbehaves on demand. */
export interface WebhookSink {
  /** URL `http://127.0.0.1:<port>` without a trailing slash. Every path and method is accepted. */
  readonly url: string;
  /** Requests that arrived completely, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /**
   * Sets the behavior for `path` or, without it, for all paths that have no behavior of their own.
   * Each request uses the next behavior of a list, and the last one repeats. Default: 200.
   */
  respond(behavior: SinkResponder, options?: { path?: string }): void;
  /**
   * Resolves with all requests since the start or the last `clear`, once there are at least
   * `count`.
   *
   * @throws Error after `timeoutMs` (default: 10,000). Its message lists up to 20 requests.
   */
  waitFor(count: number, options?: WaitOptions): Promise<readonly RecordedRequest[]>;
  /** Resolves with the first request that matches, even if it arrived before the call. */
  waitFor(
    matches: (request: RecordedRequest) => boolean,
    options?: WaitOptions,
  ): Promise<RecordedRequest>;
  /** Clears the recorded requests but keeps the behaviors. */
  clear(): void;
  /** Closes every connection, including hanging ones, and frees the port. */
  close(): Promise<void>;
}

export interface RecordedRequest {
  /** The `webhook-id` header; empty if missing. */
  id: string;
  method: string;
  /** Path without the query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** The unchanged body, decoded as UTF-8. */
  body: string;
  /** Time at which the body was complete, in Unix milliseconds. */
  receivedAt: number;
}

/** A behavior, a sequence of behaviors, or a function that chooses a behavior for each request. */
export type SinkResponder =
  | SinkBehavior
  | readonly [SinkBehavior, ...SinkBehavior[]]
  | ((request: RecordedRequest) => SinkBehavior);

export interface WaitOptions {
  /** Default: 10,000. */
  timeoutMs?: number;
}

export interface WebhookSinkOptions {
  /** Default: a free port. */
  port?: number;
}

/** Starts a sink on 127.0.0.1. */
export async function startWebhookSink(options: WebhookSinkOptions = {}): Promise<WebhookSink> {
  const requests: RecordedRequest[] = [];
  const choosers = new Map<string | undefined, (request: RecordedRequest) => SinkBehavior>();
  const waiters = new Set<(request: RecordedRequest) => void>();

  const receive = async (message: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(message);
    if (body === undefined) return;
    const request = toRecorded(message, body);
    requests.push(request);
    for (const notify of waiters) notify(request);
    const choose = choosers.get(request.path) ?? choosers.get(undefined);
    await applyBehavior(choose?.(request) ?? 200, message.socket, response);
  };

  const server = createServer((message, response) => {
    receive(message, response).catch((error: unknown) => {
      // Reports an error of the test's responder in the response, where the test can see it.
      response.writeHead(500).end(`The sink's responder failed: ${String(error)}`);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');

  function waitFor(count: number, options?: WaitOptions): Promise<readonly RecordedRequest[]>;
  function waitFor(
    matches: (request: RecordedRequest) => boolean,
    options?: WaitOptions,
  ): Promise<RecordedRequest>;
  function waitFor(
    wanted: number | ((request: RecordedRequest) => boolean),
    { timeoutMs = 10_000 }: WaitOptions = {},
  ): Promise<RecordedRequest | readonly RecordedRequest[]> {
    const early = typeof wanted === 'number' ? undefined : requests.find(wanted);
    if (early) return Promise.resolve(early);
    if (typeof wanted === 'number' && requests.length >= wanted) return Promise.resolve(requests);
    return new Promise((resolve, reject) => {
      const settle = () => {
        waiters.delete(notify);
        clearTimeout(timer);
      };
      const notify = (request: RecordedRequest) => {
        if (typeof wanted === 'number') {
          if (requests.length < wanted) return;
          settle();
          resolve(requests);
        } else if (wanted(request)) {
          settle();
          resolve(request);
        }
      };
      const timer = setTimeout(() => {
        settle();
        const goal = typeof wanted === 'number' ? `${wanted} requests` : 'the expected request';
        reject(new Error(`The sink did not get ${goal} in ${timeoutMs} ms; ${describe(requests)}`));
      }, timeoutMs);
      waiters.add(notify);
    });
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    respond: (responder, { path } = {}) => void choosers.set(path, toChooser(responder)),
    waitFor,
    clear: () => {
      requests.length = 0;
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function toChooser(responder: SinkResponder): (request: RecordedRequest) => SinkBehavior {
  if (typeof responder === 'function') return responder;
  if (!isSequence(responder)) return () => responder;
  let next = 0;
  return () => {
    const behavior = responder[Math.min(next, responder.length - 1)] as SinkBehavior;
    next += 1;
    return behavior;
  };
}

function isSequence(
  responder: SinkBehavior | readonly SinkBehavior[],
): responder is readonly SinkBehavior[] {
  return Array.isArray(responder);
}

/** Returns the body of a request, or undefined if the sender disconnected before its end. */
async function readBody(message: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of message) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString();
}

function toRecorded(message: IncomingMessage, body: string): RecordedRequest {
  const id = message.headers['webhook-id'];
  return {
    id: typeof id === 'string' ? id : '',
    method: message.method ?? '',
    path: (message.url ?? '').split('?', 1)[0] as string,
    headers: message.headers,
    body,
    receivedAt: Date.now(),
  };
}

function describe(requests: readonly RecordedRequest[]): string {
  const shown = requests.slice(0, 20).map(({ method, path, id }) => `${method} ${path} ${id}`);
  return `it got ${requests.length}${shown.length > 0 ? `: ${shown.join(', ')}` : ''}`;
}
