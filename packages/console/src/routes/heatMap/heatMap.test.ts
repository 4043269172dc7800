import type { ResponseTimes } from '@sluice/kit/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type HeatCursor, type HeatInput, moveCursor, NO_CURSOR, rangeOf } from './cursor.ts';
import { cellAt, columnSpan, HEAT_HEIGHT, rowSpan } from './geometry.ts';
import {
  attemptsIn,
  FAILURES,
  type HeatRange,
  leastOf,
  LEVELS,
  levelOf,
  rangeOfCell,
  toHeatMap,
  toHeatSearch,
} from './heatMap.ts';
import { nameOfRows } from './words.ts';

const FROM = Date.UTC(2026, 10, 30, 10);
const MINUTE_MS = 60_000;

const times: ResponseTimes = {
  stepMinutes: 5,
  from: FROM,
  points: 6,
  isPartial: true,
  p50Ms: 12,
  p95Ms: 12,
  rows: [
    { result: 'succeeded', fromMs: 0, toMs: 1, attempts: [1, 0, 0, 0, 0, 0] },
    { result: 'succeeded', fromMs: 11, toMs: 15, attempts: [0, 4, 5, 0, 0, 0] },
    { result: 'succeeded', fromMs: 15_001, toMs: null, attempts: [0, 0, 0, 0, 0, 7] },
    { result: '5xx', fromMs: 0, toMs: null, attempts: [0, 0, 0, 100, 0, 0] },
    { result: 'none', fromMs: 0, toMs: null, attempts: [0, 0, 0, 0, 1, 0] },
  ],
};

const map = toHeatMap(times, 100);
const lastRow = map.rows.length - 1;
const rowOf = (result: string, fromMs = 0): number =>
  map.rows.findIndex((row) => row.result === result && row.fromMs === fromMs);

describe('a heat map', () => {
  test('has every row and no attempt is lost, however few columns there are', () => {
    const all = times.rows.flatMap(({ attempts }) => attempts).reduce((sum, n) => sum + n, 0);
    for (const most of [1, 2, 4, 6, 100]) {
      const narrow = toHeatMap(times, most);
      expect(narrow.columns).toBeLessThanOrEqual(most);
      expect(narrow.rows).toHaveLength(FAILURES.length + 26);
      const everything: HeatRange = { columns: [0, narrow.columns - 1], rows: [0, lastRow] };
      expect(attemptsIn(narrow, everything)).toBe(all);
    }
    expect(map).toMatchObject({ columns: 6, stepMs: 5 * MINUTE_MS, max: 100 });
    expect(toHeatMap(times, 3)).toMatchObject({ columns: 3, stepMs: 10 * MINUTE_MS });
  });

  test('lists the slowest successes first, below the failures', () => {
    expect(map.rows[0]).toMatchObject({ result: 'none' });
    expect(map.rows[FAILURES.length]).toMatchObject({ fromMs: 15_001, toMs: null });
    expect(map.rows.at(-1)).toMatchObject({ fromMs: 0, toMs: 1 });
    const successes = map.rows.slice(FAILURES.length);
    expect(successes.slice(0, -1).map(({ fromMs }) => fromMs)).toEqual(
      successes.slice(1).map(({ toMs }) => (toMs ?? 0) + 1),
    );
  });

  test('property: each count has a color, from its own lowest count on', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 1, max: 1e6 }), (a, b) => {
        const [n, max] = [Math.min(a, b), Math.max(a, b)];
        const level = levelOf(n, max);
        expect(n).toBeGreaterThanOrEqual(leastOf(level, max));
        if (level < LEVELS) expect(n).toBeLessThan(leastOf(level + 1, max));
        expect(levelOf(max, max)).toBe(LEVELS);
      }),
    );
    expect(levelOf(0, 5)).toBe(0);
  });

  test('finds the deliveries of a part by time, result and duration', () => {
    const [slow, fast] = [rowOf('succeeded', 15_001), rowOf('succeeded', 11)];
    expect(toHeatSearch(map, { columns: [1, 2], rows: [fast, fast] })).toEqual({
      triedFrom: FROM + 5 * MINUTE_MS,
      triedUntil: FROM + 15 * MINUTE_MS - 1,
      result: 'succeeded',
      tookFrom: 11,
      tookUntil: 15,
    });
    expect(toHeatSearch(map, { columns: [0, 5], rows: [slow, fast] })).toEqual({
      triedFrom: FROM,
      triedUntil: FROM + 30 * MINUTE_MS - 1,
      result: 'succeeded',
      tookFrom: 11,
    });
    expect(toHeatSearch(map, rangeOfCell({ column: 3, row: rowOf('5xx') }))).toEqual({
      triedFrom: FROM + 15 * MINUTE_MS,
      triedUntil: FROM + 20 * MINUTE_MS - 1,
      result: '5xx',
    });
  });

  test('names its rows', () => {
    const [slow, fast] = [rowOf('succeeded', 15_001), rowOf('succeeded', 11)];
    expect(nameOfRows(map, [fast, fast])).toBe('11 ms to 15 ms');
    expect(nameOfRows(map, [slow, slow])).toBe('over 15 s');
    expect(nameOfRows(map, [fast, lastRow])).toBe('up to 15 ms');
    expect(nameOfRows(map, [rowOf('timeout'), rowOf('timeout')])).toBe('failed: timeout');
  });

  test('property: the pointer finds the cell in the middle of its picture', () => {
    fc.assert(
      fc.property(fc.nat({ max: 5 }), fc.nat({ max: lastRow }), (column, row) => {
        const { x, width } = columnSpan(map, [column, column], 600);
        const { y, height } = rowSpan(map, [row, row]);
        expect(height).toBeGreaterThan(2);
        expect(y + height).toBeLessThanOrEqual(HEAT_HEIGHT);
        expect(cellAt(map, x + width / 2, y + height / 2, 600)).toEqual({ column, row });
      }),
    );
  });
});

