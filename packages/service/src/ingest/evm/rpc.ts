/**
 * JSON-RPC to one node, over HTTP or WebSocket. A node may be gone for hours: requests fail at once
 * with a `SourceError`, and a socket is opened again when it is next needed, for ever.
 */
import { Pool } from 'undici';
import { describeError } from '../../base/log.ts';
import { type HttpFacts, parseObject, readResult } from '../nodes/rpcError.ts';
import { SourceError } from '../source.ts';

export interface RpcClient {
  /**
   * The `result` of the answer. Throws a {@link SourceError} for everything else.
   *
   * @param maxBytes of the answer, cut off beyond; default 256 MiB
   */
  request(method: string, params: readonly unknown[], maxBytes?: number): Promise<unknown>;
  /** Calls back at each new head, as far as the node pushes them. Nothing is promised. */
  subscribeHeads(onHead: () => void): () => void;
  close(): Promise<void>;
}

/** Whole blocks, receipts and traces take a node a while; anything else is quick or lost. */
const BLOCK_TIMEOUT_MS = 30_000;
const TIMEOUT_MS = 8_000;
const OF_A_BLOCK = /^(debug_|trace_|eth_getBlockReceipts|eth_getLogs)/;
const RECONNECT_MIN_MS = 500;
const RECONNECT_MAX_MS = 15_000;
/** As many as a provider's pace may allow at once. */
const CONNECTIONS = 32;
/** A node that goes on talking is cut off; the largest traces of a block stay far below. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

const timeoutOf = (method: string): number =>
  OF_A_BLOCK.test(method) ? BLOCK_TIMEOUT_MS : TIMEOUT_MS;

const tooLarge = (what: string, maxBytes: number): SourceError =>
  new SourceError(
    'too-large',
    `${what} failed: the answer is more than ${maxBytes} bytes (cut off)`,
  );

/** @throws SourceError `too-large` */
async function readText(
  body: AsyncIterable<Buffer>,
  what: string,
  maxBytes: number,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(what, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** @param name of the node in messages; not its URL, where providers put keys. */
export function createRpcClient(url: string, name: string): RpcClient {
  const { protocol } = new URL(url);
  return protocol === 'ws:' || protocol === 'wss:'
    ? createSocketClient(url, name)
    : createHttpClient(new URL(url), name);
}

function createHttpClient(url: URL, name: string): RpcClient {
  const pool = new Pool(url.origin, { connections: CONNECTIONS });
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (url.username !== '') {
    const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers['authorization'] = `Basic ${Buffer.from(login).toString('base64')}`;
  }
  let lastId = 0;
  return {
    async request(method, params, maxBytes = MAX_ANSWER_BYTES) {
      const id = ++lastId;
      let http: HttpFacts;
      let answer: string;
      try {
        const response = await pool.request({
          method: 'POST',
          path: url.pathname + url.search,
          headers,
          body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
          signal: AbortSignal.timeout(timeoutOf(method)),
        });
        const retryAfter = response.headers['retry-after'];
        http = { status: response.statusCode, retryAfter: [retryAfter].flat()[0] };
        answer = await readText(response.body, `${name}: ${method}`, maxBytes);
      } catch (error) {
        if (error instanceof SourceError) throw error;
        throw new SourceError('unreachable', `${name}: ${describeError(error)}`, {
          cause: error,
        });
      }
      return readResult(name, method, answer, http);
    },
    subscribeHeads: () => () => {},
    close: () => pool.destroy(),
  };
}

interface Waiting extends PromiseWithResolvers<unknown> {
  method: string;
  maxBytes: number;
}

function createSocketClient(url: string, name: string): RpcClient {
  const waiting = new Map<number, Waiting>();
  const listeners = new Set<() => void>();
  let opening: Promise<WebSocket> | undefined;
  let reconnectMs = RECONNECT_MIN_MS;
  let reconnectTimer: NodeJS.Timeout | undefined;
  let lastId = 0;
  let closed = false;

  const lose = (reason: string): void => {
    opening = undefined;
    for (const call of waiting.values()) {
      call.reject(new SourceError('unreachable', `${name}: ${reason}`));
    }
    waiting.clear();
    // Without a request to make, only the wish for heads keeps the socket open.
    if (closed || listeners.size === 0 || reconnectTimer !== undefined) return;
    reconnectTimer = setTimeout(() => {
      reconnectTimer = undefined;
      subscribe();
    }, reconnectMs);
    reconnectTimer.unref();
    reconnectMs = Math.min(reconnectMs * 2, RECONNECT_MAX_MS);
  };

  const open = (): Promise<WebSocket> => {
    opening ??= new Promise((resolve, reject) => {
      const socket = new WebSocket(url);
      const deadline = setTimeout(() => socket.close(), TIMEOUT_MS);
      socket.addEventListener('open', () => {
        clearTimeout(deadline);
        reconnectMs = RECONNECT_MIN_MS;
        resolve(socket);
      });
      socket.addEventListener('message', (event) => {
        const text = String(event.data);
        const message = parseObject(text);
        if (message?.['method'] === 'eth_subscription') {
          for (const listener of listeners) listener();
          return;
        }
        const call = waiting.get(Number(message?.['id']));
        if (call === undefined) return;
        waiting.delete(Number(message?.['id']));
        try {
          if (text.length > call.maxBytes) {
            throw tooLarge(`${name}: ${call.method}`, call.maxBytes);
          }
          call.resolve(readResult(name, call.method, text));
        } catch (error) {
          call.reject(error);
        }
      });
      socket.addEventListener('close', () => {
        clearTimeout(deadline);
        reject(new SourceError('unreachable', `${name}: the connection was refused or closed`));
        lose('the connection was closed');
      });
      // A failed socket says nothing of use here; `close` follows.
      socket.addEventListener('error', () => {});
    });
    return opening;
  };

  const request: RpcClient['request'] = async (method, params, maxBytes = MAX_ANSWER_BYTES) => {
    if (closed) throw new SourceError('unreachable', `${name}: closed`);
    const socket = await open();
    const id = ++lastId;
    const timeoutMs = timeoutOf(method);
    const call: Waiting = { ...Promise.withResolvers<unknown>(), method, maxBytes };
    waiting.set(id, call);
    const deadline = setTimeout(() => {
      waiting.delete(id);
      call.reject(
        new SourceError('unreachable', `${name}: ${method} had no answer in ${timeoutMs} ms`),
      );
      // A half-open connection never closes by itself.
      socket.close();
    }, timeoutMs);
    try {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      return await call.promise;
    } finally {
      clearTimeout(deadline);
    }
  };

  const subscribe = (): void => {
    request('eth_subscribe', ['newHeads']).catch(() => {
      // The poll goes on, and a closed socket brings us back here.
    });
  };

  return {
    request,
    subscribeHeads(onHead) {
      listeners.add(onHead);
      if (listeners.size === 1) subscribe();
      return () => listeners.delete(onHead);
    },
    async close() {
      closed = true;
      clearTimeout(reconnectTimer);
      const socket = await opening?.catch(() => undefined);
      socket?.close();
    },
  };
}
