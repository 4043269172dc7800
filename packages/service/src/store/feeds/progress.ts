/**
 * The progress of a consumer: its position, the positions after it that are acknowledged, and those
 * that are leased.
 */
import type { Selectable } from 'kysely';
import type { Tables } from '../tables/tables.ts';
import { type Range, addRanges, gapsIn } from './ranges.ts';

/**
 * Maximum number of positions from the first unacknowledged one to the last leased one, so that the
 * row of a consumer stays small.
 */
export const MAX_AHEAD = 10_000;

/** Positions that were returned together, and when they are returned again. */
export interface Lease {
  until: number;
  ranges: readonly Range[];
}

export interface Progress {
  /** The last position before the first unacknowledged one. */
  position: number;
  acked: readonly Range[];
  leases: readonly Lease[];
}

export const toProgress = (
  row: Pick<Selectable<Tables['feed_consumer']>, 'position' | 'acked' | 'leases'>,
): Progress => ({
  position: row.position,
  acked: JSON.parse(row.acked) as Range[],
  leases: JSON.parse(row.leases) as Lease[],
});

/** Returns the progress of a consumer that has acknowledged everything up to a position. */
export const startAfter = (position: number): Progress => ({ position, acked: [], leases: [] });

export const sizeOf = (ranges: readonly Range[]): number =>
  ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);

/** Returns the leased positions. */
export const leasedIn = ({ leases }: Pick<Progress, 'leases'>): Range[] =>
  addRanges(
    [],
    leases.flatMap(({ ranges }) => ranges),
  );

/** Returns the number of positions up to `head` that are neither acknowledged nor leased. */
export const countUnread = (progress: Progress, head: number): number =>
  Math.max(0, head - progress.position - sizeOf(progress.acked) - sizeOf(leasedIn(progress)));

/** Returns the last position that the consumer may get before it acknowledges more. */
export const lastAllowed = ({ position }: Pick<Progress, 'position'>): number =>
  position + MAX_AHEAD;

/** Returns the positions up to `head` that may be leased next, in order. */
export const freeIn = (progress: Progress, head: number): Range[] =>
  gapsIn(
    [progress.position + 1, Math.min(head, lastAllowed(progress))],
    addRanges(progress.acked, leasedIn(progress)),
  );

/** Ends the leases that are over. */
export const endLeases = (progress: Progress, now: number): Progress => ({
  ...progress,
  leases: progress.leases.filter(({ until }) => until > now),
});

/** Marks positions as acknowledged. */
export function acknowledge(
  { position, acked, leases }: Progress,
  more: readonly Range[],
): Progress {
  const all = addRanges([[0, position], ...acked], more);
  const [[, reached], ...later] = all as [Range, ...Range[]];
  return {
    position: reached,
    acked: later,
    leases: withoutPositions(leases, all),
  };
}

/** Ends the lease of some of the positions that were returned together, until `until`. */
export const release = (
  progress: Progress,
  until: number,
  positions: readonly Range[],
): Progress => {
  const [theirs, others] = [
    progress.leases.filter((lease) => lease.until === until),
    progress.leases.filter((lease) => lease.until !== until),
  ];
  return { ...progress, leases: [...others, ...withoutPositions(theirs, positions)] };
};

const withoutPositions = (leases: readonly Lease[], positions: readonly Range[]): Lease[] =>
  leases
    .map(({ until, ranges }) => ({
      until,
      ranges: ranges.flatMap((range) => gapsIn(range, positions)),
    }))
    .filter(({ ranges }) => ranges.length > 0);
