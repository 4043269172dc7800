/** Builds and packs the published packages, and installs them with npm as users do. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const kit = fileURLToPath(new URL('../../packages/kit', import.meta.url));
const packScript = fileURLToPath(new URL('../../packages/cli/scripts/pack.ts', import.meta.url));
const isWindows = process.platform === 'win32';

function npm(cwd: string, ...args: string[]): string {
  return execFileSync('npm', ['--loglevel=error', ...args], {
    cwd,
    encoding: 'utf8',
    shell: isWindows,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export interface Packed {
  readonly tarball: string;
  /** Size of the tarball in bytes. */
  readonly size: number;
  /** Total size of the unpacked files in bytes. */
  readonly unpackedSize: number;
  readonly files: readonly string[];
}

/**
 * Builds the kit and packs it in a folder outside its sources, so that no earlier build is included
 * and several tests can pack the kit at once.
 */
export function packKit(folder: string): Packed {
  const built = join(folder, 'kit');
  mkdirSync(built);
  for (const name of ['package.json', 'README.md']) {
    copyFileSync(join(kit, name), join(built, name));
  }
  npm(kit, 'run', 'build', '--', join(built, 'dist'));
  return pack(built, folder);
}

/**
 * Builds the command-line package, including the console and the docs, and packs it into a folder.
 */
export function packCommand(folder: string): Packed {
  execFileSync(process.execPath, ['-C', '@sluice/source', packScript, folder], { stdio: 'pipe' });
  return pack(join(folder, 'sluice'), folder);
}

function pack(built: string, folder: string): Packed {
  const [packed] = JSON.parse(npm(built, 'pack', '--json', '--pack-destination', folder)) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
  ];
  return {
    tarball: join(folder, packed.filename),
    size: packed.size,
    unpackedSize: packed.unpackedSize,
    files: packed.files.map(({ path }) => path),
  };
}

/**
 * Creates a project in an empty folder and installs the packages there, without running their
 * install scripts.
 */
export function installInto(folder: string, type: 'module' | 'commonjs', packages: string[]): void {
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type }),
  );
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  npm(folder, 'install', ...flags, ...packages);
}
