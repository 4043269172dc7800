/** The sources of the previous release, which share a ledger with this version during an upgrade. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PreviousRelease {
  /** Tag or commit. */
  readonly name: string;
  /** Path of `main.ts`. It runs from source, with the packages that are installed now. */
  readonly main: string;
  remove(): void;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const MIGRATIONS = 'packages/service/src/store/engine/migrations.ts';
/** Matches the names of migrations, such as `'0010 oauth2'`. */
const MIGRATION = "^  '[0-9]{4} ";

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/**
 * Extracts the previous tag, or without tags the last commit with an older schema.
 * @throws Error if the clone does not contain its history
 */
export function extractPreviousRelease(): PreviousRelease {
  const name = findPrevious();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-previous-'));
  const archive = execFileSync('git', ['archive', name, 'package.json', 'packages'], {
    cwd: root,
    maxBuffer: 2 ** 28,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@sluice'), { recursive: true });
  for (const each of readdirSync(join(root, 'node_modules'))) {
    if (each !== '@sluice') symlinkSync(join(root, 'node_modules', each), join(modules, each));
  }
  for (const each of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', each), join(modules, '@sluice', each));
  }
  return {
    name,
    main: join(folder, 'packages/cli/src/main.ts'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function findPrevious(): string {
  const tags = git('tag', '--list', 'v*', '--merged', 'HEAD^', '--sort=-version:refname');
  if (tags !== '') return tags.split('\n')[0]!;
  const changes = git('log', '--format=%H', '-G', MIGRATION, '--', MIGRATIONS).split('\n');
  const known = migrationsOf(readFileSync(join(root, MIGRATIONS), 'utf8'));
  // A migration may have been renamed before its release.
  const older = changes.slice(0, -1).find((change) => {
    const names = migrationsOf(git('show', `${change}^:${MIGRATIONS}`));
    return names.length < known.length && names.every((name) => known.includes(name));
  });
  // The last commit of a shallow clone seems to add every migration.
  if (older === undefined) throw new Error('This clone is shallow. Run git fetch --unshallow.');
  return `${older}^`;
}

const migrationsOf = (source: string): string[] =>
  [...source.matchAll(/^ {2}'(\d{4} [^']+)'/gm)].map(([, name]) => name!);
