import { expect, test } from 'vitest';
import { createTroubles } from './trouble.ts';

test('a trouble that does not strike does not hide a later one', () => {
  const troubles = createTroubles();
  troubles.add({ kind: 'rangeLimit', blocks: 100, times: 1 });
  troubles.add({ kind: 'rangeLimit', blocks: 2, times: 1 });
  const take = () =>
    troubles.take('rangeLimit', 'eth_getLogs', ({ blocks }) => blocks < 10)?.blocks;
  expect([take(), take()]).toEqual([2, undefined]);
  expect(troubles.take('rangeLimit', 'eth_getLogs')?.blocks).toBe(100);
});
