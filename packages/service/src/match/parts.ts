/** A match whose body would be too large for one webhook, as several matches (architecture.md 6.11). */
import type { EvmInternalTransaction, EvmLog, EvmTransaction } from './block.ts';
import type { Match } from './match.ts';
import { countBatch } from './transfers.ts';

/** How a match of one family is divided. `Part` is a match with some of the records. */
interface Division<Part> {
  /** Without records. */
  empty: Part;
  /** One for each transaction, in order. */
  transactions: readonly Part[];
  /** The records of one transaction, one by one, in order. */
  toRecords(transaction: Part): Part[];
  /** Adds records that follow. */
  join(part: Part, more: Part): void;
  /** Bytes of the webhook, at most. */
  weigh(part: Part): number;
}

/** A part, and what a webhook of it would weigh where that is more than the limit. */
export interface WeighedPart<Part> {
  part: Part;
  tooLarge: number | undefined;
}

/** Commas between what was joined: a record of one body stands in no more lists than this. */
const SEPARATORS = 16;

/**
 * Parts whose webhooks weigh at most `limit`. The records of a transaction stay together; a transaction
 * that exceeds the limit by itself is divided between its records. A record that exceeds it by itself
 * is a part by itself, and marked.
 */
export function divide<Part>(
  { empty, transactions, toRecords, join, weigh }: Division<Part>,
  limit: number,
): WeighedPart<Part>[] {
  const parts: WeighedPart<Part>[] = [];
  const base = weigh(empty);
  let open: { part: Part; weight: number } | undefined;
  const add = (part: Part, weight: number): void => {
    const more = weight - base + SEPARATORS;
    if (weight > limit) {
      parts.push({ part, tooLarge: weight });
      open = undefined;
    } else if (open !== undefined && open.weight + more <= limit) {
      join(open.part, part);
      open.weight += more;
    } else {
      parts.push({ part, tooLarge: undefined });
      open = { part, weight };
    }
  };
  for (const transaction of transactions) {
    const weight = weigh(transaction);
    if (weight <= limit) add(transaction, weight);
    else for (const record of toRecords(transaction)) add(record, weigh(record));
  }
  return parts;
}

/** Why a record is set aside, for people. */
export const tooLargeReason = (record: string, bytes: number, limit: number): string =>
  `${record} makes a webhook of at least ${bytes} bytes, more than the ${limit} of --max-webhook-bytes: it is not sent`;

/** @param weigh bytes of the webhook of a match */
export const splitMatch = (
  match: Match,
  limit: number,
  weigh: (part: Match) => number,
): WeighedPart<Match>[] =>
  divide(
    {
      empty: partOf(match, {}),
      transactions: byTransaction(match),
      toRecords: (transaction) => [
        ...transaction.transactions.map((each) => partOf(match, { transactions: [each] })),
        ...transaction.logs.map((each) => partOf(match, { logs: [each] })),
        ...transaction.internalTransactions.map((each) =>
          partOf(match, { internalTransactions: [each] }),
        ),
      ],
      // One by one: more arguments than some hundred thousand are more than the stack holds.
      join(part, more) {
        for (const log of more.logs) part.logs.push(log);
        for (const each of more.transactions) part.transactions.push(each);
        for (const call of more.internalTransactions) part.internalTransactions.push(call);
      },
      weigh,
    },
    limit,
  );

/**
 * At least so many bytes the body of a match has. It is told without building the body, which for a
 * huge block would take as much memory again.
 */
export const leastBytes = ({ logs, transactions, internalTransactions }: Match): number =>
  logs.reduce(
    (sum, log) => sum + LOG_BYTES + log.data.length + countBatch(log) * TRANSFER_BYTES,
    0,
  ) +
  transactions.reduce((sum, each) => sum + TRANSACTION_BYTES + each.input.length, 0) +
  internalTransactions.length * CALL_BYTES;

/** Of a record's keys, hashes and addresses as JSON. */
const LOG_BYTES = 200;
const TRANSFER_BYTES = 400;
const TRANSACTION_BYTES = 350;
const CALL_BYTES = 150;

const partOf = (
  { stream }: Match,
  {
    logs = [],
    transactions = [],
    internalTransactions = [],
  }: {
    logs?: EvmLog[];
    transactions?: EvmTransaction[];
    internalTransactions?: EvmInternalTransaction[];
  },
): Match => ({ stream, logs, transactions, internalTransactions });

/** One match for each transaction that has records in this one, in the order of transactions. */
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
  return [...found].toSorted(([a], [b]) => a - b).map(([, part]) => part);
}
