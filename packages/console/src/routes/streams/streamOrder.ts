/** Sorts the list of streams. */
import type { FleetStream } from '../../data/fleet.ts';
import type { StreamsSearch } from '../../data/search.ts';
import { nameOfStream } from '../../words/names.ts';

const MINUTE_MS = 60_000;

type Compare = (a: FleetStream, b: FleetStream) => number;

const byName: Compare = (a, b) =>
  nameOfStream(a.stream).localeCompare(nameOfStream(b.stream), 'en', {
    numeric: true,
    sensitivity: 'base',
  });

/**
 * Returns the minute of the last delivery. Without rounding, busy streams would move under the
 * pointer.
 */
const lastMinuteOf = ({ stream }: FleetStream): number =>
  Math.floor((stream.lastDeliveryAt ?? 0) / MINUTE_MS);

const COMPARES: Record<NonNullable<StreamsSearch['sort']>, Compare> = {
  last: (a, b) => lastMinuteOf(b) - lastMinuteOf(a) || byName(a, b),
  name: byName,
  failures: (a, b) => b.stream.failedAttempts24h - a.stream.failedAttempts24h || byName(a, b),
};

/** Returns whether a stream fails to deliver or one of its chains is down. */
export const hasProblem = ({ isFailing, down }: FleetStream): boolean =>
  isFailing || down.length > 0;

const byProblem: Compare = (a, b) => Number(hasProblem(b)) - Number(hasProblem(a));

/**
 * @param sort undefined puts streams with a problem first, and keeps the given order otherwise, which
 *   is newest stream first.
 */
export const sortStreams = (
  rows: readonly FleetStream[],
  sort: StreamsSearch['sort'],
): readonly FleetStream[] => rows.toSorted(sort === undefined ? byProblem : COMPARES[sort]);
