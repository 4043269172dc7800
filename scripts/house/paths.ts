/** The two code paths of the architecture page, and the files they execute. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ROOT } from './figures.ts';

export interface Executed {
  /** Files that are executed for one block, from its head to its POST, in a warm service. */
  block: string[];
  /** Files that the service executes for one page of deliveries. */
  page: string[];
}

/** Paths on the page are relative to this folder or to the service's. */
const PACKAGES = 'packages';

/** Returns the files of a path in order, relative to the repository. */
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

/** Runs a service in a separate process and asks V8 which functions were called. */
export async function measureExecuted(): Promise<Executed> {
  const program = fileURLToPath(new URL('executed.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['-C', '@sluice/source', program]);
  return JSON.parse(stdout) as Executed;
}
