/** A match whose body would be too large for one webhook, as several matches (architecture.md 6.11). */

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
