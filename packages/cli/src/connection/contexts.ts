/**
 * Services one has signed in to, by name: `contexts.json` in the user's configuration folder, for
 * nobody else to read. And the service that `sluice dev` runs for the folder one stands in.
 */
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, parse } from 'node:path';
import { isFolderLocked } from '@sluice/service/folderLock';
import type { Terminal } from '../terminal/terminal.ts';
import { CommandError } from '../terminal/errors.ts';

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
  const { apiUrl, apiKey } = context;
  // A service that listens on every address is reached on loopback as well.
  const onLoopback = apiUrl.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:)/, '//127.0.0.1');
  writePrivately(path, JSON.stringify({ apiUrl: onLoopback, apiKey, pid: process.pid }));
  return () => rmSync(path, { force: true });
}

export interface DevService extends Context {
  /** That `sluice dev` was started in. */
  folder: string;
}

/** The dev service of this folder or the nearest above it, while it runs. */
export function findDevService({ cwd }: Pick<World, 'cwd'>): DevService | undefined {
  const { root } = parse(cwd);
  for (let at = cwd; ; at = dirname(at)) {
    const found = readDevService(join(at, '.sluice', 'dev'));
    if (found !== undefined) return { ...found, folder: at };
    if (at === root) return undefined;
  }
}

/**
 * Reads what a folder says of a dev service, and believes nothing that a repository or another user could
 * have put there: the process it names has to hold the lock of this folder.
 */
function readDevService(dataFolder: string): Context | undefined {
  const path = join(dataFolder, DEV_SERVICE);
  if (!isOurs(dataFolder) || !isOurs(path)) return undefined;
  const { apiUrl, apiKey, pid } = parseObject(readFileSync(path, 'utf8'));
  if (typeof apiUrl !== 'string' || typeof apiKey !== 'string' || typeof pid !== 'number') {
    return undefined;
  }
  const isProven = isOnLoopback(apiUrl) && isRunning(pid) && isFolderLocked(dataFolder);
  return isProven ? { apiUrl, apiKey } : undefined;
}

/** A file or folder of this user's that no one else may write to, and not a link to one. */
function isOurs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return false;
  // Windows has neither; its folders are closed to other users by default.
  return process.getuid === undefined || (found.uid === process.getuid() && !(found.mode & 0o022));
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch {
    return {};
  }
}

function isOnLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Of this user: the processes of others may not be signalled. */
function isRunning(pid: number): boolean {
  try {
    return Number.isSafeInteger(pid) && pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
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
