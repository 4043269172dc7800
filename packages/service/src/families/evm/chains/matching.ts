/** Matches blocks of EVM chains. */
import type { EvmDryRunResult, CloseMatch, ObservedEvent, WebhookRead } from '@sluice/kit/contract';
import type { EvmEnrich } from '../enrich/enrich.ts';
import type { BodyTail } from '../enrich/records.ts';
import type { EvmBlock } from '../match/block.ts';
import { explainBlock } from '../match/explain.ts';
import { explainTransaction } from '../match/explainTransaction.ts';
import {
  type Match,
  matchBlock,
  matchReads,
  transactionHashesOf,
  searchOf,
  needsOf,
  factoryKeysOf,
  createStreamIndex,
} from '../match/match.ts';
import { addressesOf, findChildren, hasFactories } from '../match/children.ts';
import { findPastChildren, planFactorySearch } from '../match/pastChildren.ts';
import { findCloseMatches } from '../match/closeMatches.ts';
import type { Rules } from '../match/rules.ts';
import { minBytes, splitMatch, toWebhookParts } from '../match/webhook.ts';
import { takesReads } from '../match/reads.ts';
import { countObservedEvents } from '../match/observed.ts';
import { countEvmRecords } from '../match/recordCounts.ts';
import type { Store } from '../../../store/store.ts';
import type { EvmStreamRecord } from '../../../store/streams/contract.ts';
import { type MatchFamily, type Matching, createMatching } from '../../../chains/matching.ts';

/** Addresses of possible spam contracts by chain, in lowercase. */
export type SpamLists = Readonly<Record<string, ReadonlySet<string>>>;

export type EvmMatching = Matching<EvmStreamRecord, EvmBlock, EvmDryRunResult, WebhookRead>;

export const createEvmMatching = ({
  spamLists,
  omitRecentFields,
  ...needs
}: {
  store: Store;
  enrichOf(chain: string): EvmEnrich;
  spamLists: SpamLists;
  /** Whether webhooks omit the fields that hosted bodies have since 2025. */
  omitRecentFields: boolean;
  maxWebhookBytes: number;
}): EvmMatching => createMatching(evmFamily(spamLists, omitRecentFields), needs) as EvmMatching;

const evmFamily = (
  spamLists: SpamLists,
  omitRecentFields: boolean,
): MatchFamily<
  'evm',
  Rules,
  EvmBlock,
  Match,
  BodyTail,
  { closeMatches: CloseMatch[]; observed: ObservedEvent[] },
  WebhookRead
> => ({
  name: 'evm',
  createIndex: createStreamIndex,
  needs: needsOf,
  search: (index, chain, addressesOf) => searchOf(index, chain, addressesOf, spamLists[chain]),
  match: (index, chain, block) => matchBlock(index, chain, block, spamLists[chain]),
  children: {
    exist: hasFactories,
    find: findChildren,
    factoriesOf: factoryKeysOf,
    addressesOf,
    search: planFactorySearch,
    findPast: findPastChildren,
  },
  values: {
    isRead: ({ options }) => takesReads(options),
    toBlock: (header) => ({ ...header, logs: [], transactions: [], internalTransactions: [] }),
    toMatch: matchReads,
  },
  explain(index, chain, block, { transactions }) {
    const [hash, ...others] = transactions ?? [];
    const isSingle = hash !== undefined && others.length === 0;
    return {
      transaction: isSingle ? explainTransaction(index, chain, block, hash) : undefined,
      streams: explainBlock(index, chain, block, { spam: spamLists[chain], transactions }),
    };
  },
  inspect: (index, chain, block) => ({
    closeMatches: findCloseMatches(index, chain, block, spamLists[chain]),
    observed: countObservedEvents(index, chain, block),
  }),
  toParts: (chain, block, match) =>
    toWebhookParts(chain, block, match, { spam: spamLists[chain], omitRecentFields }),
  countRecords: (match) => ({
    logs: match.logs.length,
    transactions: match.transactions.length,
    internalTransactions: match.internalTransactions.length,
    records: countEvmRecords(match),
    transactionHashes: transactionHashesOf(match),
  }),
  minBytes,
  split: splitMatch,
  withoutRecords: (match) => ({
    ...match,
    logs: [],
    transactions: [],
    internalTransactions: [],
    calls: [],
    reads: [],
  }),
  nameOf(match) {
    const {
      logs: [log],
      transactions: [transaction],
      internalTransactions: [internal],
      calls: [call],
      reads: [read],
    } = match;
    if (read !== undefined)
      return `value ${read.function ?? 'balance'} of ${read.contract ?? read.of}`;
    const [hash = ''] = transactionHashesOf(match);
    if (log !== undefined) return `log ${log.logIndex} of transaction ${hash}`;
    if (internal !== undefined) {
      return `internal transaction ${internal.index} of transaction ${hash}`;
    }
    return call === undefined || transaction !== undefined
      ? `the record of transaction ${hash}`
      : `call [${call.traceAddress.join(', ')}] of transaction ${hash}`;
  },
});
