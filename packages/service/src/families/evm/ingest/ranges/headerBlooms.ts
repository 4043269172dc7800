/**
 * Finds the blocks of a range that may have matching logs according to the bloom in their header.
 */
import type { BlockHeader, BlockRef } from '../../../../store/blocks/contract.ts';
import type { LogFilter } from '../../../../match/logSearch.ts';
import { toList } from '../../../../ingest/json.ts';
import { SourceError } from '../../../../ingest/source.ts';
import { bitsOf, bloomOf, covers, hasBit } from '../bloom.ts';
import { declaredBloom } from '../normalize.ts';
import type { Provider } from '../provider.ts';
import type { RangeLogs } from './rangeReading.ts';

/**
 * Reads the headers of the blocks from `from` to `anchor`. Adds the blocks whose bloom allows a
 * matching log to `hits`, without duplicates. Returns false if the blooms prove nothing: if one
 * does not cover the logs of its block, if all are empty despite transactions, or if the hash of a
 * block does not prove its header.
 *
 * @throws SourceError `inconsistent` if the headers do not lead to `anchor`
 */
export async function addByBloom(
  node: Provider,
  {
    from,
    anchor,
    blooms,
    read,
    hits,
  }: {
    from: number;
    anchor: BlockHeader;
    blooms: readonly BloomFilter[];
    read: Pick<RangeLogs, 'logs'>;
    hits: BlockRef[];
  },
): Promise<boolean> {
  const numbers = Array.from({ length: anchor.number - from + 1 }, (_, n) => from + n);
  const blocks = await Promise.all(
    numbers.map(async (number) => {
      const read = await node.readBodyAt(number, false);
      if (read === undefined) {
        throw new SourceError('missing', `${node.name}: block ${number} is missing`);
      }
      const { header, body } = read;
      return {
        header,
        bloom: declaredBloom(body),
        isHashed: read.proof?.result === 'passed',
        isEmpty: toList(body['transactions'], 'transactions').length === 0,
      };
    }),
  );
  const known = new Set(hits.map(({ number }) => number));
  let parent = anchor.hash;
  // Some chains leave all blooms empty, even those of blocks with logs.
  let isProven =
    blocks.every(({ isEmpty }) => isEmpty) || blocks.some(({ bloom }) => bloom?.some(Boolean));
  for (const { header, bloom, isHashed } of blocks.toReversed()) {
    if (header.hash !== parent) {
      throw new SourceError(
        'inconsistent',
        `${node.name}: block ${header.number} is ${header.hash}, but ${parent} leads to block ${anchor.number}`,
      );
    }
    parent = header.parentHash;
    const returned = read.logs.get(header.number)?.logs ?? [];
    if (bloom === undefined) {
      isProven = false;
      continue;
    }
    if (!isHashed || !covers(bloom, bloomOf(returned))) isProven = false;
    if (!known.has(header.number) && blooms.some((filter) => mayHold(bloom, filter))) {
      hits.push(header);
    }
  }
  return isProven;
}

/** Bits that each accepted value of an address or topic sets in a bloom. */
type BloomBits = readonly (readonly number[])[];
/**
 * One list per address or topic that the filter restricts. A bloom matches if all bits of at least
 * one value in each list are set.
 */
export type BloomFilter = readonly BloomBits[];

export const toBloomFilter = ({ address, topics }: LogFilter): BloomFilter =>
  [...topics, address].flatMap((values) => (values ? [values.map(bitsOf)] : []));

const mayHold = (bloom: Uint8Array, filter: BloomFilter): boolean =>
  filter.every((values) => values.some((bits) => bits.every((bit) => hasBit(bloom, bit))));
