/** How an Aptos block becomes matches: as `matching.ts` does it for EVM. */
import { describeWebhook } from '@sluice/kit';
import { type AptosWebhook, type SeenMovePath, findAptosNetwork } from '@sluice/kit/contract';
import type { AptosEnrich } from './enrich/aptosEnrich.ts';
import { followRules } from './followRules.ts';
import type { StreamMatcher } from './ingest/backfill.ts';
import type { Matcher } from './ingest/ingest.ts';
import type { AptosBlock } from './match/aptosBlock.ts';
import { type AptosIndex, createAptosIndex } from './match/aptosIndex.ts';
import { explainAptosBlock } from './match/aptosExplain.ts';
import { type AptosMatch, matchAptosBlock, splitAptosMatch } from './match/aptosMatch.ts';
import { countSeenPaths } from './match/aptosSeen.ts';
import { toAptosWebhookParts } from './match/aptosWebhook.ts';
import type { BlockNeeds } from './match/block.ts';
import { tooLargeReason } from './match/parts.ts';
import { countAptosRecords } from './match/recordCounts.ts';
import type { Explainer } from './matching.ts';
import { loadAddresses } from './match/refresh.ts';
import { bodyBytes, splitFinalBody } from './store/body.ts';
import { packAddresses } from './store/packedAddresses.ts';
import type { AptosStreamRecord, NewMatch, Store } from './store/store.ts';

/** One stream by itself, on one network, whatever its status. */
export interface SingleAptosMatcher extends StreamMatcher<AptosBlock> {
  /** The body as it would be sent, less `retries`; undefined where nothing matches. */
  toWebhook(block: AptosBlock): Promise<Omit<AptosWebhook, 'retries'> | undefined>;
  /** What the transactions of its addresses had. */
  countSeenPaths(block: AptosBlock): SeenMovePath[];
}

export interface AptosMatching {
  /** Of all streams that match now, on every network. */
  readonly live: Matcher<AptosBlock> & Explainer<AptosBlock>;
  /** Undefined when the stream is gone, or is none of Aptos. */
  open(chain: string, streamId: string): Promise<SingleAptosMatcher | undefined>;
  /** A stream that is not in the ledger, with these addresses. */
  try(chain: string, record: AptosStreamRecord, addresses: readonly string[]): SingleAptosMatcher;
}

/** Pages of transactions come whole, whatever is needed of them; or nobody needs anything. */
const NEEDS: BlockNeeds = { logs: true, transactions: true, traces: false };
const NO_NEEDS: BlockNeeds = { logs: false, transactions: false, traces: false };

export function createAptosMatching({
  store,
  enrichOf,
  maxWebhookBytes,
}: {
  store: Store;
  enrichOf(chain: string): AptosEnrich;
  maxWebhookBytes: number;
}): AptosMatching {
  const toParts = (chain: string, block: AptosBlock, match: AptosMatch) =>
    toAptosWebhookParts(findAptosNetwork(chain)!, block, match);

  const countsOf = (match: AptosMatch) => ({
    logs: match.transactions.reduce(
      (sum, { transaction }) =>
        sum + (match.stream.record.options.includeEvents ? transaction.events.length : 0),
      0,
    ),
    transactions: match.transactions.filter(({ isContinued }) => !isContinued).length,
    internalTransactions: 0,
    records: countAptosRecords(match),
    transactionHashes: match.transactions.map(({ transaction }) => transaction.hash),
  });

  /** With the most bytes that a webhook of it can have. */
  const toNewMatch = (chain: string, block: AptosBlock, match: AptosMatch) => {
    const { head, tail } = toParts(chain, block, match);
    const { record } = match.stream;
    const enrich = enrichOf(chain);
    // Planned first: what is known by heart goes into the body here.
    const enrichment = enrich.plan(tail);
    const body = splitFinalBody(head, tail);
    const newMatch: NewMatch = {
      streamId: record.id,
      tag: record.tag,
      part: 0,
      parts: 1,
      // What is final is delivered once, as confirmed.
      deliver: 'confirmed',
      ...countsOf(match),
      enrichment,
      setAside: null,
      about: describeWebhook(tail),
      ...body,
    };
    const growth = enrichment === null ? 0 : enrich.mostGrowth(tail);
    return { newMatch, mostBytes: bodyBytes(body) + growth };
  };

  const setAside = (
    chain: string,
    block: AptosBlock,
    record: AptosMatch,
    bytes: number,
  ): NewMatch => {
    const [only] = record.transactions;
    const name = `${only?.record} of transaction ${only?.transaction.hash}`;
    return {
      ...toNewMatch(chain, block, { ...record, transactions: [] }).newMatch,
      ...countsOf(record),
      setAside: tooLargeReason(name, bytes, maxWebhookBytes),
    };
  };

  /** One match, or several where its body is too large for one webhook. */
  const toNewMatches = (chain: string, block: AptosBlock, match: AptosMatch): NewMatch[] => {
    const whole = toNewMatch(chain, block, match);
    if (whole.mostBytes <= maxWebhookBytes) return [whole.newMatch];
    const parts = splitAptosMatch(
      match,
      maxWebhookBytes,
      (part) => toNewMatch(chain, block, part).mostBytes,
    );
    return parts.map(({ part: some, tooLarge }, part) => ({
      ...(tooLarge === undefined
        ? toNewMatch(chain, block, some).newMatch
        : setAside(chain, block, some, tooLarge)),
      part,
      parts: parts.length,
    }));
  };

  const single = (chain: string, index: AptosIndex): SingleAptosMatcher => ({
    needs: NEEDS,
    match: (block) =>
      matchAptosBlock(index, chain, block).flatMap((match) => toNewMatches(chain, block, match)),
    async toWebhook(block) {
      const [match] = matchAptosBlock(index, chain, block);
      if (match === undefined) return undefined;
      const { head, tail } = toParts(chain, block, match);
      await enrichOf(chain).complete(block, tail);
      return { ...head, ...tail };
    },
    countSeenPaths: (block) => countSeenPaths(index, chain, block),
  });

  const index = createAptosIndex();
  const refresh = followRules(index, store);
  return {
    live: {
      refresh,
      needs: (chain) => (index.matching(chain).length === 0 ? NO_NEEDS : NEEDS),
      match: (chain, block) =>
        matchAptosBlock(index, chain, block).flatMap((match) => toNewMatches(chain, block, match)),
      async explain(chain, block, only) {
        await refresh();
        return explainAptosBlock(index, chain, block, only);
      },
    },

    async open(chain, streamId) {
      const record = await store.readStream(streamId);
      if (record?.family !== 'aptos') return undefined;
      const own = createAptosIndex();
      // A job or a request may name a network the stream does not watch by itself.
      own.put({ ...record, chainIds: [chain] });
      await loadAddresses(own, store, streamId);
      return single(chain, own);
    },

    try(chain, record, addresses) {
      const own = createAptosIndex();
      own.put(record);
      own.addAddresses(record.id, packAddresses(addresses, 32).bytes);
      return single(chain, own);
    },
  };
}
