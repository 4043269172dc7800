/**
 * Checks that the table in docs/faults.md matches the fault tests, and that their mutations still
 * apply to the code.
 */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MUTATIONS, mutate } from '../faults/mutations.ts';

test('each row of the table has a test, and each test a row', () => {
  const rows = [...readFileSync('docs/faults.md', 'utf8').matchAll(/^\| (\d+) \|/gm)];
  const tests = globSync('test/faults/*.test.ts').flatMap((path) => [
    ...readFileSync(path, 'utf8').matchAll(/fault (\d+):/g),
  ]);
  const numbersOf = (matches: RegExpMatchArray[]): number[] =>
    [...new Set(matches.map((match) => Number(match[1])))].toSorted((a, b) => a - b);
  expect(numbersOf(rows)).toEqual(Array.from({ length: 26 }, (_, n) => n + 1));
  expect(numbersOf(tests)).toEqual(numbersOf(rows));
});

test('each mutation that the fault tests must detect still applies', () => {
  for (const mutation of MUTATIONS) {
    expect(() => mutate(readFileSync(mutation.file, 'utf8'), mutation)).not.toThrow();
  }
  expect(new Set(MUTATIONS.map(({ fault }) => fault)).size).toBe(26);
});
