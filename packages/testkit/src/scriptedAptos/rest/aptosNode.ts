import { setTimeout as delay } from 'node:timers/promises';
import { createNodeView, toHeaders } from './aptosNodeView.ts';
import { type AptosRequest, answerAptosRequest } from './aptosRoutes.ts';
import type { AptosRoute, AptosTrouble, AptosTroubleOf, AptosTroubles } from './aptosTrouble.ts';
import { RestRefusal } from './restRefusal.ts';
import type { RestTransaction } from './restShapes.ts';
import type { ScriptedAptosLedger } from '../ledger/scriptedAptosLedger.ts';

/** A scripted fullnode, which responds to requests and applies the current troubles. */
export interface AptosNode {
  readonly calls: Readonly<Partial<Record<AptosRoute, number>>>;
  /** Resolves with the response, or with `hang` if the request must not get one. */
  answer(request: AptosRequest): Promise<AptosAnswer | 'hang'>;
}

export interface AptosAnswer {
  status: number;
  headers: Record<string, string>;
  /** JSON, unless a trouble replaces or truncates it. */
  body: string;
}

const json = { 'content-type': 'application/json' };

export function createAptosNode(options: {
  ledger: ScriptedAptosLedger;
  troubles: AptosTroubles;
}): AptosNode {
  const { ledger, troubles } = options;
  const calls: Partial<Record<AptosRoute, number>> = {};

  const answerFromLedger = (request: AptosRequest): AptosAnswer => {
    const { route } = request;
    const view = createNodeView({
      ledger,
      lagBlocks: troubles.take('lag', route)?.blocks ?? 0,
      prunedBelow: troubles.take('pruned', route)?.belowVersion ?? 0n,
      chainId: troubles.take('wrongChainId', route)?.chainId ?? ledger.chainId,
    });
    const headers = { ...json, ...toHeaders(view) };
    try {
      const internal = troubles.take('internalError', route);
      if (internal) throw new RestRefusal(500, 'internal_error', 'Internal error');
      const answer = answerAptosRequest(request, view);
      const body = route === 'transactions' ? distort(answer as RestTransaction[]) : answer;
      return { status: 200, headers, body: JSON.stringify(body) };
    } catch (error) {
      if (!(error instanceof RestRefusal)) throw error;
      return { status: error.status, headers, body: JSON.stringify(error.toBody()) };
    }
  };

  /** Returns the page without the transactions that the current troubles remove. */
  const distort = (page: RestTransaction[]): RestTransaction[] => {
    const limitOf = ({ limit }: AptosTroubleOf<'truncatedPage'>) =>
      limit ?? Math.floor(page.length / 2);
    const cut = troubles.take(
      'truncatedPage',
      'transactions',
      (each) => limitOf(each) < page.length,
    );
    if (cut) return page.slice(0, limitOf(cut));
    const hasMiddle = page.length > 2;
    if (!troubles.take('versionGap', 'transactions', () => hasMiddle)) return page;
    return page.toSpliced(Math.floor(page.length / 2), 1);
  };

  return {
    calls,
    answer: async (request) => {
      const { route } = request;
      calls[route] = (calls[route] ?? 0) + 1;

      if (troubles.take('hang', route)) return 'hang';
      const late = troubles.take('delay', route);
      if (late) await delay(late.delayMs);
      const proxy = troubles.take('httpError', route);
      if (proxy) {
        const body = `<html><body><h1>${proxy.status}</h1></body></html>`;
        return { body, status: proxy.status, headers: { 'content-type': 'text/html' } };
      }
      const limited = troubles.take('rateLimit', route);
      if (limited) return toLimited(limited);

      const answer = answerFromLedger(request);
      if (!troubles.take('malformedJson', route)) return answer;
      return { ...answer, body: answer.body.slice(0, Math.floor(answer.body.length / 2)) };
    },
  };
}

function toLimited(trouble: Extract<AptosTrouble, { kind: 'rateLimit' }>): AptosAnswer {
  const { status = 429, retryAfterSeconds = 1 } = trouble;
  const headers = { ...json, 'retry-after': String(retryAfterSeconds) };
  // With status 429, sends the body of a gateway; with status 503, the body of a busy node.
  const body =
    status === 429
      ? { code: 429, message: 'Per anonymous IP rate limit exceeded.' }
      : new RestRefusal(503, 'internal_error', 'Service unavailable').toBody();
  return { status, headers, body: JSON.stringify(body) };
}
