/** A match whose body would be too large for one webhook, as several matches (architecture.md 6.11). */
import type { Match } from './match.ts';

/**
 * Parts the records of a match so that each part weighs at most `limit`. The records of one
 * transaction stay together, in their order; one that weighs more by itself is a part by itself.
 *
 * @param weigh the size of a match's body, in any unit that adds up
 */
export function splitMatch(match: Match, limit: number, weigh: (part: Match) => number): Match[] {
  const parts: Match[] = [];
  let part: Match | undefined;
  let weight = 0;
  for (const transaction of byTransaction(match)) {
    const own = weigh(transaction);
    if (part !== undefined && weight + own <= limit) {
      // One by one: more arguments than some hundred thousand are more than the stack holds.
      for (const log of transaction.logs) part.logs.push(log);
      for (const each of transaction.transactions) part.transactions.push(each);
      for (const call of transaction.internalTransactions) part.internalTransactions.push(call);
      weight += own;
    } else {
      part = transaction;
      weight = own;
      parts.push(part);
    }
  }
  return parts;
}

/**
 * At least so many bytes the body of a match has. It is told without building the body, which for a
 * huge block would take as much memory again.
 */
export const leastBytes = ({ logs, transactions, internalTransactions }: Match): number =>
  logs.reduce((sum, log) => sum + LOG_BYTES + log.data.length, 0) +
  transactions.reduce((sum, each) => sum + TRANSACTION_BYTES + each.input.length, 0) +
  internalTransactions.length * CALL_BYTES;

/** Of a record's keys, hashes and addresses as JSON. */
const LOG_BYTES = 200;
const TRANSACTION_BYTES = 350;
const CALL_BYTES = 150;

/** One match for each transaction that has records in this one, in the order of transactions. */
function byTransaction({ stream, logs, transactions, internalTransactions }: Match): Match[] {
  const found = new Map<number, Match>();
  const at = (index: number): Match => {
    let part = found.get(index);
    if (part === undefined) {
      part = { stream, logs: [], transactions: [], internalTransactions: [] };
      found.set(index, part);
    }
    return part;
  };
  for (const log of logs) at(log.transactionIndex).logs.push(log);
  for (const each of transactions) at(each.transactionIndex).transactions.push(each);
  for (const call of internalTransactions) {
    at(call.transactionIndex).internalTransactions.push(call);
  }
  return [...found].toSorted(([a], [b]) => a - b).map(([, part]) => part);
}
