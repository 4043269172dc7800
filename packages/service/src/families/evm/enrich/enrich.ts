/**
 * Completes an EVM body with token metadata, reasons of failed calls, labels of addresses, and
 * trigger results and native balances as of its block.
 */
import { describeWebhook } from '@sluice/kit';
import type { Log } from '../../../base/log.ts';
import { fromBodyTail, toBodyTail } from '../../../store/blocks/body.ts';
import type { BlockRef } from '../../../store/blocks/contract.ts';
import type { Store } from '../../../store/store.ts';
import type { StreamOptions } from '../../../store/streams/contract.ts';
import type { Token } from '../../../store/enrichment/contract.ts';
import { maxBalanceBytes } from './balances.ts';
import { completeBody, maxTriggerBytes } from './completeBody.ts';
import type { Enrich } from '../../../enrich/enrich.ts';
import { createEnrichPool } from '../../../enrich/enrichPool.ts';
import { contractsOf, fillTokens, maxTokenBytes } from './fillTokens.ts';
import { addLabels, maxLabelBytes, mayHaveLabels } from './labels.ts';
import { type CompiledPlan, TOKENS_ONLY, compilePlan, planOf } from './plan.ts';
import { maxReasonBytes } from './reasons.ts';
import type { BodyTail } from './records.ts';
import type { EnrichState } from './state.ts';
import { TOKEN_CALLS, readToken, tokenCalls } from './token.ts';
import { orOutage } from '../../../enrich/outage.ts';
import { createTokens } from '../../../enrich/tokens.ts';

export interface EvmEnrich extends Enrich<StreamOptions, BodyTail> {
  /** Reads a contract's token metadata; undefined if the nodes refused to provide it. */
  readToken(block: BlockRef, contract: string): Promise<Token | undefined>;
}

const TOKEN_CACHE_BYTES = 32 * 1024 * 1024;

export function createEnrich({
  chain,
  store,
  state,
  log,
  retryMs,
  maxWebhookBytes,
}: {
  chain: string;
  store: Store;
  state: EnrichState;
  log: Log;
  /**
   * Milliseconds before the first retry; doubled for each further retry, up to 10 seconds. Default:
   * 500.
   */
  retryMs?: number | undefined;
  maxWebhookBytes: number;
}): EvmEnrich {
  const readTokensAt = async (block: BlockRef, addresses: readonly string[]): Promise<Token[]> => {
    const answers = await state.call(block, addresses.flatMap(tokenCalls));
    return addresses.flatMap((address, n) => {
      const theirs = answers.slice(n * TOKEN_CALLS, (n + 1) * TOKEN_CALLS);
      return readToken(address, block.number, theirs) ?? [];
    });
  };
  const tokens = createTokens({
    chain,
    store,
    cacheBytes: TOKEN_CACHE_BYTES,
    async ask(block, addresses) {
      const found = await readTokensAt(block, addresses);
      if (found.length === addresses.length || !state.isGone(block)) return found;
      // Metadata hardly changes, so that of the newest block is better than none.
      const newest = await orOutage(store.readCheckpoint(chain));
      if (newest === undefined) return found;
      const known = new Set(found.map(({ address }) => address));
      const left = addresses.filter((address) => !known.has(address));
      return [...found, ...(await readTokensAt(newest, left))];
    },
  });
  const maxBytesOf = (plan: CompiledPlan): number =>
    Math.min(maxWebhookBytes, plan.maxWebhookBytes);
  const shared = (block: BlockRef, streamId: string) => ({
    block,
    tokens,
    state,
    addLabels: (tail: BodyTail) => addLabels(tail, streamId, store),
    onOmitted: (balances: number) =>
      log.warn('native balances omitted', { chain, block: block.number, balances }),
  });
  const pool = createEnrichPool({
    chain,
    store,
    log,
    waiting: 'token metadata, labels, reasons of failures, triggers and balances are waiting',
    async complete({ streamId, bodyTail, bodyHeadBytes, enrichment, block }, isLastTry) {
      const plan = compilePlan(enrichment);
      const maxBytes = maxBytesOf(plan) - bodyHeadBytes;
      const tryWith = async (isLast: boolean): Promise<BodyTail | undefined> => {
        const tail = fromBodyTail(bodyTail) as BodyTail;
        const own = { ...shared(block, streamId), plan, isLastTry: isLast, maxBytes };
        return (await completeBody(tail, own)) === undefined ? tail : undefined;
      };
      const tail = (await tryWith(isLastTry)) ?? (state.isGone(block) && (await tryWith(true)));
      if (!tail) return undefined;
      return { bodyTail: toBodyTail(tail), about: describeWebhook({ chainId: chain, ...tail }) };
    },
    retryMs,
  });

  return Object.assign(pool, {
    plan(options: StreamOptions, tail: BodyTail): string | null {
      const own = planOf(options, tail);
      if (own !== undefined) return own;
      if (mayHaveLabels(tail)) return TOKENS_ONLY;
      const known = new Map<string, Token>();
      for (const contract of contractsOf(tail)) {
        const token = tokens.find(contract);
        if (token === undefined) return TOKENS_ONLY;
        known.set(contract, token);
      }
      fillTokens(tail, (contract) => known.get(contract));
      return null;
    },
    mostGrowth: ({ triggers, getNativeBalances }: StreamOptions, tail: BodyTail) =>
      maxTokenBytes(tail) +
      maxTriggerBytes(triggers ?? [], tail) +
      maxBalanceBytes(getNativeBalances ?? [], tail) +
      maxReasonBytes(tail) +
      maxLabelBytes(tail),
    async complete(
      block: BlockRef,
      { id, options }: { id: string; options: StreamOptions },
      tail: BodyTail,
    ) {
      const plan = compilePlan(planOf(options, tail) ?? TOKENS_ONLY);
      const maxBytes = maxBytesOf(plan);
      await completeBody(tail, { ...shared(block, id), plan, isLastTry: true, maxBytes });
    },
    readToken: async (block: BlockRef, contract: string) =>
      (await tokens.read(block, new Set([contract]))).get(contract),
  });
}
