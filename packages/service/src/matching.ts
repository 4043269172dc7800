/** How a block becomes matches: the index of rules, the matcher, the body, and what it still lacks. */
import { describeWebhook } from '@sluice/kit';
import type { EvmWebhook, ExplainedRecord, NearMiss, SeenEvent } from '@sluice/kit/contract';
import type { Enrich } from './enrich/enrich.ts';
import type { StreamMatcher } from './ingest/backfill.ts';
import type { Matcher } from './ingest/ingest.ts';
import type { BlockNeeds, EvmBlock } from './match/block.ts';
import { explainBlock } from './match/explain.ts';
import { type Match, matchBlock, transactionHashesOf } from './match/match.ts';
import { followRules } from './followRules.ts';
import { findNearMisses } from './match/near.ts';
import { countEvmRecords } from './match/recordCounts.ts';
import { loadAddresses } from './match/refresh.ts';
import { countSeenEvents } from './match/seen.ts';
import { type StreamIndex, createStreamIndex } from './match/streamIndex.ts';
import { leastBytes, splitMatch, tooLargeReason } from './match/parts.ts';
import { toWebhookParts } from './match/webhook.ts';
import { bodyBytes, splitBody } from './store/body.ts';
import { packAddresses } from './store/packedAddresses.ts';
import type { EvmStreamRecord, NewMatch, Store } from './store/store.ts';

/** By chain, contracts that are possible spam; lower case. */
export type SpamLists = Readonly<Record<string, ReadonlySet<string>>>;

/** Says why a block concerns each of the streams that match now, by the rules as they are now. */
export interface Explainer<Block> {
  needs(chain: string): BlockNeeds;
  /** By stream; those that it does not concern are left out. Of the transactions alone that `only` names. */
  explain(chain: string, block: Block, only: ExplainOnly): Promise<Map<string, ExplainedRecord[]>>;
}

export interface ExplainOnly {
  /** Hashes. */
  transactions?: ReadonlySet<string> | undefined;
  /** Of Aptos. */
  version?: number | undefined;
}

/** One stream by itself, on one chain, whatever its status. */
export interface SingleMatcher extends StreamMatcher<EvmBlock> {
  /** The body as it would be sent, less `confirmed` and `retries`. */
  toWebhook(block: EvmBlock): Promise<Omit<EvmWebhook, 'confirmed' | 'retries'> | undefined>;
  /** What one comparison of its filters kept out. */
  findNearMisses(block: EvmBlock): NearMiss[];
  /** What its addresses had; of a block that was read with its logs. */
  countSeenEvents(block: EvmBlock): SeenEvent[];
}

export interface Matching {
  /** Of all streams that match now, on every chain. */
  readonly live: Matcher<EvmBlock> & Explainer<EvmBlock>;
  /** Undefined when the stream is gone, or is none of this chain's family. */
  open(chain: string, streamId: string): Promise<SingleMatcher | undefined>;
  /** A stream that is not in the ledger, with these addresses. */
  try(chain: string, record: EvmStreamRecord, addresses: readonly string[]): SingleMatcher;
}

