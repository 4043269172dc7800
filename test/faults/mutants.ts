/**
 * `npm run -s mutants [-- FAULT…]` proves that the fault tests can fail. It makes each change in
 * `mutations.ts`, or only the changes for the given fault numbers, in a copy of the working tree,
 * and runs the tests of that fault. Exits with 1 if these tests pass or do not run, or if a change
 * no longer applies.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MUTATIONS, type Mutation, mutate } from './mutations.ts';

/**
 * Timeout for the invariants. Shorter than the default in `world.ts`: correct code meets the
 * invariants within seconds of a fault, and a mutant may wait for the complete timeout.
 */
const SETTLE_MS = 60_000;
const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Copies the working tree to a temporary folder, and returns its path. The copy's `node_modules`
 * links to the installed packages, but `@sluice` packages resolve to the copy.
 */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'sluice-mutants-'));
  const files = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--deduplicate'],
    { cwd: root, encoding: 'utf8' },
  ).split('\0');
  for (const file of files.filter((name) => name !== '')) {
    cpSync(join(root, file), join(copy, file), { recursive: true, force: true });
  }
  const modules = join(copy, 'node_modules');
  mkdirSync(join(modules, '@sluice'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@sluice' && name !== '.cache') {
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
  }
  for (const name of readdirSync(join(copy, 'packages'))) {
    symlinkSync(join(copy, 'packages', name), join(modules, '@sluice', name));
  }
  return copy;
}

interface Verdict {
  outcome: 'killed' | 'survived' | 'no test ran';
  seconds: number;
  /**
   * Start of the failure message, or end of the output if Vitest wrote no report; empty if no test
   * failed.
   */
  why: string;
}

function run(copy: string, { suite, tests }: Mutation): Verdict {
  const started = performance.now();
  const report = join(copy, 'mutant.json');
  rmSync(report, { force: true });
  const { stdout, stderr, error } = spawnSync(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      ...['run', '--project', 'faults', '--reporter', 'json', '--outputFile', report],
      ...[`test/faults/${suite}.test.ts`, '-t', tests],
    ],
    {
      cwd: copy,
      encoding: 'utf8',
      env: { ...process.env, FAULT_SETTLE_MS: String(SETTLE_MS) },
    },
  );
  if (error !== undefined) throw error;
  const seconds = Math.round((performance.now() - started) / 1000);
  let results: { status: string; failureMessages: string[] }[];
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      testResults: { assertionResults: typeof results }[];
    };
    results = testResults.flatMap(({ assertionResults }) => assertionResults);
  } catch {
    return { outcome: 'no test ran', seconds, why: (stderr || stdout).slice(-300) };
  }
  const failed = results.find(({ status }) => status === 'failed');
  if (failed !== undefined) {
    const why = failed.failureMessages.join('\n').split('\n').slice(0, 2).join(' ');
    return { outcome: 'killed', seconds, why: why.slice(0, 160) };
  }
  const ran = results.some(({ status }) => status === 'passed');
  return { outcome: ran ? 'survived' : 'no test ran', seconds, why: '' };
}

const wanted = process.argv.slice(2).map(Number);
const chosen = MUTATIONS.filter(({ fault }) => wanted.length === 0 || wanted.includes(fault));
const copy = copyTree();
const rows: string[] = [];
let bad = 0;
try {
  // Tries all changes before the first run, so that outdated ones are reported early.
  for (const mutation of chosen) mutate(readFileSync(join(copy, mutation.file), 'utf8'), mutation);
  for (const mutation of chosen) {
    const path = join(copy, mutation.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, mutate(source, mutation));
    const { outcome, seconds, why } = run(copy, mutation);
    writeFileSync(path, source);
    if (outcome !== 'killed') bad++;
    rows.push(
      `| ${mutation.fault} | ${mutation.what} | ${outcome} | ${why.replaceAll('|', '\\|')} |`,
    );
    process.stderr.write(`${mutation.fault}: ${outcome} in ${seconds} s (${mutation.what})\n`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.stdout.write(
  ['| fault | mutation | outcome | what failed |', '|---|---|---|---|', ...rows, ''].join('\n'),
);
process.exitCode = bad === 0 ? 0 : 1;
