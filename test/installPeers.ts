/**
 * Installs the programs of others (`test/peers`) when those on disk are not the ones of its lock.
 * Their install scripts compile native code that has a fallback in JavaScript: they are never run.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const peers = new URL('./peers/', import.meta.url);

export default function setup(): void {
  if (isInstalled()) return;
  process.stderr.write('sluice: installing the official client and other runtimes for the tests\n');
  const { status, error, stderr } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: fileURLToPath(peers), encoding: 'utf8', shell: process.platform === 'win32' },
  );
  if (status !== 0) throw new Error(`npm ci failed in test/peers: ${error?.message ?? stderr}`);
}

/**
 * npm keeps, beside the packages, the part of the lock that it has installed. What is optional may be
 * missing there: it is made for one platform.
 */
function isInstalled(): boolean {
  const installed = readPackages('node_modules/.package-lock.json') ?? {};
  const wanted = Object.entries(readPackages('package-lock.json') ?? {}).filter(
    ([path, { optional }]) => path !== '' && (!optional || installed[path] !== undefined),
  );
  return wanted.length > 0 && isDeepStrictEqual(installed, Object.fromEntries(wanted));
}

function readPackages(lock: string): Record<string, { optional?: boolean }> | undefined {
  try {
    const text = readFileSync(new URL(lock, peers), 'utf8');
    return (JSON.parse(text) as { packages: Record<string, { optional?: boolean }> }).packages;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
