import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import path from 'node:path';
import { findOnPath, isExecutable } from '../findOnPath.ts';

/**
 * Finds the folder with PostgreSQL's server programs `initdb` and `postgres`: by `pg_config`, then
 * the newest version in the folders of Debian and Homebrew (which are not in the PATH), then the
 * PATH.
 *
 * @returns undefined if there is no server on this machine; a client is not sufficient.
 */
export function findPostgres(): string | undefined {
  const onPath = findOnPath('postgres');
  const candidates = [
    askPgConfig(),
    ...installedFolders(),
    ...(onPath ? [path.dirname(onPath)] : []),
  ];
  return candidates.find((folder): folder is string => folder !== undefined && isServer(folder));
}

function isServer(folder: string): boolean {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return ['initdb', 'postgres'].every((name) => isExecutable(path.join(folder, name + suffix)));
}

function askPgConfig(): string | undefined {
  try {
    return execFileSync('pg_config', ['--bindir'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return undefined; // not installed, or without the server package
  }
}

/** Sorts paths by version, newest first; the version is the only number in a path. */
function installedFolders(): string[] {
  const version = (folder: string) => Number(/\d+(\.\d+)?/.exec(folder)?.[0]);
  return globSync([
    '/usr/lib/postgresql/*/bin',
    '/usr/pgsql-*/bin',
    '/opt/homebrew/opt/postgresql@*/bin',
    '/usr/local/opt/postgresql@*/bin',
  ]).sort((a, b) => version(b) - version(a));
}
