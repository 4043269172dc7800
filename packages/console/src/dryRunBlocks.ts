/** Which blocks a dry run asks for, newest first. Pure. */
import type { ChainBlock } from '@sluice/kit/sluice';

/** At first; more would take a node longer than one waits. */
export const FIRST_BLOCKS = 24;
/** In all, for who looks further back: an hour of Ethereum. */
const MOST_BLOCKS = 300;

export interface DryRunBlock {
  number: number;
  /** Unix milliseconds; null while it is not known. */
  timestamp: number | null;
  /** Null while it was not asked. */
  records: number | null;
  /** Of the webhook; 0 where nothing matched. */
  bodyBytes: number;
}

type Known = readonly Pick<ChainBlock, 'number' | 'timestamp'>[];

/** @param known newest first. */
export const firstBlocks = (known: Known): DryRunBlock[] =>
  known.slice(0, FIRST_BLOCKS).map(({ number, timestamp }) => unasked(number, timestamp));

/** With those before them, up to {@link MOST_BLOCKS} in all and down to block 0. */
export function withOlderBlocks(blocks: readonly DryRunBlock[], known: Known): DryRunBlock[] {
  const times = new Map(known.map(({ number, timestamp }) => [number, timestamp]));
  const oldest = blocks.at(-1)?.number ?? 0;
  const more = olderBlocks(blocks);
  const numbers = Array.from({ length: more }, (_, n) => oldest - 1 - n);
  return [...blocks, ...numbers.map((number) => unasked(number, times.get(number) ?? null))];
}

/** How many {@link withOlderBlocks} would add. */
export const olderBlocks = (blocks: readonly DryRunBlock[]): number =>
  Math.max(0, Math.min(MOST_BLOCKS - blocks.length, blocks.at(-1)?.number ?? 0));

const unasked = (number: number, timestamp: number | null): DryRunBlock => ({
  ...{ number, timestamp, records: null, bodyBytes: 0 },
});
