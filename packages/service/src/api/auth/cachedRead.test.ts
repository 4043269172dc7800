import { expect, test } from 'vitest';
import { createCachedRead } from './cachedRead.ts';

/** Creates a cache whose reads wait until the test completes them. */
function createSlow() {
  const reads: PromiseWithResolvers<string>[] = [];
  const fresh = createCachedRead(() => {
    const read = Promise.withResolvers<string>();
    reads.push(read);
    return read.promise;
  });
  return { fresh, reads };
}

test('concurrent callers share one read, and its value is cached', async () => {
  const { fresh, reads } = createSlow();
  const asked = [fresh.read(), fresh.read()];
  reads[0]!.resolve('found');
  expect(await Promise.all(asked)).toEqual(['found', 'found']);
  expect(await fresh.read()).toBe('found');
  expect(reads).toHaveLength(1);
});

test('a value that was being read during a change is not returned to later callers', async () => {
  const { fresh, reads } = createSlow();
  const before = fresh.read();
  fresh.forget();
  const after = fresh.read();
  reads[1]!.resolve('new');
  expect(await after).toBe('new');
  reads[0]!.resolve('old');
  expect(await before).toBe('old');
  expect(await fresh.read()).toBe('new');
});

test('a failed read is repeated', async () => {
  const { fresh, reads } = createSlow();
  const failed = fresh.read();
  reads[0]!.reject(new Error('away'));
  await expect(failed).rejects.toThrow('away');
  const again = fresh.read();
  reads[1]!.resolve('back');
  expect(await again).toBe('back');
});
