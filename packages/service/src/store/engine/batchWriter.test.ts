import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createBatchWriter } from './batchWriter.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const AWAY = new Error('connection terminated');
const REFUSED = new Error('invalid input syntax');

interface Row {
  id: number;
  reason?: string;
}

/**
 * Creates a batch writer for a fake ledger, which rejects batches with certain rows and is
 * unavailable for certain writes. Records the batches and the delays.
 */
function createWorld({
  refuses = () => false,
  isAway = () => false,
  isDue,
}: {
  refuses?: (row: Row) => boolean;
  isAway?: (write: number, rows: readonly Row[]) => boolean;
  isDue?: (size: number) => boolean;
} = {}) {
  const written: Row[] = [];
  const sizes: number[] = [];
  const delays: number[] = [];
  const writer = createBatchWriter<Row>({
    async write(rows) {
      sizes.push(rows.length);
      if (isAway(sizes.length, rows)) throw AWAY;
      if (rows.some(refuses)) throw REFUSED;
      written.push(...rows);
    },
    toRefused: ({ id, reason }, error) =>
      reason === undefined ? { id, reason: (error as Error).message } : undefined,
    onDelay: (_, count) => delays.push(count),
    ...(isDue && { isDue }),
  });
  const add = (count: number): void => {
    for (let id = 0; id < count; id++) writer.add({ id });
  };
  return { writer, written, sizes, delays, add };
}

const isFirst =
  (...ids: number[]) =>
  ({ id, reason }: Row): boolean =>
    reason === undefined && ids.includes(id);

describe('a ledger that rejects a row', () => {
  test('receives halves until the row is isolated, then growing batches of the rest', async () => {
    const { writer, written, sizes, delays, add } = createWorld({ refuses: isFirst(0) });
    add(16);
    await writer.flush();
    expect(sizes).toEqual([16, 8, 4, 2, 1, 1, 2, 4, 8, 1]);
    expect(written.map(({ id }) => id)).toEqual([
      ...Array.from({ length: 15 }, (_, n) => n + 1),
      0,
    ]);
    expect(written.at(-1)).toEqual({ id: 0, reason: REFUSED.message });
    // A rejection is not an outage, so the writer does not wait.
    expect(delays).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('receives the rest of a batch at once, even if too few rows are left to be due', async () => {
    const { writer, sizes, add } = createWorld({
      refuses: isFirst(0),
      isDue: (size) => size >= 4,
    });
    add(4);
    await writer.flush();
    expect(sizes).toEqual([4, 2, 1, 1, 2, 1]);
  });

  test('loses a row only if it also rejects the substitute', async () => {
    const { writer, written, add } = createWorld({ refuses: ({ id }) => id === 2 });
    add(4);
    await writer.flush();
    expect(written).toEqual([{ id: 0 }, { id: 1 }, { id: 3 }]);
  });

  test('property: stores the other rows once, in order, and each rejected row with its reason', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 200 }),
        fc.uniqueArray(fc.nat({ max: 199 }), { maxLength: 8 }),
        async (count, bad) => {
          const { writer, written, sizes, add } = createWorld({ refuses: isFirst(...bad) });
          add(count);
          await writer.flush();
          const refused = bad.filter((id) => id < count).toSorted((a, b) => a - b);
          const ids = written.filter(({ reason }) => reason === undefined).map(({ id }) => id);
          expect(ids).toEqual([...Array(count).keys()].filter((id) => !bad.includes(id)));
          const set = written.filter(({ reason }) => reason !== undefined).map(({ id }) => id);
          expect(set.toSorted((a, b) => a - b)).toEqual(refused);
          // Isolating a rejected row takes a few halvings and doublings.
          expect(sizes.length).toBeLessThanOrEqual(
            4 + refused.length * (4 + 3 * Math.ceil(Math.log2(count + 1))),
          );
        },
      ),
    );
  });
});

describe('an unavailable ledger', () => {
  test('delays one or many rows without replacing or losing any', async () => {
    const { writer, written, sizes, delays, add } = createWorld({ isAway: (n) => n <= 4 });
    add(4);
    const flushed = writer.flush();
    await vi.advanceTimersByTimeAsync(999);
    expect(sizes).toEqual([4]);
    await vi.advanceTimersByTimeAsync(3_001);
    await flushed;
    expect(sizes).toEqual([4, 2, 1, 1, 1, 2, 1]);
    expect(delays).toEqual([4, 2, 1, 1]);
    expect(written.toSorted((a, b) => a.id - b.id)).toEqual([
      { id: 0 },
      { id: 1 },
      { id: 2 },
      { id: 3 },
    ]);
  });

  test('receives small batches if it fails on large ones', async () => {
    const { writer, written, add } = createWorld({ isAway: (_, rows) => rows.length > 4 });
    add(32);
    const flushed = writer.flush();
    await vi.advanceTimersByTimeAsync(60_000);
    await flushed;
    expect(written.map(({ id }) => id)).toEqual([...Array(32).keys()]);
  });
});

test('rows accumulate until due, then those of a turn are written together, one write at a time', async () => {
  let isDue = false;
  const { writer, sizes, add } = createWorld({
    isDue: () => isDue,
    // More rows arrive during the first write.
    isAway(write) {
      if (write === 1) add(4);
      return false;
    },
  });
  add(3);
  await writer.flush();
  expect(sizes).toEqual([]);
  isDue = true;
  const flushed = writer.flush();
  add(5);
  expect(writer.flush()).toBe(flushed);
  await flushed;
  expect(sizes).toEqual([8, 4]);
});
