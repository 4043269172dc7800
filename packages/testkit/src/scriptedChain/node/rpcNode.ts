import { setTimeout as delay } from 'node:timers/promises';
import { RpcError } from './rpcError.ts';
import { type ChainView, type StateAnswers, answerCall, rangeOf } from './rpcMethods.ts';
import type { ScriptedChain } from '../scriptedChain.ts';
import type { RangeRefusal, Trouble, TroubleOf, Troubles } from './trouble.ts';

/** A scripted node, which responds to JSON-RPC requests and applies the current troubles. */
export interface RpcNode {
  /** Number of calls, by method. */
  readonly calls: Readonly<Record<string, number>>;
  /**
   * @param own methods of the connection, such as `eth_subscribe`, which override the node's
   *   methods.
   * @returns the response, or `hang` if the request must not get a response.
   */
  answer(request: string, own?: OwnMethods): Promise<RpcAnswer | 'hang'>;
}

export interface RpcAnswer {
  /** JSON, unless a trouble replaces or truncates it. */
  body: string;
  /** HTTP status, which is unused over WebSocket. */
  status: number;
  headers: Record<string, string>;
}

export type OwnMethods = Record<string, (params: readonly unknown[]) => unknown>;

interface Call {
  id?: unknown;
  method: string;
  params?: readonly unknown[];
}

const json = { 'content-type': 'application/json' };

export function createRpcNode(options: {
  chain: ScriptedChain;
  troubles: Troubles;
  answers: StateAnswers;
}): RpcNode {
  const { chain, troubles, answers } = options;
  const calls: Record<string, number> = {};
  const bucket = createBucket();

  const resultOf = ({ method, params = [] }: Call, own: OwnMethods): unknown => {
    const failure = troubles.take('error', method);
    if (failure) {
      throw new RpcError(failure.code ?? -32000, failure.message ?? 'internal error');
    }
    const ownMethod = own[method];
    if (ownMethod) return ownMethod(params);

    const lag = troubles.take('lag', method)?.blocks ?? 0;
    const view: ChainView = { chain, lag, answers };
    if (/^(finalized|safe)$/.test(String(params[0])) && troubles.take('unknownTags', method)) {
      throw new RpcError(-32602, 'invalid argument 0: hex string without 0x prefix');
    }
    const range = method === 'eth_getLogs' ? rangeOf(params[0], view) : undefined;
    if (range === undefined) return troubles.distort(method, answerCall(method, params, view));
    const limit = troubles.take('rangeLimit', method, ({ blocks }) => range.blocks > blocks);
    if (limit) throw refusalOf(limit, TOO_WIDE, range.from, limit.blocks);
    const result = troubles.distort(method, answerCall(method, params, view)) as unknown[];
    const full = troubles.take('resultLimit', method, ({ logs }) => result.length > logs);
    if (full) throw refusalOf(full, TOO_MANY, range.from, Math.ceil(range.blocks / 2));
    return result;
  };

  const answerOne = (call: Call, own: OwnMethods): { answer: object; error?: RpcError } => {
    const head = { jsonrpc: '2.0', id: call.id ?? null };
    try {
      return { answer: { ...head, result: resultOf(call, own) } };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message, data } = error;
      const shown = data === undefined ? { code, message } : { code, message, data };
      return { answer: { ...head, error: shown }, error };
    }
  };

  return {
    calls,
    answer: async (request, own = {}) => {
      const parsed = parseRequest(request);
      if (!parsed) {
        const error = { code: -32700, message: 'parse error' };
        return {
          body: JSON.stringify({ jsonrpc: '2.0', id: null, error }),
          status: 400,
          headers: json,
        };
      }
      const batch = [parsed].flat();
      for (const { method } of batch) calls[method] = (calls[method] ?? 0) + 1;

      // A trouble of one call affects the entire batch, because all calls share one response.
      const takeAny = <Kind extends Trouble['kind']>(
        kind: Kind,
        strikes?: (trouble: TroubleOf<Kind>) => boolean,
      ) => {
        for (const { method } of batch) {
          const taken = troubles.take(kind, method, strikes);
          if (taken) return taken;
        }
        return undefined;
      };
      if (takeAny('hang')) return 'hang';
      const late = takeAny('delay');
      if (late) await delay(late.delayMs);

      const proxy = takeAny('httpError');
      if (proxy) {
        const body = `<html><body><h1>${proxy.status}</h1></body></html>`;
        return { body, status: proxy.status, headers: { 'content-type': 'text/html' } };
      }
      const capped = batch.some(({ method }) =>
        troubles.take('rateCap', method, ({ perSecond }) => !bucket.take(perSecond)),
      );
      const limited = takeAny('rateLimit') ?? (capped ? { retryAfterSeconds: 1 } : undefined);
      if (limited) {
        const error = { code: -32005, message: 'rate limit exceeded' };
        const answer = batch.map(({ id = null }) => ({ jsonrpc: '2.0', id, error }));
        return {
          body: JSON.stringify(Array.isArray(parsed) ? answer : answer[0]),
          status: 429,
          headers: { ...json, 'retry-after': String(limited.retryAfterSeconds ?? 1) },
        };
      }
      if (takeAny('batchLimit', (limit) => Array.isArray(parsed) && parsed.length > limit.calls)) {
        const error = { code: -32600, message: 'batch too large' };
        const body = JSON.stringify({ jsonrpc: '2.0', id: null, error });
        return { body, status: 200, headers: json };
      }
      const answered = batch.map((call) => answerOne(call, own));
      const answers = answered.map(({ answer }) => answer);
      const error = Array.isArray(parsed) ? undefined : answered[0]!.error;
      const status = error?.status ?? 200;
      if (error?.isPlain === true) {
        return { body: error.message, status, headers: { 'content-type': 'text/plain' } };
      }
      const body = JSON.stringify(Array.isArray(parsed) ? answers : answers[0]);
      const isCut = takeAny('malformedJson');
      return {
        body: isCut ? body.slice(0, Math.floor(body.length / 2)) : body,
        status,
        headers: json,
      };
    },
  };
}

const TOO_WIDE = 'query exceeds max block range $blocks';
const TOO_MANY = 'query returned more than 10000 results';

function refusalOf(
  { code = -32005, message, data, status, isPlain }: RangeRefusal,
  defaultMessage: string,
  from: number,
  blocks: number,
): RpcError {
  const to = from + blocks - 1;
  const fill = (text: string): string =>
    text
      .replaceAll('$blocks', String(blocks))
      .replaceAll('$fromNumber', String(from))
      .replaceAll('$toNumber', String(to))
      .replaceAll('$from', `0x${from.toString(16)}`)
      .replaceAll('$to', `0x${to.toString(16)}`);
  const filled =
    data === undefined ? undefined : (JSON.parse(fill(JSON.stringify(data))) as unknown);
  return new RpcError(code, fill(message ?? defaultMessage), filled, { status, isPlain });
}

/** A token bucket with capacity for the calls of one second, which refills continuously. */
function createBucket(): { take(perSecond: number): boolean } {
  let tokens = Number.POSITIVE_INFINITY;
  let at = performance.now();
  return {
    take(perSecond) {
      const now = performance.now();
      tokens = Math.min(perSecond, tokens + ((now - at) * perSecond) / 1_000);
      at = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}

function parseRequest(request: string): Call | Call[] | undefined {
  try {
    return JSON.parse(request) as Call | Call[];
  } catch {
    return undefined;
  }
}
