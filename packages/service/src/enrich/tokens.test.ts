import { expect, test } from 'vitest';
import { createTokens } from './tokens.ts';

const TOKEN = '0xaa';

function open() {
  const asked: number[] = [];
  const tokens = createTokens({
    chain: '0x1',
    store: { readTokens: () => Promise.resolve([]), saveTokens: () => Promise.resolve() },
    ask(block) {
      asked.push(block.number);
      return Promise.resolve([]);
    },
    cacheBytes: 1_000_000,
  });
  const at = (number: number) => ({ number, hash: `0x${number}` });
  const read = async (number: number) => [...(await tokens.read(at(number), new Set([TOKEN])))];
  return { asked, read, giveUp: (number: number) => tokens.giveUp(at(number), [TOKEN]) };
}

test('a refused token is skipped while the chain advances, however many blocks it has', async () => {
  const { asked, read, giveUp } = open();
  await read(100);
  giveUp(100);
  for (let number = 110; number <= 1_000; number += 30) {
    expect(await read(number)).toHaveLength(1);
  }
  expect(asked).toEqual([100]);
});

test('a refused token is read again at a distant block', async () => {
  const { asked, read, giveUp } = open();
  giveUp(100);
  expect(await read(5_000)).toEqual([]);
  expect(asked).toEqual([5_000]);
});
