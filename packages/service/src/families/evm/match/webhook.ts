/** Converts a match to an `EvmWebhook` body, with the keys in wire order. */
import type {
  EvmWebhook,
  NativeTransfer,
  WebhookCaller,
  WebhookProofs,
  WebhookRead,
} from '@sluice/kit/contract';
import type {
  BlockProofs,
  EvmBlock,
  EvmCall,
  EvmInternalTransaction,
  EvmLog,
  EvmTransaction,
} from './block.ts';
import { toWebhookCall, toWebhookCaller } from './callBody.ts';
import { takesCalls } from './callSelection.ts';
import type { Match } from './match.ts';
import { toMatched } from './matched.ts';
import {
  toTransactionFee,
  toWebhookInternalTransaction,
  toWebhookLog,
  toWebhookTransaction,
} from './selection.ts';
import { decodeTransfers, countBatch } from './transfers.ts';
import { triggersOfLog, triggersOfTransaction } from './triggeredBy.ts';
import { type WeighedPart, splitIntoParts } from '../../../match/parts.ts';

/** The body without `confirmed` and `retries`, split where `retries` is inserted. */
export interface WebhookParts {
  head: Pick<EvmWebhook, 'chainId' | 'abi' | 'streamId' | 'tag'>;
  tail: Omit<EvmWebhook, 'confirmed' | 'chainId' | 'abi' | 'streamId' | 'tag' | 'retries'>;
}

interface BodyOptions {
  /** Contracts whose records are marked `possibleSpam`. */
  spam?: ReadonlySet<string> | undefined;
  /** Whether to omit the fields that hosted bodies have since 2025. */
  omitRecentFields?: boolean | undefined;
}

export function toWebhookParts(
  chain: string,
  block: EvmBlock,
  match: Match,
  { spam = new Set(), omitRecentFields = false }: BodyOptions = {},
): WebhookParts {
  const { record } = match.stream;
  const callerOf = record.options.includeCaller ? findCallers(block, match) : undefined;
  const triggersOf = omitRecentFields
    ? undefined
    : (log: EvmLog) => triggersOfLog(chain, log, match.watched);
  return {
    head: {
      chainId: chain,
      abi: record.options.abi ?? [],
      streamId: record.id,
      tag: record.tag,
    },
    tail: {
      block: {
        number: String(block.number),
        hash: block.hash,
        timestamp: String(block.timestamp),
      },
      logs: match.logs.map((each) => {
        const log = toWebhookLog(each);
        if (callerOf !== undefined) log.caller = callerOf(each);
        if (triggersOf !== undefined) log.triggered_by = triggersOf(each);
        return log;
      }),
      txs: match.transactions.map((each) => {
        const transaction = toWebhookTransaction(each);
        if (omitRecentFields) return transaction;
        transaction.transactionFee = toTransactionFee(each);
        transaction.triggered_by = triggersOfTransaction(chain, each, match.watched);
        return transaction;
      }),
      txsInternal: match.internalTransactions.map(toWebhookInternalTransaction),
      ...decodeTransfers(match.logs, {
        chain,
        spam,
        triggersOf,
        isReported: reportedPayments(match),
      }),
      nativeBalances: [],
      ...(takesCalls(record.options) && {
        calls: match.calls.map((call) => toWebhookCall(call, match.stream)),
      }),
      ...(match.reads.length > 0 && { reads: match.reads }),
      ...(record.options.includeProofs &&
        block.proofs && { proofs: toProofs(match, block.logs, block.proofs) }),
      ...(record.options.includeMatched && { matched: toMatched(chain, match, spam) }),
    },
  };
}

/** Returns a function that returns the caller of a log; null for a log without a transaction. */
function findCallers(
  { transactions }: EvmBlock,
  { stream }: Match,
): (log: EvmLog) => WebhookCaller | null {
  const byHash = new Map(transactions.map((each) => [each.hash, each]));
  return ({ transactionHash }) => {
    const transaction = byHash.get(transactionHash);
    return transaction === undefined ? null : toWebhookCaller(transaction, stream);
  };
}

/**
 * Returns a function that returns whether the body reports a native transfer without its log. With
 * `includeAllTxLogs`, logs of native transfers accompany other records, so none is a record of its
 * own.
 */
function reportedPayments({
  stream,
  transactions,
  internalTransactions,
}: Match): (log: EvmLog, transfer: NativeTransfer) => boolean {
  if (stream.record.options.includeAllTxLogs) return () => true;
  /** Number of payments of each transaction that have the same parties and value. */
  const payments = new Map<string, number>();
  const keyOf = (index: number, from: string, to: string | null, value: bigint): string =>
    `${index} ${from} ${to} ${value}`;
  const add = (index: number, from: string, to: string | null, value: string | null): void => {
    const key = keyOf(index, from, to, BigInt(value ?? 0));
    payments.set(key, (payments.get(key) ?? 0) + 1);
  };
  for (const { transactionIndex, from, to, value, receipt } of transactions) {
    add(transactionIndex, from, to ?? receipt.contractAddress, value);
  }
  for (const { transactionIndex, from, to, value } of internalTransactions) {
    add(transactionIndex, from, to, value);
  }
  return ({ transactionIndex }, { from, to, value }) => {
    const key = keyOf(transactionIndex, from, to, value);
    const left = payments.get(key) ?? 0;
    payments.set(key, left - 1);
    return left > 0;
  };
}

