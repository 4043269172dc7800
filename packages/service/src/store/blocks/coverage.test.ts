import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCoverage, withoutLater } from './coverage.ts';

const nothing = { holes: [], backfilled: [], unverified: [], searched: [] };
const paused = (from: number, to: number) => ({ from, to, reason: 'paused' as const });

describe('the coverage of a stream', () => {
  test('is empty before its chain is read', () => {
    expect(toCoverage({ live: undefined, ...nothing })).toEqual({
      from: null,
      to: null,
      holes: [],
      unverified: [],
      byRange: [],
    });
    expect(toCoverage({ live: { from: 11, to: 10 }, ...nothing }).from).toBeNull();
  });

  test('is complete if nothing was skipped', () => {
    expect(toCoverage({ live: { from: 10, to: 99 }, ...nothing })).toEqual({
      from: 10,
      to: 99,
      holes: [],
      unverified: [],
      byRange: [],
    });
  });

  test('lists skipped blocks, except for backfilled ones', () => {
    expect(
      toCoverage({
        live: { from: 10, to: 99 },
        holes: [paused(20, 29), { from: 50, to: 59, reason: 'resumed' }],
        backfilled: [
          { from: 20, to: 24 },
          { from: 55, to: 70 },
        ],
        unverified: [],
        searched: [],
      }),
    ).toEqual({
      from: 10,
      to: 99,
      holes: [
        { from: 25, to: 29, reason: 'paused' },
        { from: 50, to: 54, reason: 'resumed' },
      ],
      unverified: [],
      byRange: [],
    });
  });

  test('starts at the oldest backfill, with the blocks in between as a hole', () => {
    expect(
      toCoverage({
        ...nothing,
        live: { from: 100, to: 200 },
        backfilled: [{ from: 10, to: 20 }],
      }),
    ).toMatchObject({ from: 10, to: 200, holes: [{ from: 21, to: 99, reason: 'before' }] });
  });

  test('without late children is a hole where blocks were matched before they were found', () => {
    const late = (from: number, to: number) => ({ from, to, reason: 'children' as const });
    const holes = [
      { ...late(5, 50), at: 20 },
      { ...paused(30, 31), at: 10 },
    ];
    const backfills = [
      { from: 0, to: 9, at: 10 },
      { from: 40, to: 60, at: 30 },
    ];
    expect(withoutLater({ from: 25, to: 99 }, holes, backfills)).toEqual({
      holes: [paused(30, 31), late(5, 9), late(25, 29), late(32, 50)],
      backfilled: [
        { from: 0, to: 4 },
        { from: 40, to: 60 },
      ],
    });
    const all = { ...nothing, live: { from: 25, to: 50 }, holes: [late(25, 50)] };
    expect(toCoverage(all)).toMatchObject({ from: 25, to: 50, holes: [late(25, 50)] });
  });

  test('has a hole where deliveries of live blocks, or of a backfill before, were missed', () => {
    const unread = { from: 5, to: 20, reason: 'unread' as const };
    const coverageAt = (at: number) => {
      const live = { from: 10, to: 20 };
      const backfills = [{ from: 0, to: 9, at: 10 }];
      const { holes, backfilled } = withoutLater(live, [{ ...unread, at }], backfills);
      return toCoverage({ ...nothing, live, holes, backfilled });
    };
    expect(coverageAt(11)).toMatchObject({ from: 0, to: 20, holes: [unread] });
    expect(coverageAt(10)).toMatchObject({ from: 0, to: 20, holes: [{ ...unread, from: 10 }] });
    const all = { ...nothing, live: { from: 5, to: 20 }, holes: [unread] };
    expect(toCoverage(all)).toMatchObject({ from: 5, to: 20, holes: [unread] });
    // Blocks before the coverage, on a chain that was removed and added again.
    const again = { from: 15, to: 20 };
    expect(withoutLater(again, [{ ...unread, at: 1 }], []).holes).toEqual([
      { ...unread, from: 15 },
    ]);
  });

  test('property: each block is either in a hole or was evaluated, and evaluated ones show how they were verified', () => {
    const range = fc
      .tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 40 }))
      .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
    const has = (ranges: readonly { from: number; to: number }[], block: number): boolean =>
      ranges.some(({ from, to }) => from <= block && block <= to);
    fc.assert(
      fc.property(
        fc.option(fc.record({ from: fc.nat({ max: 40 }), to: fc.nat({ max: 40 }) }), {
          nil: undefined,
        }),
        fc.array(
          range.map((it) => paused(it.from, it.to)),
          { maxLength: 5 },
        ),
        fc.array(range, { maxLength: 5 }),
        fc.array(
          range.map((it) => ({ ...it, codes: ['receipts'] })),
          { maxLength: 5 },
        ),
        fc.array(
          fc
            .tuple(range, fc.constantFrom('stream', null))
            .map(([it, streamId]) => ({ ...it, streamId })),
          { maxLength: 5 },
        ),
        (live, holes, backfilled, unverified, searched) => {
          const coverage = toCoverage({ live, holes, backfilled, unverified, searched });
          const ofStream = searched.filter(({ streamId }) => streamId !== null);
          const ofChain = searched.filter(({ streamId }) => streamId === null);
          for (let block = 0; block <= 40; block++) {
            const passed = live !== undefined && has([live], block) && !has(holes, block);
            const evaluated = has(backfilled, block) || passed;
            const within =
              coverage.from !== null && coverage.from <= block && block <= coverage.to!;
            expect(within && !has(coverage.holes, block)).toBe(evaluated);
            expect(has(coverage.unverified, block)).toBe(evaluated && has(unverified, block));
            const wasRead =
              (passed && !has(ofChain, block)) || (has(backfilled, block) && !has(ofStream, block));
            expect(has(coverage.byRange, block)).toBe(evaluated && !wasRead);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
