/**
 * A temporary folder in memory, so that tests do not wait for the disk each time a ledger commits.
 * Plain JavaScript, like `setup.mjs`.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

/** Linux keeps files in this folder in memory. */
const SHARED_MEMORY = '/dev/shm';
const MIN_FREE_BYTES = 4 * 2 ** 30;

/**
 * Creates the folder and deletes it when this process exits. Returns undefined if less than 4 GiB
 * are free, as in most containers, or if the system has no folder in memory.
 */
export function createMemoryFolder() {
  if (!existsSync(SHARED_MEMORY)) return undefined;
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  if (Math.min(bavail * bsize, freemem()) < MIN_FREE_BYTES) return undefined;
  const folder = mkdtempSync(join(SHARED_MEMORY, 'sluice-tests-'));
  // PostgreSQL does not run as root, so its user must reach its files.
  chmodSync(folder, 0o1777);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