const follow = (...inputs: HeatInput[]): HeatCursor =>
  inputs.reduce((cursor, input) => moveCursor(cursor, input, map), NO_CURSOR);
const step = (columns: number, rows: number, extend = false): HeatInput => ({
  type: 'step',
  columns,
  rows,
  extends: extend,
});

describe('the cursor of a heat map', () => {
  test('starts at the newest column and the fastest row with attempts', () => {
    expect(follow(step(-1, 0)).cell).toEqual({ column: 5, row: lastRow });
    expect(follow(step(-1, 0), step(-1, -2)).cell).toEqual({ column: 4, row: lastRow - 2 });
  });

  test('selects with the pointer and with Shift, and stays among failures or successes', () => {
    const success = { column: 1, row: rowOf('succeeded', 11) };
    const failure = { column: 3, row: rowOf('5xx') };
    const dragged = follow({ type: 'press', cell: success }, { type: 'hover', cell: failure });
    expect(rangeOf(dragged)).toEqual({ columns: [1, 3], rows: [FAILURES.length, success.row] });
    const failed = follow({ type: 'press', cell: failure }, { type: 'hover', cell: success });
    expect(rangeOf(failed)).toEqual({ columns: [1, 3], rows: [failure.row, failure.row] });
    const typed = follow({ type: 'hover', cell: success }, step(1, 0, true), step(1, -100, true));
    expect(rangeOf(typed)).toEqual({ columns: [1, 3], rows: [FAILURES.length, success.row] });
    expect(rangeOf(moveCursor(typed, step(-1, 0), map))).toEqual({
      columns: [2, 2],
      rows: [FAILURES.length, FAILURES.length],
    });
  });

  test('property: it never leaves the map', () => {
    const inputs = fc.array(
      fc.tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -40, max: 40 }), fc.boolean()),
    );
    fc.assert(
      fc.property(inputs, (moves) => {
        const { cell } = follow(step(0, 0), ...moves.map((move) => step(...move)));
        expect(map.rows[cell!.row]?.counts[cell!.column]).toBeDefined();
      }),
    );
  });
});
