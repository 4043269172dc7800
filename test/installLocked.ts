/**
 * Installs the third-party programs of a folder that has its own lockfile, unless the installed
 * packages already match the lockfile. Never runs install scripts: everything that they would
 * compile has a fallback in JavaScript.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

/**
 * @param folder file URL that ends in `/`.
 * @param what describes the programs in the progress message.
 */
export function installLocked(folder: URL, what: string): void {
  if (isInstalled(folder)) return;
  process.stderr.write(`sluice: installing ${what}\n`);
  const { status, error, stderr } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: fileURLToPath(folder), encoding: 'utf8', shell: process.platform === 'win32' },
  );
  if (status !== 0) {
    throw new Error(`npm ci failed in ${fileURLToPath(folder)}: ${error?.message ?? stderr}`);
  }
}

interface Locked {
  optional?: boolean;
  os?: string | string[];
  cpu?: string | string[];
  libc?: string | string[];
}

/**
 * Returns whether npm's record of the installed packages matches the lockfile. Optional packages
 * may be missing, unless they are made for this platform.
 */
function isInstalled(folder: URL): boolean {
  const installed = readPackages(new URL('node_modules/.package-lock.json', folder)) ?? {};
  const wanted = Object.entries(readPackages(new URL('package-lock.json', folder)) ?? {}).filter(
    ([path, locked]) =>
      path !== '' && (!locked.optional || installed[path] !== undefined || isForHere(locked)),
  );
  return wanted.length > 0 && isDeepStrictEqual(installed, Object.fromEntries(wanted));
}

const isForHere = ({ os, cpu, libc = 'glibc' }: Locked): boolean =>
  [os].flat().includes(process.platform) &&
  [cpu].flat().includes(process.arch) &&
  [libc].flat().includes('glibc');

function readPackages(lock: URL): Record<string, Locked> | undefined {
  try {
    const text = readFileSync(lock, 'utf8');
    return (JSON.parse(text) as { packages: Record<string, Locked> }).packages;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