/**
 * Returns one proof for each transaction that matched, or has a matching log or call, in transaction
 * order.
 */
function toProofs(
  { logs, transactions, calls }: Match,
  all: readonly EvmLog[],
  { header, prove }: BlockProofs,
): WebhookProofs {
  let firstLogIndex = 0;
  const hashes = new Map([
    ...logs.map((log) => [log.transactionIndex, log.transactionHash] as const),
    ...transactions.map((each) => [each.transactionIndex, each.hash] as const),
    ...calls.map((call) => [call.transactionIndex, call.transactionHash] as const),
  ]);
  return {
    header,
    receipts: [...hashes]
      .toSorted(([a], [b]) => a - b)
      .map(([index, transactionHash]) => {
        // The logs of a proven block are numbered from 0.
        while ((all[firstLogIndex]?.transactionIndex ?? index) < index) firstLogIndex++;
        return {
          transactionHash,
          transactionIndex: String(index),
          firstLogIndex: String(firstLogIndex),
          nodes: prove(index),
        };
      }),
  };
}

/** @param weigh returns the maximum size of a match's webhook in bytes; see `splitIntoParts` */
export const splitMatch = (
  match: Match,
  limit: number,
  weigh: (part: Match) => number,
): WeighedPart<Match>[] =>
  splitIntoParts(
    {
      empty: partOf(match, {}),
      // Values belong to no transaction, so each is on its own.
      transactions: [
        ...byTransaction(match),
        ...match.reads.map((each) => partOf(match, { reads: [each] })),
      ],
      toRecords: (transaction) => [
        ...transaction.transactions.map((each) => partOf(match, { transactions: [each] })),
        ...transaction.logs.map((each) => partOf(match, { logs: [each] })),
        ...transaction.internalTransactions.map((each) =>
          partOf(match, { internalTransactions: [each] }),
        ),
        ...transaction.calls.map((each) => partOf(match, { calls: [each] })),
        ...transaction.reads.map((each) => partOf(match, { reads: [each] })),
      ],
      // Appends one by one, because spreading hundreds of thousands of arguments overflows the
      // stack.
      join(part, more) {
        for (const log of more.logs) part.logs.push(log);
        for (const each of more.transactions) part.transactions.push(each);
        for (const call of more.internalTransactions) part.internalTransactions.push(call);
        for (const call of more.calls) part.calls.push(call);
        for (const read of more.reads) part.reads.push(read);
      },
      weigh,
    },
    limit,
  );

/**
 * Returns a lower bound of the body's size without building the body, because building a huge one
 * would double the memory in use.
 */
export const minBytes = ({
  logs,
  transactions,
  internalTransactions,
  calls,
  reads,
}: Match): number =>
  logs.reduce(
    (sum, log) => sum + LOG_BYTES + log.data.length + countBatch(log) * TRANSFER_BYTES,
    0,
  ) +
  transactions.reduce((sum, each) => sum + TRANSACTION_BYTES + each.input.length, 0) +
  internalTransactions.length * INTERNAL_BYTES +
  calls.reduce((sum, { input }) => sum + CALL_BYTES + input.length, 0) +
  reads.length * READ_BYTES;

/** Minimum JSON size of a record of each kind, without its variable-length data. */
const LOG_BYTES = 200;
const TRANSFER_BYTES = 400;
const TRANSACTION_BYTES = 350;
const INTERNAL_BYTES = 150;
const CALL_BYTES = 300;
const READ_BYTES = 100;

const partOf = (
  { stream, watched }: Match,
  {
    logs = [],
    transactions = [],
    internalTransactions = [],
    calls = [],
    reads = [],
  }: {
    logs?: EvmLog[];
    transactions?: EvmTransaction[];
    internalTransactions?: EvmInternalTransaction[];
    calls?: EvmCall[];
    reads?: WebhookRead[];
  },
): Match => ({ stream, logs, transactions, internalTransactions, calls, reads, watched });

/** Splits a match by transaction, in transaction order. */
function byTransaction(match: Match): Match[] {
  const found = new Map<number, Match>();
  const at = (index: number): Match => {
    const part = found.get(index) ?? partOf(match, {});
    found.set(index, part);
    return part;
  };
  for (const log of match.logs) at(log.transactionIndex).logs.push(log);
  for (const each of match.transactions) at(each.transactionIndex).transactions.push(each);
  for (const call of match.internalTransactions) {
    at(call.transactionIndex).internalTransactions.push(call);
  }
  for (const call of match.calls) at(call.transactionIndex).calls.push(call);
  return [...found].toSorted(([a], [b]) => a - b).map(([, part]) => part);
}
