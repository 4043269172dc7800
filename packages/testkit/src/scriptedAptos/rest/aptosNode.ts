import type { RestTransaction } from '../ledger/restTransaction.ts';
import type { ScriptedAptosLedger } from '../ledger/scriptedAptosLedger.ts';
import {
  type AptosNodeView,
  type AptosRequest,
  RestRefusal,
  answerAptosRequest,
} from './aptosRoutes.ts';
import type { AptosRoute, AptosTrouble, AptosTroubles } from './aptosTrouble.ts';

/** A scripted fullnode, which responds to requests and applies the current troubles. */
export interface AptosNode {
  readonly calls: Readonly<Partial<Record<AptosRoute, number>>>;
  answer(request: AptosRequest): AptosAnswer;
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
    const view = viewFor(route);
    try {
      const internal = troubles.take('internalError', route);
      if (internal) throw new RestRefusal(500, 'internal_error', 'Internal error');
      const answer = answerAptosRequest(request, view);
      const body = route === 'transactions' ? distort(answer as RestTransaction[]) : answer;
      return { status: 200, headers: json, body: JSON.stringify(body) };
    } catch (error) {
      if (!(error instanceof RestRefusal)) throw error;
      return { status: error.status, headers: json, body: JSON.stringify(error.toBody()) };
    }
  };

  const viewFor = (route: AptosRoute): AptosNodeView => {
    const lag = BigInt(troubles.take('lag', route)?.blocks ?? 0);
    const head = ledger.blockAt(ledger.head.height - lag) ?? ledger.oldest;
    const { belowVersion = 0n } = troubles.take('pruned', route) ?? {};
    // A node always keeps its newest block.
    const kept = belowVersion < head.firstVersion ? belowVersion : head.firstVersion;
    const oldest = ledger.blockOfVersion(kept) ?? ledger.oldest;
    const isPartial = kept > oldest.firstVersion;
    return {
      ledger,
      chainId: troubles.take('wrongChainId', route)?.chainId ?? ledger.chainId,
      head,
      oldestVersion: isPartial ? kept : oldest.firstVersion,
      oldestHeight: isPartial ? oldest.height + 1n : oldest.height,
    };
  };

  /** Returns the page without the transactions that the current troubles remove. */
  const distort = (page: RestTransaction[]): RestTransaction[] => {
    const middle = Math.floor(page.length / 2);
    const cut = troubles.take('truncatedPage', 'transactions');
    if (cut) return page.slice(0, cut.limit ?? middle);
    const hasGap = page.length > 2 && troubles.take('versionGap', 'transactions');
    return hasGap ? page.toSpliced(middle, 1) : page;
  };

  return {
    calls,
    answer: (request) => {
      const { route } = request;
      calls[route] = (calls[route] ?? 0) + 1;
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
