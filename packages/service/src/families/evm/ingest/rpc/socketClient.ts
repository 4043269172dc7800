/** A JSON-RPC client over WebSocket, which also receives new headers that the node pushes. */
import { Agent, WebSocket, buildConnector } from 'undici';
import { describeError } from '../../../../base/log.ts';
import type { Connect } from '../../../../ingest/nodes/anyProvider.ts';
import { SourceError } from '../../../../ingest/source.ts';
import { nameNode, parseAnswer, readResult } from '../../../../ingest/nodes/rpcError.ts';
import { MAX_ANSWER_BYTES, type RpcClient, TIMEOUT_MS, timeoutOf, tooLarge } from './rpcClient.ts';

const RECONNECT_MIN_MS = 500;
const RECONNECT_MAX_MS = 15_000;

interface Waiting extends PromiseWithResolvers<unknown> {
  method: string;
  maxBytes: number;
}

/** @param name name of the node in messages, not its URL, which may contain an API key */
export function createSocketClient(url: string, name: string, connect?: Connect): RpcClient {
  const node = nameNode(name, url);
  const connectDirectly = connect ?? buildConnector({});
  /** Error of the last connection; undefined if it was opened. */
  let failure: Error | undefined;
  const dispatcher = new Agent({
    // WebSocket errors omit the cause.
    connect: (options, callback) =>
      connectDirectly(options, (...result) => {
        failure = result[0] ?? undefined;
        callback(...result);
      }),
  });
  const waiting = new Map<number, Waiting>();
  const listeners = new Set<(header: unknown) => void>();
  let opening: Promise<WebSocket> | undefined;
  let reconnectMs = RECONNECT_MIN_MS;
  let reconnectTimer: NodeJS.Timeout | undefined;
  let lastId = 0;
  let lastMessageAt = 0;
  let closed = false;

  const lose = (reason: string): void => {
    opening = undefined;
    for (const call of waiting.values()) {
      call.reject(new SourceError('unreachable', `${name}: ${reason}`));
    }
    waiting.clear();
    // Reconnects only for subscriptions, because a request opens the socket itself.
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
      const socket = new WebSocket(url, { dispatcher });
      const deadline = setTimeout(() => socket.close(), TIMEOUT_MS);
      socket.addEventListener('open', () => {
        clearTimeout(deadline);
        reconnectMs = RECONNECT_MIN_MS;
        resolve(socket);
      });
      socket.addEventListener('message', (event) => {
        lastMessageAt = performance.now();
        const text = String(event.data);
        const message = parseAnswer(text) as Record<string, unknown> | null | undefined;
        if (message?.['method'] === 'eth_subscription') {
          const { result } = (message['params'] ?? {}) as { result?: unknown };
          for (const listener of listeners) listener(result);
          return;
        }
        const call = waiting.get(Number(message?.['id']));
        if (call === undefined) return;
        waiting.delete(Number(message?.['id']));
        try {
          if (text.length > call.maxBytes) {
            throw tooLarge(`${name}: ${call.method}`, call.maxBytes);
          }
          call.resolve(readResult(node, call.method, message));
        } catch (error) {
          call.reject(error);
        }
      });
      socket.addEventListener('close', () => {
        clearTimeout(deadline);
        const why = failure === undefined ? '' : `: ${node.clean(describeError(failure))}`;
        reject(
          new SourceError('unreachable', `${name}: the connection was refused or closed${why}`),
        );
        lose('the connection was closed');
      });
      // A socket error has no useful details here; `close` follows.
      socket.addEventListener('error', () => {});
    });
    return opening;
  };

  const request: RpcClient['request'] = async (method, params, maxBytes = MAX_ANSWER_BYTES) => {
    if (closed) throw new SourceError('unreachable', `${name}: closed`);
    const socket = await open();
    const id = ++lastId;
    const timeoutMs = timeoutOf(method);
    const sentAt = performance.now();
    const call: Waiting = { ...Promise.withResolvers<unknown>(), method, maxBytes };
    waiting.set(id, call);
    const deadline = setTimeout(() => {
      waiting.delete(id);
      call.reject(
        new SourceError('unreachable', `${name}: ${method} timed out after ${timeoutMs} ms`),
      );
      // A half-open connection never closes on its own. If it still has messages, only this request
      // got no response.
      if (lastMessageAt <= sentAt) socket.close();
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
      // The head is still polled, and the subscription is repeated after the socket closes.
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
      await dispatcher.destroy();
    },
  };
}
