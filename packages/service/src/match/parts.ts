/** Splits a match that is too large for one webhook into several matches. */

/** Splits the matches of one chain family. `Part` is a match with some of the records. */
interface Division<Part> {
  /** Creates a part without records. */
  empty: Part;
  /** Returns one part per transaction, in order. */
  transactions: readonly Part[];
  /** Returns one part per record of a transaction, in order. */
  toRecords(transaction: Part): Part[];
  /** Appends the records of another part. */
  join(part: Part, more: Part): void;
  /** Returns an upper bound of the webhook's size in bytes. */
  weigh(part: Part): number;
}

/** A part, with the size of its webhook if that exceeds the limit. */
export interface WeighedPart<Part> {
  part: Part;
  tooLarge: number | undefined;
}

/** Number of commas between joined records. A record is in at most this number of lists. */
const SEPARATORS = 16;

/**
 * Returns parts with webhooks of at most `limit` bytes. The records of a transaction stay together
 * unless they exceed the limit; a single record that exceeds it gets its own, marked part.
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

/** Describes why a record is set aside, for the operator. */
export const tooLargeReason = (record: string, bytes: number, limit: number): string =>
  `${record} needs a webhook of at least ${bytes} bytes, but --max-webhook-bytes is ${limit}: it is not sent`;
