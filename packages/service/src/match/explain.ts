/**
 * Explains why each record of a block matches a stream or does not, with the matcher's own reasons.
 */
import type { ExplainReason, ExplainedRecord, ExplainedTransaction } from '@sluice/kit/contract';
import type { AddReason } from './reasons.ts';

/**
 * Returns the explained records by stream id, in the order in which the matcher checked them.
 * Records that matched without a check come last. Streams without explained records are omitted.
 *
 * @param match matches the block and reports the reasons for each record; returns the matched
 * records by stream
 * @param describe explains one record; returns undefined to omit it
 */
export function explainRecords<Stream extends { record: { id: string } }, Item>(
  match: (
    addReasonOf: (stream: Stream, item: Item) => AddReason,
  ) => readonly (readonly [Stream, Iterable<Item>])[],
  describe: (
    item: Item,
    stream: Stream,
    verdict: { isIncluded: boolean; reasons: ExplainReason[] },
  ) => ExplainedRecord | undefined,
): Map<string, ExplainedRecord[]> {
  const heard = new Map<Stream, Map<Item, ExplainReason[]>>();
  const reasonsOf = (stream: Stream, item: Item): ExplainReason[] => {
    const items = heard.get(stream) ?? new Map<Item, ExplainReason[]>();
    const reasons = items.get(item) ?? [];
    heard.set(stream, items.set(item, reasons));
    return reasons;
  };
  const matches = match((stream, item) => {
    const reasons = reasonsOf(stream, item);
    return (reason) => {
      // Several watched addresses of a record may lead to the same reason, which is listed once.
      if (
        !reasons.some(({ stage, message }) => stage === reason.stage && message === reason.message)
      ) {
        reasons.push(reason);
      }
    };
  });
  const taken = new Map(matches.map(([stream, items]) => [stream, new Set(items)]));
  for (const [stream, items] of taken) for (const item of items) reasonsOf(stream, item);

  const explained = new Map<string, ExplainedRecord[]>();
  for (const [stream, items] of heard) {
    const its = [...items].flatMap(([item, reasons]) => {
      const isIncluded = taken.get(stream)?.has(item) ?? false;
      return describe(item, stream, { isIncluded, reasons }) ?? [];
    });
    if (its.length > 0) explained.set(stream.record.id, its);
  }
  return explained;
}

/** Maximum number of addresses to list for a transaction. */
const LISTED = 100;

/**
 * Counts the addresses of a transaction, and lists up to {@link LISTED} of them.
 * @param found names and addresses; empty and repeated addresses are omitted
 */
export function listAddresses(
  found: Iterable<[name: string, address: string | null]>,
): Pick<ExplainedTransaction, 'addressCount' | 'addresses'> {
  const names = new Map<string, string>();
  for (const [name, address] of found) {
    if (address !== null && address !== '' && !names.has(address)) names.set(address, name);
  }
  const addresses = [...names].slice(0, LISTED).map(([address, name]) => ({ name, address }));
  return { addressCount: names.size, addresses };
}
