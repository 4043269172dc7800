/**
 * JSON-RPC to one node, over HTTP or WebSocket. A node may be gone for hours: requests fail at once
 * with a `SourceError`, and a socket is opened again when it is next needed, for ever.
 */
import { Pool } from 'undici';
import { describeError } from '../observe.ts';
import { SourceError } from './source.ts';

export interface RpcClient {
  /** The node's host, for people. Never the path or query: providers put keys there. */
  readonly name: string;
  /** The `result` of the answer. Throws a {@link SourceError} for everything else. */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Calls back at each new head, as far as the node pushes them. Nothing is promised. */
  subscribeHeads(onHead: () => void): () => void;
  close(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 30_000;
const RECONNECT_MIN_MS = 500;
const RECONNECT_MAX_MS = 15_000;
/** Reading a block asks for a few things at once; more only queues at the node. */
const CONNECTIONS = 8;

export function createRpcClient(url: string): RpcClient {
  const { protocol } = new URL(url);
  return protocol === 'ws:' || protocol === 'wss:'
    ? createSocketClient(url)
    : createHttpClient(url);
}

function createHttpClient(text: string): RpcClient {
  const url = new URL(text);
  const name = url.host;
  const pool = new Pool(url.origin, { connections: CONNECTIONS });
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (url.username !== '') {
    const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers['authorization'] = `Basic ${Buffer.from(login).toString('base64')}`;
  }
  let lastId = 0;
  return {
    name,
    async request(method, params) {
      const id = ++lastId;
      let status: number;
      let answer: string;
      try {
        const response = await pool.request({
          method: 'POST',
          path: url.pathname + url.search,
          headers,
          body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
          signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        });
        status = response.statusCode;
        answer = await response.body.text();
      } catch (error) {
        throw new SourceError('unreachable', `${name}: ${describeError(error)}`, error);
      }
      return readAnswer(name, method, answer, status);
    },
    subscribeHeads: () => () => {},
    close: () => pool.destroy(),
  };
}

function createSocketClient(url: string): RpcClient {
  const name = new URL(url).host;
  const waiting = new Map<number, PromiseWithResolvers<unknown> & { method: string }>();
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
      const deadline = setTimeout(() => socket.close(), REQUEST_TIMEOUT_MS);
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
          call.resolve(readAnswer(name, call.method, text, 200));
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

  const request = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    if (closed) throw new SourceError('unreachable', `${name}: closed`);
    const socket = await open();
    const id = ++lastId;
    const call = { ...Promise.withResolvers<unknown>(), method };
    waiting.set(id, call);
    const deadline = setTimeout(() => {
      waiting.delete(id);
      call.reject(
        new SourceError(
          'unreachable',
          `${name}: ${method} had no answer in ${REQUEST_TIMEOUT_MS} ms`,
        ),
      );
      // A half-open connection never closes by itself.
      socket.close();
    }, REQUEST_TIMEOUT_MS);
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
    name,
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

function readAnswer(name: string, method: string, text: string, status: number): unknown {
  const answer = parseObject(text);
  const error = answer?.['error'];
  if (typeof error === 'object' && error !== null) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    throw new SourceError(
      'unreachable',
      `${name}: ${method} failed: ${String(message).slice(0, 300)} (${String(code)})`,
    );
  }
  if (status < 200 || status > 299) {
    throw new SourceError('unreachable', `${name}: ${method} answered HTTP ${status}`);
  }
  if (answer === undefined || !('result' in answer)) {
    throw new SourceError(
      'unreachable',
      `${name}: ${method} answered no JSON-RPC result; is this the URL of a node?`,
    );
  }
  return answer['result'];
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
