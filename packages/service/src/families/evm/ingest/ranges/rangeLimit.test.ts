import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRangeLimit } from './rangeLimit.ts';

type Hint = Parameters<ReturnType<typeof createRangeLimit>['refuse']>[1];

/**
 * Queries blocks until all were accepted, like a search that wants at most `wanted` blocks per
 * query. Returns the numbers of queries.
 */
function search(
  blocks: number,
  accepts: (size: number, at: number) => boolean,
  hintOf: (size: number) => Hint = () => undefined,
  wanted = 100_000,
) {
  const limit = createRangeLimit();
  let refused = 0;
  let accepted = 0;
  let size = 128;
  for (let at = 0; at < blocks;) {
    size = Math.min(wanted, limit.size === Number.POSITIVE_INFINITY ? size : limit.size);
    if (!(Number.isInteger(size) && size >= 1)) throw new Error(`${size} is not a size`);
    if (accepts(size, at)) {
      limit.accept(size);
      at += size;
      accepted++;
    } else {
      limit.refuse(size, hintOf(size));
      if (refused++ > 100_000) throw new Error('the search does not end');
    }
  }
  return { refused, accepted, limit };
}

const anyLimit = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 60_000 }));
const anyHint: fc.Arbitrary<(size: number, limit: number) => Hint> = fc.oneof(
  fc.constant(() => undefined),
  fc.constant((_: number, limit: number) => ({ limit })),
  fc.constant((_: number, limit: number) => ({ suggested: limit })),
  fc.constant((size: number) => ({ suggested: size - 1 })),
  fc.constant((size: number) => ({ limit: size - 1 })),
  fc.integer({ min: -5, max: 100_000 }).map((limit) => () => ({ limit })),
  fc.integer({ min: -5, max: 100_000 }).map((suggested) => () => ({ suggested })),
);

test('property: any limit is found with few refused queries, whatever the node suggests', () => {
  fc.assert(
    fc.property(anyLimit, anyHint, (limit, hint) => {
      const blocks = limit * 400;
      const { refused, accepted } = search(
        blocks,
        (size) => size <= limit,
        (size) => hint(size, limit),
      );
      expect(refused).toBeLessThanOrEqual(32);
      // Ends within an eighth of the limit, after a few smaller ranges.
      expect(accepted).toBeLessThanOrEqual(400 * 1.25 + 32);
    }),
    { numRuns: 500 },
  );
});

test('a limit that the node states correctly costs one refused query', () => {
  for (const limit of [1, 5, 50, 100]) {
    const blocks = limit * 20;
    const { refused } = search(
      blocks,
      (size) => size <= limit,
      () => ({ limit }),
    );
    expect(refused).toBe(1);
  }
});

test('property: all blocks are searched even if the limit depends on the blocks', () => {
  fc.assert(
    fc.property(fc.array(anyLimit, { minLength: 1, maxLength: 20 }), anyHint, (limits, hint) => {
      const part = 2_000;
      const limitAt = (at: number): number => limits[Math.floor(at / part)] ?? 1;
      const { refused, accepted } = search(
        part * limits.length,
        (size, at) => size <= limitAt(at),
        (size) => hint(size, 10),
      );
      expect(refused).toBeLessThan(40 * limits.length + accepted / 4);
    }),
  );
});

test('a raised limit is detected', () => {
  const { accepted, limit } = search(100_000, (size, at) => size <= (at < 5_000 ? 10 : 5_000));
  expect(limit.size).toBeGreaterThan(1_000);
  expect(accepted).toBeLessThan(2_000);
});

test('a size is known once the node has accepted it, until the node refuses it', () => {
  const limit = createRangeLimit();
  expect(limit.isKnown(1)).toBe(false);
  limit.accept(100);
  expect(limit.isKnown(100)).toBe(true);
  expect(limit.isKnown(101)).toBe(false);
  limit.refuse(80);
  expect(limit.isKnown(80)).toBe(false);
  expect(limit.size).toBe(40);
});
