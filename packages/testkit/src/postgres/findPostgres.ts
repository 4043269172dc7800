import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import path from 'node:path';
import { findOnPath, isExecutable } from '../findOnPath.ts';

/**
 * The folder with PostgreSQL's server programs, `initdb` and `postgres`: where `pg_config` says, else
 * the newest of the folders where Debian and Homebrew put them (they are not on the PATH there), else
 * the PATH.
 *
 * @returns undefined when there is no server on this machine; a client alone does not count.
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
    return undefined; // not installed, or a part of a package that is not
  }
}

/** Newest version first: the version is the only number in the path. */
function installedFolders(): string[] {
  const version = (folder: string) => Number(/\d+(\.\d+)?/.exec(folder)?.[0]);
  return globSync([
    '/usr/lib/postgresql/*/bin',
    '/usr/pgsql-*/bin',
    '/opt/homebrew/opt/postgresql@*/bin',
    '/usr/local/opt/postgresql@*/bin',
  ]).sort((a, b) => version(b) - version(a));
}
