/** Measures the product's source: files, folders, functions and import cycles. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const SOURCES = 'packages/*/{src,scripts}/**/*.{ts,tsx}';
const NO_SOURCE = /\.(test|test-d|test-only|suite|generated)\.tsx?$/;
/** File that is exempt from the limits: migrations are never edited, so their file only grows. */
const MIGRATIONS = 'packages/service/src/store/engine/migrations.ts';
const LINT = 'scripts/house/oxlintrc.json';

export interface Sized {
  name: string;
  size: number;
}

export interface Figures {
  files: number;
  lines: number;
  /** Number of source files in each folder, without tests and generated files; largest first. */
  folders: Sized[];
  /** Number of lines of each file, migrations excluded; longest first. */
  lengths: Sized[];
  /** Functions of more than 100 lines, longest first. */
  functions: Sized[];
  /** Files in an import cycle. Imports of types count as well. */
  cycles: string[];
}

export async function measure(): Promise<Figures> {
  const sources: string[] = [];
  for await (const name of glob(SOURCES, { cwd: ROOT })) {
    if (!NO_SOURCE.test(name)) sources.push(name);
  }
  const lengths = sources.map((name) => ({
    name,
    size: readFileSync(path.join(ROOT, name), 'utf8').split('\n').length - 1,
  }));
  const folders = [...Map.groupBy(sources, (name) => path.dirname(name))].map(([name, files]) => ({
    name,
    size: files.length,
  }));
  return {
    files: sources.length,
    lines: lengths.reduce((sum, { size }) => sum + size, 0),
    folders: folders.toSorted(largestFirst),
    lengths: lengths.filter(({ name }) => name !== MIGRATIONS).toSorted(largestFirst),
    ...(await lint()),
  };
}

const largestFirst = (a: Sized, b: Sized): number => b.size - a.size;

interface Diagnostic {
  code: string;
  message: string;
  filename: string;
  labels: { span: { line: number } }[];
}

/** Finds long functions and import cycles with the linter, because it already parses the source. */
async function lint(): Promise<Pick<Figures, 'functions' | 'cycles'>> {
  const { diagnostics } = await runLinter();
  const ofProduct = diagnostics.filter(
    ({ filename }) => !NO_SOURCE.test(filename) && filename !== MIGRATIONS,
  );
  const of = (rule: string): Diagnostic[] =>
    ofProduct.filter(({ code }) => code.includes(`(${rule})`));
  return {
    functions: of('max-lines-per-function')
      .map(({ filename, message, labels }) => ({
        name: `${filename}:${labels[0]!.span.line}`,
        size: Number(/\((\d+)\)/.exec(message)?.[1]),
      }))
      .toSorted(largestFirst),
    cycles: of('no-cycle').map(({ filename }) => filename),
  };
}

/**
 * Runs oxlint. Uses its output even if it fails, because its exit code is 1 when it finds problems.
 */
async function runLinter(): Promise<{ diagnostics: Diagnostic[] }> {
  const args = ['oxlint', '-c', LINT, '--format', 'json', 'packages'];
  const { stdout } = await promisify(execFile)('npx', args, {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { stdout?: string }) => {
    if (!error.stdout) throw error;
    return { stdout: error.stdout };
  });
  return JSON.parse(stdout) as { diagnostics: Diagnostic[] };
}