export function createMatching({
  store,
  enrichOf,
  spamLists,
  maxWebhookBytes,
}: {
  store: Store;
  enrichOf(chain: string): Enrich;
  spamLists: SpamLists;
  maxWebhookBytes: number;
}): Matching {
  /** One match, or several where its body is too large for one webhook. */
  const toNewMatches = (chain: string, block: EvmBlock, match: Match): NewMatch[] => {
    if (leastBytes(match) <= maxWebhookBytes) {
      const whole = toNewMatch(chain, block, match);
      if (whole.mostBytes <= maxWebhookBytes) return [whole.newMatch];
    }
    const parts = splitMatch(match, maxWebhookBytes, (part) => {
      const least = leastBytes(part);
      return least > maxWebhookBytes ? least : toNewMatch(chain, block, part).mostBytes;
    });
    return parts.map(({ part: some, tooLarge }, part) => ({
      ...(tooLarge === undefined
        ? toNewMatch(chain, block, some).newMatch
        : setAside(chain, block, some, tooLarge)),
      part,
      parts: parts.length,
    }));
  };

  const setAside = (chain: string, block: EvmBlock, record: Match, bytes: number): NewMatch => {
    const nothing: Match = { ...record, logs: [], transactions: [], internalTransactions: [] };
    const [hash = ''] = transactionHashesOf(record);
    return {
      ...toNewMatch(chain, block, nothing).newMatch,
      ...countsOf(record),
      setAside: tooLargeReason(`${nameOf(record)} of transaction ${hash}`, bytes, maxWebhookBytes),
    };
  };

  const countsOf = (match: Match) => ({
    logs: match.logs.length,
    transactions: match.transactions.length,
    internalTransactions: match.internalTransactions.length,
    records: countEvmRecords(match),
    transactionHashes: transactionHashesOf(match),
  });

  /** With the most bytes that a webhook of it can have. */
  const toNewMatch = (chain: string, block: EvmBlock, match: Match) => {
    const { head, tail } = toWebhookParts(chain, block, match, spamLists[chain]);
    const { record } = match.stream;
    const enrich = enrichOf(chain);
    // Planned first: what is known by heart goes into the body here.
    const enrichment = enrich.plan(record.options, tail);
    const body = splitBody(head, tail);
    const newMatch: NewMatch = {
      streamId: record.id,
      tag: record.tag,
      part: 0,
      parts: 1,
      deliver: record.deliver,
      ...countsOf(match),
      enrichment,
      setAside: null,
      about: describeWebhook({ ...head, ...tail }),
      ...body,
    };
    const growth = enrichment === null ? 0 : enrich.mostGrowth(record.options, tail);
    return { newMatch, mostBytes: bodyBytes(body) + growth };
  };

  const single = (chain: string, index: StreamIndex): SingleMatcher => {
    const matchOf = (block: EvmBlock): Match | undefined =>
      matchBlock(index, chain, block, spamLists[chain])[0];
    return {
      needs: index.needs(chain),
      match(block) {
        const match = matchOf(block);
        return match === undefined ? [] : toNewMatches(chain, block, match);
      },
      async toWebhook(block) {
        const match = matchOf(block);
        if (match === undefined) return undefined;
        const { head, tail } = toWebhookParts(chain, block, match, spamLists[chain]);
        await enrichOf(chain).complete(block, match.stream.record.options, tail);
        return { ...head, ...tail };
      },
      findNearMisses: (block) => findNearMisses(index, chain, block, spamLists[chain]),
      countSeenEvents: (block) => countSeenEvents(index, chain, block),
    };
  };

  const index = createStreamIndex();
  const refresh = followRules(index, store);

  return {
    live: {
      refresh,
      needs: (chain): BlockNeeds => index.needs(chain),
      match: (chain, block) =>
        matchBlock(index, chain, block, spamLists[chain]).flatMap((match) =>
          toNewMatches(chain, block, match),
        ),
      async explain(chain, block, { transactions }) {
        await refresh();
        return explainBlock(index, chain, block, { spam: spamLists[chain], transactions });
      },
    },

    async open(chain, streamId) {
      const record = await store.readStream(streamId);
      if (record?.family !== 'evm') return undefined;
      const own = createStreamIndex();
      // A job or a request may name a chain the stream does not watch by itself.
      own.put({ ...record, chainIds: [chain] });
      await loadAddresses(own, store, streamId);
      return single(chain, own);
    },

    try(chain, record, addresses) {
      const own = createStreamIndex();
      own.put(record);
      own.addAddresses(record.id, packAddresses(addresses).bytes);
      return single(chain, own);
    },
  };
}

/** A record that is a match by itself, for people. */
function nameOf({ logs: [log], transactions: [transaction], internalTransactions }: Match): string {
  if (log !== undefined) return `log ${log.logIndex}`;
  return transaction === undefined
    ? `internal transaction ${internalTransactions[0]?.index}`
    : 'the record';
}
