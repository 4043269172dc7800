/**
 * `npm run -s house`: prints the structure of the product. Exits with 1 if the structure exceeds a
 * limit, or contains an import cycle or a misplaced file, or if the code paths in
 * docs/architecture.md are outdated.
 */
import { measure } from './figures.ts';
import { LIMITS, findExcesses } from './limits.ts';
import { measureExecuted, readBlockPath, readRowPath } from './paths.ts';

const SHOWN = 5;

const [figures, executed] = await Promise.all([measure(), measureExecuted()]);
const paths = { block: readBlockPath(), row: readRowPath() };
const largest = (sizes: readonly { name: string; size: number }[]): string =>
  sizes
    .slice(0, SHOWN)
    .map(({ name, size }) => `\n  ${String(size).padStart(5)}  ${name}`)
    .join('');
const inOrder = (names: readonly string[]): string =>
  names.map((name) => `\n         ${name}`).join('');

process.stdout.write(`files      ${figures.files}
lines      ${figures.lines}
cycles     ${figures.cycles.length}, those of types included${inOrder(figures.cycles)}
side by side, at most ${LIMITS.filesOfFolder}${largest(figures.folders)}
lines of a file, at most ${LIMITS.linesOfFile}${largest(figures.lengths)}
lines of a function, at most ${LIMITS.linesOfFunction}${largest(figures.functions)}
a block to its POST: ${paths.block.length} files, at most ${LIMITS.blockPath}${inOrder(paths.block)}
  executed for one warm block: ${executed.block.length} files, at most ${LIMITS.executed}
a ledger's row to the screen: ${paths.row.length} files, at most ${LIMITS.rowPath}${inOrder(paths.row)}
`);
const excesses = findExcesses(figures, paths, executed);
for (const excess of excesses) process.stderr.write(`house: ${excess}\n`);
process.exitCode = excesses.length > 0 ? 1 : 0;
