/** One node of an EVM chain and its JSON-RPC client. */
import { setTimeout as wait } from 'node:timers/promises';
import { toChainId } from '@sluice/kit/contract';
import { Pool } from 'undici';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { type HeaderProof, isProvableChain, toHeader, toPushedHeader } from './header.ts';
import { object } from '../json.ts';
import { SourceError, isLacking, isOfKind } from '../source.ts';
import { type AnyProvider, type Identity, createStanding } from '../nodes/standing.ts';
import { describeError } from '../../base/log.ts';
import { type HttpFacts, parseObject, readResult } from '../nodes/rpcError.ts';

/**
 * JSON-RPC to one node, over HTTP or WebSocket. A node may be unreachable for hours: requests fail
 * at once with a `SourceError`, and a socket is reopened whenever it is needed.
 */
export interface RpcClient {
  /**
   * Returns the `result` of the response. Throws a {@link SourceError} for any other response.
   *
   * @param maxBytes maximum response size; default 256 MiB
   */
  request(method: string, params: readonly unknown[], maxBytes?: number): Promise<unknown>;
  /** Calls back with each new header that the node pushes; some may be lost. */
  subscribeHeads(onHead: (header: unknown) => void): () => void;
  close(): Promise<void>;
}

/**
 * Timeouts. Requests for complete blocks, receipts and traces are slow; other requests are quick or
 * lost.
 */
