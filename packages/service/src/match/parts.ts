/** Splits a match that is too large for one webhook into several matches. */

/**
 * Describes how to split the matches of one chain family. `Part` is a match with some of its
 * records.
 */
interface Division<Part> {
  /** A part without records. */
  empty: Part;
  /** One part per transaction, in order. */
  transactions: readonly Part[];
  /** Returns one part per record of a transaction, in order. */
  toRecords(transaction: Part): Part[];
  /** Appends the records of `more` to `part`. */
  join(part: Part, more: Part): void;
  /**
   * Returns the maximum size of the part's webhook in bytes, or a lower bound if that already
   * exceeds the limit.
   */
  weigh(part: Part): number;
}

/** A part. If its webhook exceeds the limit, `tooLarge` is the result of `weigh`. */
export interface WeighedPart<Part> {
  part: Part;
  tooLarge: number | undefined;
}

/** Maximum number of commas that a joined record adds, one for each list that it may extend. */
const SEPARATORS = 16;

/**
 * Splits a match into parts whose webhooks have at most `limit` bytes. The records of a transaction
 * stay together unless they exceed the limit. A single record that exceeds it gets its own part,
 * with `tooLarge` set.
 */
export function splitIntoParts<Part>(
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

/** Returns the message that explains to the operator why a record is not sent. */
export const tooLargeReason = (
  record: string,
  bytes: number,
  limit: { bytes: number; setting: string },
): string =>
  `${record} needs a webhook of at least ${bytes} bytes, but ${limit.setting} is ${limit.bytes}: the record is not sent`;
