import { setTimeout as delay } from 'node:timers/promises';
import { RpcError } from './rpcError.ts';
import { type ChainView, type StateAnswers, answerCall, rangeOf } from './rpcMethods.ts';
import type { ScriptedChain } from '../scriptedChain.ts';
import type { Trouble, Troubles } from './trouble.ts';

/** Responds to JSON-RPC requests, or applies the current troubles. */
export interface RpcNode {
  /** Number of calls by method. */
  readonly calls: Readonly<Record<string, number>>;
  /**
   * @param own methods of the connection, such as `eth_subscribe`, which take precedence.
   * @returns the response, or `hang` if nothing must be sent.
   */
  answer(request: string, own?: OwnMethods): Promise<RpcAnswer | 'hang'>;
}

export interface RpcAnswer {
  /** JSON unless a trouble replaces it. */
  body: string;
  /** HTTP status. */
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
    if (method === 'eth_getLogs') {
      const blocks = rangeOf(params[0], view);
      const refusal = troubles.take('rangeLimit', method, (limit) => blocks > limit.blocks);
      if (refusal) throw new RpcError(-32005, `query exceeds max block range ${refusal.blocks}`);
    }
    return troubles.distort(method, answerCall(method, params, view));
  };

  const answerOne = (call: Call, own: OwnMethods): object => {
    const head = { jsonrpc: '2.0', id: call.id ?? null };
    try {
      return { ...head, result: resultOf(call, own) };
    } catch (error) {
      return { ...head, error: toRpcError(error) };
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

      // A trouble of one call affects the complete batch, which shares one connection.
      const takeAny = <Kind extends Trouble['kind']>(kind: Kind) => {
        for (const { method } of batch) {
          const taken = troubles.take(kind, method);
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
      const limited = takeAny('rateLimit');
      if (limited) {
        const error = { code: -32005, message: 'rate limit exceeded' };
        const answer = batch.map(({ id = null }) => ({ jsonrpc: '2.0', id, error }));
        return {
          body: JSON.stringify(Array.isArray(parsed) ? answer : answer[0]),
          status: 429,
          headers: { ...json, 'retry-after': String(limited.retryAfterSeconds ?? 1) },
        };
      }
      const answered = batch.map((call) => answerOne(call, own));
      const body = JSON.stringify(Array.isArray(parsed) ? answered : answered[0]);
      const isCut = takeAny('malformedJson');
      return {
        body: isCut ? body.slice(0, Math.floor(body.length / 2)) : body,
        status: 200,
        headers: json,
      };
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

function toRpcError(error: unknown): object {
  if (!(error instanceof RpcError)) throw error;
  const { code, message, data } = error;
  return data === undefined ? { code, message } : { code, message, data };
}
