/**
 * Stores services in `contexts.json` (mode 0600) in the user's configuration folder, and finds the
 * service that `sluice dev` runs for the current folder or a parent.
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
  /** Name of the context in use. */
  current?: string;
  contexts: Record<string, Context>;
}

type World = Pick<Terminal, 'env' | 'cwd'>;

/** Returns the path of `contexts.json`, whether or not the file exists. */
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
    throw new CommandError('invalid_file', `${path} is not valid JSON`, `fix or delete ${path}`);
  }
}

export function saveContexts(world: World, contexts: Contexts): void {
  writePrivately(contextsPath(world), `${JSON.stringify(contexts, undefined, 2)}\n`);
}

/** Writes a file atomically. Only this user can read the file. */
export function writePrivately(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, text, { mode: 0o600 });
  renameSync(beside, path);
}

const DEV_SERVICE = 'service.json';

/**
 * Writes the file by which commands find the dev service. Returns a function that deletes the file.
 */
export function announceDevService(dataFolder: string, context: Context): () => void {
  const path = join(dataFolder, DEV_SERVICE);
  const { apiUrl, apiKey } = context;
  // A service that listens on all addresses is also reachable on loopback.
  const onLoopback = apiUrl.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:)/, '//127.0.0.1');
  writePrivately(path, JSON.stringify({ apiUrl: onLoopback, apiKey, pid: process.pid }));
  return () => rmSync(path, { force: true });
}

export interface DevService extends Context {
  /** The folder in which `sluice dev` was started. It contains `.sluice/dev`. */
  folder: string;
}

/**
 * Finds the running dev service of this folder or of the nearest parent with one; undefined if none
 * is running.
 */
export function findDevService({ cwd }: Pick<World, 'cwd'>): DevService | undefined {
  const { root } = parse(cwd);
  for (let at = cwd; ; at = dirname(at)) {
    const found = readDevService(join(at, '.sluice', 'dev'));
    if (found !== undefined) return { ...found, folder: at };
    if (at === root) return undefined;
  }
}

/**
 * Reads the dev service of a data folder; undefined if none is running. The file is untrusted: only
 * this user may have write access to the file and the folder, the URL must be on loopback, the
 * process must run, and the folder must be locked.
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

/** Returns whether only this user can write to the file or folder. Symbolic links are rejected. */
function isOurs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return false;
  // Windows has neither user IDs nor modes; its user folders are private by default.
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

/**
 * Returns whether the process runs and belongs to this user. Processes of other users cannot be
 * signaled.
 */
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
