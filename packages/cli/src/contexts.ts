/**
 * Services one has signed in to, by name: `contexts.json` in the user's configuration folder, for
 * nobody else to read. And the service that `sluice dev` runs for the folder one stands in.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, parse } from 'node:path';
import type { Terminal } from './terminal/terminal.ts';
import { CommandError } from './terminal/errors.ts';

export interface Context {
  apiUrl: string;
  apiKey: string;
}

export interface Contexts {
  /** Name of the one in use. */
  current?: string;
  contexts: Record<string, Context>;
}

type World = Pick<Terminal, 'env' | 'cwd'>;

/** Path of the file, whether or not it is there. */
export function contextsPath({ env }: World): string {
  const base =
    env['XDG_CONFIG_HOME'] ??
    (process.platform === 'win32' ? env['APPDATA'] : undefined) ??
    join(env['HOME'] ?? homedir(), '.config');
  return join(base, 'sluice', 'contexts.json');
}

export function readContexts(world: World): Contexts {
  const path = contextsPath(world);
  const text = readIfThere(path);
  if (text === undefined) return { contexts: {} };
  try {
    const { current, contexts } = JSON.parse(text) as Contexts;
    return { ...(current !== undefined && { current }), contexts: { ...contexts } };
  } catch {
    throw new CommandError('invalid_file', `${path} is no JSON`, `mend or delete ${path}`);
  }
}

export function saveContexts(world: World, contexts: Contexts): void {
  writePrivately(contextsPath(world), `${JSON.stringify(contexts, undefined, 2)}\n`);
}

/** Written beside and moved into place: there whole or not at all, and for this user alone. */
export function writePrivately(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, text, { mode: 0o600 });
  renameSync(beside, path);
}

const DEV_SERVICE = 'service.json';

/** Tells the commands run in this folder, and below it, of a dev service; answers how to take it back. */
export function announceDevService(dataFolder: string, context: Context): () => void {
  const path = join(dataFolder, DEV_SERVICE);
  writePrivately(path, JSON.stringify({ ...context, pid: process.pid }));
  return () => rmSync(path, { force: true });
}

/** The dev service of this folder or the nearest above it, while it runs. */
export function findDevService({ cwd }: World): (Context & { folder: string }) | undefined {
  const { root } = parse(cwd);
  for (let at = cwd; ; at = dirname(at)) {
    const text = readIfThere(join(at, '.sluice', 'dev', DEV_SERVICE));
    if (text !== undefined) {
      const { pid, apiUrl, apiKey } = JSON.parse(text) as Context & { pid: number };
      if (isRunning(pid)) return { apiUrl, apiKey, folder: at };
    }
    if (at === root) return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