const BLOCK_TIMEOUT_MS = 30_000;
const TIMEOUT_MS = 8_000;
const OF_A_BLOCK = /^(debug_|trace_|eth_getBlockReceipts|eth_getLogs)/;
const RECONNECT_MIN_MS = 500;
const RECONNECT_MAX_MS = 15_000;
/** Maximum concurrency of a provider. */
const CONNECTIONS = 32;
/** Maximum response size. The largest traces of a block are far smaller. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

const timeoutOf = (method: string): number =>
  OF_A_BLOCK.test(method) ? BLOCK_TIMEOUT_MS : TIMEOUT_MS;

const tooLarge = (what: string, maxBytes: number): SourceError =>
  new SourceError('too-large', `${what} failed: the response exceeds ${maxBytes} bytes`);

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

/** @param name name of the node in messages, not its URL, which may contain an API key */
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
  const listeners = new Set<(header: unknown) => void>();
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
    // Without pending requests, only head subscriptions keep the socket open.
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
    const call: Waiting = { ...Promise.withResolvers<unknown>(), method, maxBytes };
    waiting.set(id, call);
    const deadline = setTimeout(() => {
      waiting.delete(id);
      call.reject(
        new SourceError('unreachable', `${name}: ${method} timed out after ${timeoutMs} ms`),
      );
      // A half-open connection never closes on its own.
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
      // Polling continues, and a closed socket triggers a new attempt.
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

export interface Provider extends AnyProvider {
  request(method: string, params: readonly unknown[], how?: RequestHow): Promise<unknown>;
  /** Calls back when the node announces a head, which the next `readHead` returns. */
  subscribeHeads(onHead: () => void): () => void;
}

interface RequestHow {
  /** `aside` runs the request after all requests that blocks need. */
  order?: 'aside' | undefined;
  /** Whether a refusal of the request does not count against the node. */
  isOptional?: boolean | undefined;
  /** Maximum response size. */
  maxBytes?: number | undefined;
}

/** A call that a contract rejects fails on every node, so it does not count against the node. */
const REVERTED =
  /revert|out of gas|gas required exceeds|invalid (opcode|jump)|stack (under|over)flow|VM (execution|exception)|EVM error|execution (aborted|timeout|timed out)/i;

export const isReverted = (error: SourceError): boolean =>
  error.kind === 'refused' && (error.rpcCode === 3 || REVERTED.test(error.message));

/**
 * Only headers measure the latency, because the duration of complete blocks depends on their size.
 */
const isShort = (method: string, params: readonly unknown[]): boolean =>
  method.startsWith('eth_getBlockBy') && params[1] === false;

/** Maximum wait for a node that limits requests, and maximum number of waits per request. */
const PATIENCE_MS = 5_000;
const PATIENT_TRIES = 8;

/** Keeps the newest header that a node pushed until its head is read. */
function createPushedHeads(name: string, headerProof: () => HeaderProof) {
  let newest: BlockHeader | undefined;
  let taken: string | undefined;
  /**
   * True once the node has announced a block that it could not return, because nodes may share one
   * URL.
   */
  let isEarly = false;
  return {
    receive(result: unknown): void {
      try {
        newest = toPushedHeader(object(result, name), headerProof());
      } catch {
        // The head is requested instead.
        newest = undefined;
      }
    },
    take(): BlockHeader | undefined {
      if (isEarly || newest === undefined || newest.hash === taken) return undefined;
      taken = newest.hash;
      return newest;
    },
    recordMissing(hash: unknown): void {
      isEarly ||= hash === taken && taken !== undefined;
    },
  };
}

/**
 * @param name name of the node in messages: its host, numbered if several nodes share it
 * @param headerProof how strictly its headers are checked now
 * @param isAlone whether no other node can take over now; requests then wait out a rate limit,
 * because rereading the entire block would cost more
 */
export function createProvider(
  chain: string,
  url: string,
  name: string,
  headerProof: () => HeaderProof,
  isAlone: () => boolean = () => false,
): Provider {
  const client: RpcClient = createRpcClient(url, name);
  const closing = new AbortController();

  const pushedHeads = createPushedHeads(name, headerProof);

  const request: Provider['request'] = async (method, params, how = {}) => {
    const { order, isOptional, maxBytes } = how;
    for (let tries = 1; ; tries++) {
      try {
        const result = await standing.run(() => client.request(method, params, maxBytes), {
          isShort: isShort(method, params),
          order,
          isOptional,
        });
        if (result === null) pushedHeads.recordMissing(params[0]);
        return result;
      } catch (error) {
        const isLimited = isOfKind(error, 'rate-limited') && order !== 'aside';
        if (!isLimited || tries === PATIENT_TRIES || !isAlone()) throw error;
        const waitMs = error.retryAfterMs ?? 0;
        if (waitMs > PATIENCE_MS || closing.signal.aborted) throw error;
        await wait(waitMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  };

  const readBlockHeader = async (
    method: string,
    at: string,
    what: string,
    how?: RequestHow,
    proof = headerProof(),
  ): Promise<BlockHeader | undefined> => {
    const answer = await request(method, [at, false], how);
    if (answer === null) return undefined;
    const header = toHeader(object(answer, `${name}: ${what}`), proof);
    standing.remember(header.hash);
    return header;
  };

  const readIdentity = async (): Promise<Identity> => {
    const answer = await request('eth_chainId', []);
    const id = toChainId(answer);
    if (id !== chain) {
      throw new SourceError(
        'wrong-chain',
        `${name} serves chain ${id ?? JSON.stringify(answer)}, not ${chain}. Correct --chain ${chain}=<rpcUrl>`,
      );
    }
    try {
      const genesis = await readBlockHeader(
        'eth_getBlockByNumber',
        '0x0',
        'block 0',
        {},
        // Other chains may have started with different rules.
        isProvableChain(chain) ? headerProof() : 'none',
      );
      return { genesisHash: genesis?.hash };
    } catch (error) {
      if (error instanceof SourceError && isLacking(error)) {
        return { genesisHash: undefined };
      }
      throw error;
    }
  };

  const standing = createStanding(name, readIdentity, { isExpected: isReverted });
  return Object.assign(standing, {
    request,
    async readHead() {
      const header =
        pushedHeads.take() ??
        (await readBlockHeader('eth_getBlockByNumber', 'latest', 'the latest block'));
      if (header === undefined) {
        throw new SourceError('missing', `${name}: the latest block is missing`);
      }
      standing.remember(header.hash);
      standing.recordHead(header);
      return header;
    },
    async readTagged(tag, order) {
      try {
        const what = `the ${tag} block`;
        return await readBlockHeader('eth_getBlockByNumber', tag, what, {
          order,
          isOptional: true,
        });
      } catch (error) {
        // Nodes report an unknown tag, or a missing block, in different ways.
        if (error instanceof SourceError && isLacking(error)) return undefined;
        throw error;
      }
    },
    async readHeaderAt(number: number) {
      const what = `block ${number}`;
      const header = await readBlockHeader(
        'eth_getBlockByNumber',
        `0x${number.toString(16)}`,
        what,
      );
      if (header !== undefined && header.number !== number) {
        throw new SourceError(
          'inconsistent',
          `${name}: the node returned block ${header.number} for ${what}`,
        );
      }
      return header;
    },
    async readHeaderOf(hash: string) {
      const header = await readBlockHeader('eth_getBlockByHash', hash, `block ${hash}`);
      if (header !== undefined && header.hash !== hash) {
        throw new SourceError(
          'inconsistent',
          `${name}: the node returned block ${header.hash} for ${hash}`,
        );
      }
      return header;
    },
    subscribeHeads: (onHead) =>
      client.subscribeHeads((result) => {
        pushedHeads.receive(result);
        onHead();
      }),
    async close() {
      closing.abort();
      await client.close();
    },
  } satisfies Omit<Provider, keyof typeof standing>);
}
