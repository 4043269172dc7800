import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import path from 'node:path';
import { findOnPath, isExecutable } from '../findOnPath.ts';

/**
 * Finds the folder with PostgreSQL's server programs, `initdb` and `postgres`. Tries the folder
 * that `pg_config` prints, then the installation folders of Debian, Red Hat and Homebrew (which are
 * not in the PATH) from the newest version to the oldest, then the PATH.
 *
 * @returns undefined if none of these folders has both programs, for example because only the
 *   client is installed.
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
    return undefined; // `pg_config` is not installed, or requires a missing package
  }
}

/**
 * Returns the program folders of all installed versions, newest first. The version is the only
 * number in each path.
 */
function installedFolders(): string[] {
  const version = (folder: string) => Number(/\d+(\.\d+)?/.exec(folder)?.[0]);
  return globSync([
    '/usr/lib/postgresql/*/bin',
    '/usr/pgsql-*/bin',
    '/opt/homebrew/opt/postgresql@*/bin',
    '/usr/local/opt/postgresql@*/bin',
  ]).sort((a, b) => version(b) - version(a));
}
