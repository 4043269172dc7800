/** Limits of the product's structure (docs/decisions/0025-limits-of-the-house.md). */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Figures, ROOT, type Sized } from './figures.ts';
import type { Executed } from './paths.ts';

export const LIMITS = {
  filesOfFolder: 12,
  linesOfFile: 500,
  linesOfFunction: 150,
  blockPath: 12,
  rowPath: 10,
  executed: 91,
} as const;

/** Folders with one file per item, such as a command. `filesOfFolder` does not apply to them. */
const LISTS = ['packages/cli/src/commands'];
/** Files allowed directly in these `src` folders. All other files belong in subfolders. */
const STARTS: Record<string, readonly string[]> = {
  'packages/service/src': ['config.ts', 'index.ts', 'service.ts'],
  'packages/console/src': ['main.tsx', 'router.tsx'],
  'packages/cli/src': ['launch.ts', 'main.ts', 'program.ts', 'version.ts'],
};

export interface Paths {
  block: string[];
  row: string[];
}

/** Describes exceeded limits, import cycles, misplaced files and outdated documented paths. */
export function findExcesses(figures: Figures, paths: Paths, executed: Executed): string[] {
  const above = (sizes: readonly Sized[], limit: number, what: string): string[] =>
    sizes
      .filter(({ size }) => size > limit)
      .map(({ name, size }) => `${name} has ${size} ${what}; at most ${limit}`);
  const tooLong = (names: readonly string[], limit: number, what: string): string[] =>
    names.length > limit ? [`${what}: ${names.length} files; at most ${limit}`] : [];
  const { block, row } = paths;
  return [
    ...above(
      figures.folders.filter(({ name }) => !LISTS.includes(name)),
      LIMITS.filesOfFolder,
      'files side by side',
    ),
    ...above(figures.lengths, LIMITS.linesOfFile, 'lines'),
    ...above(figures.functions, LIMITS.linesOfFunction, 'lines'),
    ...figures.cycles.map((name) => `${name} is on a cycle of imports`),
    ...figures.lengths
      .filter(({ name }) => STARTS[path.dirname(name)]?.includes(path.basename(name)) === false)
      .map(({ name }) => `${name} does not start the program: it belongs in a folder`),
    ...tooLong(block, LIMITS.blockPath, 'a block to its POST'),
    ...tooLong(row, LIMITS.rowPath, "a ledger's row to the screen"),
    ...tooLong(executed.block, LIMITS.executed, 'executed for one warm block'),
    ...[...block, ...row]
      .filter((name) => !existsSync(path.join(ROOT, name)))
      .map((name) => `docs/architecture.md names ${name}, which does not exist`),
    ...block
      .filter((name) => !executed.block.includes(name))
      .map((name) => `docs/architecture.md names ${name}, which does not run for a block`),
    ...row
      // Files with table definitions contain only types, so they are never executed.
      .filter((name) => name.startsWith('packages/service/') && !name.endsWith('/tables.ts'))
      .filter((name) => !executed.page.includes(name))
      .map((name) => `docs/architecture.md names ${name}, which does not run for a page`),
  ];
}
