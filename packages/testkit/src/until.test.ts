import { expect, test } from 'vitest';
import { until } from './until.ts';

test('until resolves with the first result other than undefined or false, even 0, null or an empty string', async () => {
  const answers = [undefined, false, 'there'] as const;
  let asked = 0;
  expect(await until('it', () => answers[asked++])).toBe('there');
  expect(asked).toBe(3);
  for (const answer of [0, null, '']) expect(await until('it', () => answer)).toBe(answer);
});

test('a timeout names the condition, and an error rejects immediately', async () => {
  await expect(until('the moon rises', () => false, 60)).rejects.toThrow(
    'timed out after 60 ms: the moon rises',
  );
  await expect(until('it', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
});
