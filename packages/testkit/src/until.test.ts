import { expect, test } from 'vitest';
import { until } from './until.ts';

test('the first answer that is one is what it resolves with; 0, null and nothing at all are answers', async () => {
  const answers = [undefined, false, 'there'] as const;
  let asked = 0;
  expect(await until('it', () => answers[asked++])).toBe('there');
  expect(asked).toBe(3);
  for (const answer of [0, null, '']) expect(await until('it', () => answer)).toBe(answer);
});

test('what does not come is named; what fails fails at once', async () => {
  await expect(until('the moon', () => false, 60)).rejects.toThrow('the moon: not within 60 ms');
  await expect(until('it', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
});
