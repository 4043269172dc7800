/**
 * Explains why the records of a block match each stream or not, with the matcher's own reasons.
 * Pure.
 */
import type { ExplainReason, ExplainedRecord } from '@sluice/kit/contract';
import type { AddReason } from './reasons.ts';

/**
 * Returns the checked and the matched records by stream, in the order of their checks. Streams
 * without checked records are omitted.
 *
 * @param match matches the block and reports on each record; returns the match of each stream
 * @param describe returns undefined for a record that needs no explanation
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
      // Skips repeated reasons, because several addresses of a record may be watched.
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
