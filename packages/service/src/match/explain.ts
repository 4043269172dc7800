/**
 * Why the records of a block concern each stream, or do not: the matcher's own words, put in order. What
 * is taken is what the matcher takes, and no other reading of the rules. Pure.
 */
import type { ExplainReason, ExplainedRecord } from '@sluice/kit/contract';
import type { Tell } from './reasons.ts';

/**
 * By stream, the records that it was asked of and those that it takes, in the order they were heard of.
 * Streams that none of them concerns are left out.
 *
 * @param match matches the block, and tells of each record; answers with what each stream takes
 * @param describe undefined for a record that is not asked about
 */
export function explainRecords<Stream extends { record: { id: string } }, Item>(
  match: (
    tellOf: (stream: Stream, item: Item) => Tell,
  ) => readonly (readonly [Stream, Iterable<Item>])[],
  describe: (
    item: Item,
    stream: Stream,
    verdict: { isTaken: boolean; reasons: ExplainReason[] },
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
      // Two of its addresses may be watched: the second has nothing new to say.
      if (!reasons.some(({ stage, what }) => stage === reason.stage && what === reason.what)) {
        reasons.push(reason);
      }
    };
  });
  const taken = new Map(matches.map(([stream, items]) => [stream, new Set(items)]));
  for (const [stream, items] of taken) for (const item of items) reasonsOf(stream, item);

  const explained = new Map<string, ExplainedRecord[]>();
  for (const [stream, items] of heard) {
    const its = [...items].flatMap(([item, reasons]) => {
      const isTaken = taken.get(stream)?.has(item) ?? false;
      return describe(item, stream, { isTaken, reasons }) ?? [];
    });
    if (its.length > 0) explained.set(stream.record.id, its);
  }
  return explained;
}
