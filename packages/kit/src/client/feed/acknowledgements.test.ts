import { expect, it } from 'vitest';
import { createAcknowledgements } from './acknowledgements.ts';

/** Creates acknowledgements whose batches end when the test wants it. */
function createTested() {
  const sent: (readonly number[])[] = [];
  const ends: (() => void)[] = [];
  const send = (positions: readonly number[]) => {
    sent.push(positions);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const acknowledgements = createAcknowledgements(send, new AbortController().signal, () => {});
  const addMany = (from: number, to: number, leaseEndsAt = Infinity) =>
    Array.from({ length: to - from + 1 }, (_, n) => acknowledgements.add(from + n, leaseEndsAt));
  return { sent, ends, addMany, acknowledgements };
}

it('an acknowledgement is sent at once if the lease ends soon', () => {
  const { sent, addMany } = createTested();
  void addMany(1, 2, performance.now() + 1_000);
  expect(sent).toEqual([]);
  void addMany(3, 3, performance.now() + 100);
  expect(sent).toEqual([[1, 2, 3]]);
});

it('a batch of 500 is sent at once, and the next one after it', async () => {
  const { sent, ends, addMany } = createTested();
  void addMany(1, 499);
  expect(sent).toEqual([]);
  await Promise.all(addMany(500, 999));
  expect(sent.map((each) => each.length)).toEqual([500]);
  ends[0]?.();
  await expect.poll(() => sent.map((each) => each.length)).toEqual([500, 499]);
});

it('the acknowledgement after 1,000 unsent ones waits for a batch', async () => {
  const { ends, addMany } = createTested();
  await Promise.all(addMany(1, 999));
  let isAdded = false;
  const adding = Promise.all(addMany(1_000, 1_000)).then(() => (isAdded = true));
  await new Promise((resolve) => setTimeout(resolve));
  expect(isAdded).toBe(false);
  ends[0]?.();
  await adding;
});
