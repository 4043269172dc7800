import { describe, expect, test } from 'vitest';
import { createReadAhead } from './readAhead.ts';

/** Creates reads that the test completes manually. */
function manualFetch(sizeBytes = 1) {
  const begun = new Map<number, PromiseWithResolvers<number | undefined>>();
  const fetch = (number: number) => {
    const one = Promise.withResolvers<number | undefined>();
    begun.set(number, one);
    return one.promise;
  };
  return { begun, fetch, sizeOf: () => sizeBytes };
}
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('reading ahead', () => {
  test('starts few reads, and more while the consumer waits, up to the limit', async () => {
    const { begun, fetch, sizeOf } = manualFetch();
    const ahead = createReadAhead(fetch, sizeOf, { maxBlocks: 10, maxBytes: 1_000 });
    ahead.want(1, 500);
    expect(begun.size).toBe(4);
    for (let number = 1; number <= 50; number++) {
      ahead.want(number, 500);
      const reading = ahead.take(number);
      begun.get(number)!.resolve(number);
      expect(await reading).toBe(number);
    }
    ahead.want(51, 500);
    expect([...begun.keys()].at(-1)).toBe(60);
  });

  test('reads no block beyond the requested range, and none twice', async () => {
    const { begun, fetch, sizeOf } = manualFetch();
    const ahead = createReadAhead(fetch, sizeOf, { maxBlocks: 10, maxBytes: 1_000 });
    ahead.want(1, 2);
    ahead.want(1, 2);
    expect([...begun.keys()]).toEqual([1, 2]);
  });

  test('holds no more bytes than allowed, but always one block', async () => {
    const { begun, fetch, sizeOf } = manualFetch(400);
    const ahead = createReadAhead(fetch, sizeOf, { maxBlocks: 64, maxBytes: 1_000 });
    ahead.want(1, 1);
    begun.get(1)!.resolve(1);
    await settle();
    ahead.want(1, 500);
    expect([...begun.keys()]).toEqual([1, 2]);
    await ahead.take(1);
    begun.get(2)!.resolve(2);
    await settle();
    ahead.want(2, 500);
    expect([...begun.keys()]).toEqual([1, 2, 3]);

    const huge = manualFetch(5_000);
    const one = createReadAhead(huge.fetch, huge.sizeOf, { maxBlocks: 64, maxBytes: 1_000 });
    for (const number of [1, 2, 3]) {
      one.want(number, number);
      huge.begun.get(number)!.resolve(number);
      expect(await one.take(number)).toBe(number);
    }
  });

  test('returns nothing for a failed read, and reads less ahead afterwards', async () => {
    const { begun, fetch, sizeOf } = manualFetch();
    const ahead = createReadAhead(fetch, sizeOf, { maxBlocks: 10, maxBytes: 1_000 });
    ahead.want(1, 500);
    begun.get(1)!.reject(new Error('gone'));
    expect(await ahead.take(1)).toBe(undefined);
    ahead.clear();
    begun.clear();
    ahead.want(10, 500);
    expect(begun.size).toBeLessThan(4);
    expect(await ahead.take(499)).toBe(undefined);
  });
});
