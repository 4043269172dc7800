/**
 * Tests that `npm run house` reports each exceeded limit, and that the paths through the code on
 * the architecture page are short and executed.
 */
import { expect, test } from 'vitest';
import type { Figures } from '../../scripts/house/figures.ts';
import { LIMITS, type Paths, findExcesses } from '../../scripts/house/limits.ts';
import {
  type Executed,
  measureExecuted,
  readBlockPath,
  readRowPath,
} from '../../scripts/house/paths.ts';

const FINE: Figures = {
  files: 1,
  lines: 1,
  folders: [
    { name: 'packages/cli/src/commands', size: LIMITS.filesOfFolder + 1 },
    { name: 'packages/service/src', size: LIMITS.filesOfFolder },
  ],
  lengths: [{ name: 'packages/service/src/service.ts', size: LIMITS.linesOfFile }],
  functions: [{ name: 'packages/service/src/service.ts:1', size: LIMITS.linesOfFunction }],
  cycles: [],
};
const PATH = ['packages/service/src/service.ts'];
const PATHS: Paths = { block: PATH, row: PATH };
const EXECUTED: Executed = { block: PATH, page: PATH };
const many = (count: number): string[] => Array.from({ length: count }, () => PATH[0]!);

const BROKEN: [string, Partial<Figures>, Partial<Paths>, Partial<Executed>, string][] = [
  ['a full folder', { folders: [{ name: 'a', size: 13 }] }, {}, {}, 'a has 13 files side by side'],
  ['a long file', { lengths: [{ name: 'a/b.ts', size: 501 }] }, {}, {}, 'a/b.ts has 501 lines'],
  ['a long function', { functions: [{ name: 'b.ts:1', size: 151 }] }, {}, {}, 'b.ts:1 has 151'],
  ['a cycle', { cycles: ['b.ts'] }, {}, {}, 'b.ts is on a cycle'],
  [
    'a file next to the folders',
    { lengths: [{ name: 'packages/service/src/more.ts', size: 1 }] },
    {},
    {},
    'more.ts does not start the program',
  ],
  ['a long path', {}, { block: many(13) }, {}, 'a block to its POST: 13 files'],
  ['a long path to the screen', {}, { row: many(11) }, {}, "a ledger's row to the screen: 11"],
  ['too many executed lines', {}, {}, { block: many(LIMITS.executed + 1) }, 'for one warm block'],
  ['a missing file', {}, { row: ['packages/cli/a.ts'] }, {}, 'which does not exist'],
  ['a file that does not run for a block', {}, {}, { block: [] }, 'which does not run for a block'],
  ['a file that does not run for a page', {}, {}, { page: [] }, 'which does not run for a page'],
];

test('reports nothing within the limits', () => {
  expect(findExcesses(FINE, PATHS, EXECUTED)).toEqual([]);
});

test.each(BROKEN)('reports %s', (_, figures, paths, executed, told) => {
  const excesses = findExcesses(
    { ...FINE, ...figures },
    { ...PATHS, ...paths },
    { ...EXECUTED, ...executed },
  );
  expect(excesses.join('\n')).toContain(told);
});

test('the paths on the architecture page are short and executed', async () => {
  const paths = { block: readBlockPath(), row: readRowPath() };
  expect(findExcesses(FINE, paths, await measureExecuted())).toEqual([]);
});
