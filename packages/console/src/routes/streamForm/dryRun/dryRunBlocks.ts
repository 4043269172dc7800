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

/**
 * The newest ones, also where few are known: the service has just begun, or passes over what nobody watches.
 * @param known newest first.
 */
export function firstBlocks(known: Known): DryRunBlock[] {
  const [newest] = known;
  return newest === undefined ? [] : blocksDown(newest.number, FIRST_BLOCKS, known);
}

/** With those before them, up to {@link MOST_BLOCKS} in all and down to block 0. */
export function withOlderBlocks(blocks: readonly DryRunBlock[], known: Known): DryRunBlock[] {
  const oldest = blocks.at(-1)?.number ?? 0;
  return [...blocks, ...blocksDown(oldest - 1, olderBlocks(blocks), known)];
}

/** How many {@link withOlderBlocks} would add. */
export const olderBlocks = (blocks: readonly DryRunBlock[]): number =>
  Math.max(0, Math.min(MOST_BLOCKS - blocks.length, blocks.at(-1)?.number ?? 0));

/** So many from this one on, as far as there are as many. */
function blocksDown(newest: number, count: number, known: Known): DryRunBlock[] {
  const times = new Map(known.map(({ number, timestamp }) => [number, timestamp]));
  return Array.from({ length: Math.min(count, newest + 1) }, (_, n) => ({
    number: newest - n,
    timestamp: times.get(newest - n) ?? null,
    records: null,
    bodyBytes: 0,
  }));
}
