import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { findOnPath } from '../findOnPath.ts';

/** An installed PostgreSQL server. */
export interface InstalledPostgres {
  /** Folder with the programs `initdb` and `postgres`. */
  readonly programs: string;
  /** Major version, for example 18. */
  readonly version: number;
}

/**
 * Finds PostgreSQL servers, one of each major version: on the PATH, then in the folder that
 * `pg_config` prints, then in the installation folders of Debian, Red Hat and Homebrew (which are
 * not on the PATH) from the newest version to the oldest.
 *
 * @param alsoNeeded programs that a folder must have, in addition to `initdb` and `postgres`.
 * @returns an empty list if no folder has all programs, for example because only the client is
 *   installed.
 */
export function findPostgres(alsoNeeded: readonly string[] = []): InstalledPostgres[] {
  const onPath = findOnPath('postgres');
  const folders = [
    ...(onPath ? [path.dirname(onPath)] : []),
    printedBy('pg_config', '--bindir') ?? '',
    ...installationFolders(),
  ];
  const found = new Map<number, InstalledPostgres>();
  for (const programs of folders) {
    // Both programs print, for example, `initdb (PostgreSQL) 18.4`.
    const [version, other] = ['postgres', 'initdb'].map((name) =>
      Number(/\) (\d+)/.exec(printedBy(path.join(programs, name), '--version') ?? '')?.[1]),
    );
    if (version === undefined || version !== other || found.has(version)) continue;
    if (!alsoNeeded.every((name) => existsSync(path.join(programs, name)))) continue;
    found.set(version, { programs, version });
  }
  return [...found.values()];
}

/** Returns what a program prints; undefined if it is missing or fails. */
function printedBy(program: string, arg: string): string | undefined {
  try {
    return execFileSync(program, [arg], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return undefined;
  }
}

/** Returns the program folders of all installed versions, newest first. */
function installationFolders(): string[] {
  // The version is the only number in each path.
  const version = (folder: string) => Number(/\d+(\.\d+)?/.exec(folder)?.[0]);
  return globSync([
    '/usr/lib/postgresql/*/bin',
    '/usr/pgsql-*/bin',
    '/opt/homebrew/opt/postgresql@*/bin',
    '/usr/local/opt/postgresql@*/bin',
  ]).sort((a, b) => version(b) - version(a));
}
