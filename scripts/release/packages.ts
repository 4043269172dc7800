/** Builds the published packages outside their source folders, and packs them. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { repositoryFields } from './repository.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const KIT = join(ROOT, 'packages', 'kit');
const PACK_COMMAND = join(ROOT, 'packages', 'cli', 'scripts', 'pack.ts');

/** Runs npm in a folder and returns its output. */
export function npm(cwd: string, ...args: string[]): string {
  return execFileSync('npm', ['--loglevel=error', ...args], {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export interface Packed {
  readonly name: string;
  readonly version: string;
  readonly tarball: string;
  /** Size of the tarball in bytes. */
  readonly size: number;
  /** Total size of the unpacked files in bytes. */
  readonly unpackedSize: number;
  readonly files: readonly string[];
}

/**
 * Builds and packs the kit in a folder of the caller, so that several tests can pack it at once.
 */
export function packKit(folder: string): Packed {
  const built = join(folder, 'kit');
  mkdirSync(built);
  writeFileSync(join(built, 'package.json'), `${JSON.stringify(kitManifest(), undefined, 2)}\n`);
  copyFileSync(join(KIT, 'README.md'), join(built, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(built, 'LICENSE'));
  npm(KIT, 'run', 'build', '--', join(built, 'dist'));
  return pack(built, folder);
}

/**
 * Builds the command-line package, including the console and the docs, and packs it into a folder.
 */
export function packCommand(folder: string): Packed {
  execFileSync(process.execPath, ['-C', '@sluice/source', PACK_COMMAND, folder], { stdio: 'pipe' });
  return pack(join(folder, 'sluice'), folder);
}

/** Returns the published manifest: without the fields and entries that only a checkout can use. */
function kitManifest(): object {
  const {
    exports,
    scripts: _scripts,
    devDependencies: _tools,
    ...manifest
  } = JSON.parse(readFileSync(join(KIT, 'package.json'), 'utf8')) as {
    exports: Record<string, object>;
    scripts: object;
    devDependencies: object;
  };
  const published = Object.entries(exports).flatMap(([entry, conditions]) => {
    const { '@sluice/source': _source, ...others } = conditions as Record<string, unknown>;
    return Object.keys(others).length === 0 ? [] : [[entry, others] as const];
  });
  return {
    ...manifest,
    ...repositoryFields('packages/kit'),
    exports: Object.fromEntries(published),
  };
}

function pack(built: string, folder: string): Packed {
  const [{ name, version, filename, size, unpackedSize, files }] = JSON.parse(
    npm(built, 'pack', '--json', '--pack-destination', folder),
  ) as [Omit<Packed, 'tarball' | 'files'> & { filename: string; files: { path: string }[] }];
  const tarball = join(folder, filename);
  return { name, version, tarball, size, unpackedSize, files: files.map(({ path }) => path) };
}
