/** Matches blocks of Aptos networks. */
import {
  type AptosDryRunResult,
  type ObservedMovePath,
  findAptosNetwork,
} from '@sluice/kit/contract';
import type { AptosEnrich } from '../enrich/enrich.ts';
import type { AptosBlock } from '../match/block.ts';
import { explainAptosBlock, isExplained } from '../match/explain.ts';
import { explainAptosTransaction } from '../match/explainTransaction.ts';
import { type AptosMatch, matchAptosBlock, splitAptosMatch } from '../match/match.ts';
import { countObservedPaths } from '../match/observed.ts';
import { type AptosSelection, createAptosIndex } from '../match/streamIndex.ts';
import { type AptosBodyTail, toAptosWebhookParts } from '../match/webhook.ts';
import { countAptosRecords } from '../match/recordCounts.ts';
import type { Store } from '../../../store/store.ts';
import type { AptosStreamRecord } from '../../../store/streams/contract.ts';
import { type MatchFamily, type Matching, createMatching } from '../../../chains/matching.ts';

export type AptosMatching = Matching<AptosStreamRecord, AptosBlock, AptosDryRunResult>;

export const createAptosMatching = (needs: {
  store: Store;
  enrichOf(chain: string): AptosEnrich;
  maxWebhookBytes: number;
}): AptosMatching => createMatching(APTOS, needs) as AptosMatching;

const APTOS: MatchFamily<
  'aptos',
  AptosSelection,
  AptosBlock,
  AptosMatch,
  AptosBodyTail,
  { observed: ObservedMovePath[] }
> = {
  name: 'aptos',
  createIndex: createAptosIndex,
  // Nodes return complete transactions, so a block is read completely or not at all.
  needs(index, chain) {
    const isNeeded = index.matching(chain).length > 0;
    return { logs: isNeeded, transactions: isNeeded, traces: false };
  },
  match: matchAptosBlock,
  explain(index, chain, block, only) {
    const isLimited = only.transactions !== undefined || only.version !== undefined;
    const [first, ...others] = block.transactions.filter((each) => isExplained(each, only));
    const isSingle = isLimited && first !== undefined && others.length === 0;
    return {
      transaction: isSingle ? explainAptosTransaction(first) : undefined,
      streams: explainAptosBlock(index, chain, block, only),
    };
  },
  inspect: (index, chain, block) => ({ observed: countObservedPaths(index, chain, block) }),
  toParts: (chain, block, match) => toAptosWebhookParts(findAptosNetwork(chain)!, block, match),
  countRecords: (match) => ({
    logs: match.transactions.reduce(
      (sum, { transaction }) =>
        sum + (match.stream.record.options.includeEvents ? transaction.events.length : 0),
      0,
    ),
    transactions: match.transactions.filter(({ isContinued }) => !isContinued).length,
    internalTransactions: 0,
    records: countAptosRecords(match),
    transactionHashes: match.transactions.map(({ transaction }) => transaction.hash),
  }),
  minBytes: () => 0,
  split: splitAptosMatch,
  withoutRecords: (match) => ({ ...match, transactions: [] }),
  nameOf: ({ transactions: [only] }) => `${only?.record} of transaction ${only?.transaction.hash}`,
};
