/**
 * Installs the programs of others (`test/peers`) when those on disk are not the ones of its lock.
 * Their install scripts compile native code that has a fallback in JavaScript: they are never run.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const peers = new URL('../peers/', import.meta.url);

export default function setup(): void {
  if (isInstalled()) return;
  process.stderr.write('sluice: installing the official client for the conformance tests\n');
  const { status, error, stderr } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: fileURLToPath(peers), encoding: 'utf8', shell: process.platform === 'win32' },
  );
  if (status !== 0) throw new Error(`npm ci failed in test/peers: ${error?.message ?? stderr}`);
}

/** npm keeps, beside the packages, the part of the lock that it has installed. */
function isInstalled(): boolean {
  const { '': _, ...wanted } = readPackages('package-lock.json') ?? {};
  return isDeepStrictEqual(readPackages('node_modules/.package-lock.json'), wanted);
}

function readPackages(lock: string): Record<string, unknown> | undefined {
  try {
    const text = readFileSync(new URL(lock, peers), 'utf8');
    return (JSON.parse(text) as { packages: Record<string, unknown> }).packages;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
