/** Reads the two code paths in docs/architecture.md, and measures which files run for them. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ROOT } from './figures.ts';

export interface Executed {
  /** Files that run for every block, from its head to its POST, in a warm service. */
  block: string[];
  /** Files that run in the service for one page of deliveries. */
  page: string[];
}

/**
 * Paths in docs/architecture.md are relative to this folder or, for the service, to its subfolder
 * `service/src`.
 */
const PACKAGES = 'packages';

/**
 * Returns the files, in order, on the line of docs/architecture.md that begins with this text.
 * Names are relative to the repository.
 */
function readPath(beginning: string): string[] {
  const page = readFileSync(path.join(ROOT, 'docs/architecture.md'), 'utf8');
  const line = page.split('\n').find((each) => each.startsWith(beginning));
  if (line === undefined) throw new Error(`docs/architecture.md has no line "${beginning}…"`);
  return [...line.matchAll(/`([^`]+)`/g)].map(([, name = '']) =>
    path.join(PACKAGES, /^(kit|console|cli)\//.test(name) ? name : `service/src/${name}`),
  );
}

export const readBlockPath = (): string[] => readPath('A block to its POST');
export const readRowPath = (): string[] => readPath("A delivery's row to the screen");

/**
 * Measures which files run for a block and for a page of deliveries, in a separate process, where
 * V8 reports which functions were called.
 */
export async function measureExecuted(): Promise<Executed> {
  const program = fileURLToPath(new URL('executed.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['-C', '@sluice/source', program]);
  return JSON.parse(stdout) as Executed;
}
