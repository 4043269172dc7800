/** The model of a heat map: attempts by time, and by result and response time. */
import {
  ATTEMPT_RESULTS,
  type AttemptResult,
  DURATION_BOUNDS_MS,
  type ResponseTimes,
} from '@sluice/kit/contract';

const MINUTE_MS = 60_000;

/** Numbers of steps that one column may cover. */
const FACTORS = [1, 2, 3, 4, 6, 8, 12, 24];

export interface HeatRow {
  result: AttemptResult;
  /** Shortest and longest duration, both included, in milliseconds; null for no upper bound. */
  fromMs: number;
  toMs: number | null;
  /** Number of attempts in each column, oldest first. */
  counts: readonly number[];
}

export interface HeatMap {
  /** Start of the first column, in Unix milliseconds. */
  from: number;
  /** Length of a column in milliseconds. */
  stepMs: number;
  columns: number;
  /** From the top: failures by result, then successes, slowest first. All rows are present. */
  rows: readonly HeatRow[];
  /** The highest count. */
  max: number;
}

/** Results of failures, from the top. */
export const FAILURES = ATTEMPT_RESULTS.filter((result) => result !== 'succeeded').toReversed();

/** A column and a row of the map. */
export interface HeatCell {
  column: number;
  row: number;
}

/** A part of the map; all ends are inclusive. */
export interface HeatRange {
  columns: readonly [from: number, to: number];
  /** Indexes of rows, from the top. */
  rows: readonly [from: number, to: number];
}

/** Returns the map, of which several steps form one column if there were more than `most`. */
export function toHeatMap(times: ResponseTimes, most: number): HeatMap {
  const factor = FACTORS.find((each) => times.points / each <= most) ?? FACTORS.at(-1)!;
  const columns = Math.ceil(times.points / factor);
  const countsOf = (result: AttemptResult, fromMs: number): number[] => {
    const row = times.rows.find((each) => each.result === result && each.fromMs === fromMs);
    return Array.from({ length: columns }, (_, column) =>
      (row?.attempts.slice(column * factor, (column + 1) * factor) ?? []).reduce(
        (sum, n) => sum + n,
        0,
      ),
    );
  };
  const successes = [0, ...DURATION_BOUNDS_MS].map((bound, index): HeatRow => {
    const fromMs = index === 0 ? 0 : bound + 1;
    return {
      result: 'succeeded',
      fromMs,
      toMs: DURATION_BOUNDS_MS[index] ?? null,
      counts: countsOf('succeeded', fromMs),
    };
  });
  const rows = [
    ...FAILURES.map((result): HeatRow => ({
      result,
      fromMs: 0,
      toMs: null,
      counts: countsOf(result, 0),
    })),
    ...successes.toReversed(),
  ];
  return {
    from: times.from,
    stepMs: times.stepMinutes * MINUTE_MS * factor,
    columns,
    rows,
    max: Math.max(0, ...rows.flatMap(({ counts }) => counts)),
  };
}

/** Number of colors of the scale. */
export const LEVELS = 5;

/** Returns the color of a count, from 1 for a single attempt to `LEVELS`; 0 for none. */
export const levelOf = (n: number, max: number): number =>
  n === 0
    ? 0
    : Array.from({ length: LEVELS }, (_, at) => at + 1).findLast(
        (level) => n >= leastOf(level, max),
      )!;

/** Returns the lowest count of a color. The scale is logarithmic. */
export const leastOf = (level: number, max: number): number =>
  Math.ceil(max ** ((level - 1) / LEVELS));

/** Returns the number of attempts in a part of the map. */
export function attemptsIn({ rows }: HeatMap, range: HeatRange): number {
  const [first, last] = range.rows;
  const [from, to] = range.columns;
  return rows
    .slice(first, last + 1)
    .flatMap(({ counts }) => counts.slice(from, to + 1))
    .reduce((sum, n) => sum + n, 0);
}

export const rangeOfCell = ({ column, row }: HeatCell): HeatRange => ({
  columns: [column, column],
  rows: [row, row],
});

/** Returns the start and the end of columns, both included, in Unix milliseconds. */
export const periodOf = (
  { from, stepMs }: HeatMap,
  [first, last]: HeatRange['columns'],
): { from: number; until: number } => ({
  from: from + first * stepMs,
  until: from + (last + 1) * stepMs - 1,
});

/** The search of the deliveries with the attempts of a part of the map. */
export interface HeatSearch {
  triedFrom: number;
  triedUntil: number;
  result: AttemptResult;
  tookFrom?: number;
  tookUntil?: number;
}

export function toHeatSearch(map: HeatMap, range: HeatRange): HeatSearch {
  const { from: triedFrom, until: triedUntil } = periodOf(map, range.columns);
  const [slowest, fastest] = range.rows.map((row) => map.rows[row]!);
  const { result } = fastest!;
  const period = { triedFrom, triedUntil, result };
  if (result !== 'succeeded') return period;
  return {
    ...period,
    tookFrom: fastest!.fromMs,
    ...(slowest!.toMs !== null && { tookUntil: slowest!.toMs }),
  };
}
