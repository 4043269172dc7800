import { tmpdir } from 'node:os';
import { describe, expect, test, vi } from 'vitest';
import { watchDisk } from './disk.ts';
import { createLog } from '../base/log.ts';

let logged = '';
const log = createLog((line) => (logged += line));

const files = { folder: tmpdir(), readSizeBytes: () => Promise.resolve(0) };

test('a disk with too little space is reported with a fix', async () => {
  const full = await watchDisk(files, 1e18, log);
  expect(full.problem).toMatch(/^\d+ MiB free on the disk of .+--min-free-mib/);
  expect(full.usedRatio).toBeGreaterThan(0);
  expect(full.usedRatio).toBeLessThanOrEqual(1);
  full.stop();
  const roomy = await watchDisk(files, 1, log);
  expect(roomy.problem).toBeUndefined();
  roomy.stop();
});

const GIB = 1024;
const MINUTE = 60_000;

/**
 * Checks the disk once per minute, with `left` MiB free and these sizes of the ledger in MiB.
 * Returns the warning after the last check.
 */
async function watch(left: number, ledger: readonly number[]): Promise<string | undefined> {
  logged = '';
  vi.useFakeTimers();
  let at = 0;
  const readSizeBytes = () =>
    Promise.resolve(ledger[Math.min(at, ledger.length - 1)]! * 1024 * 1024);
  const disk = await watchDisk({ folder: '/ledger', readSizeBytes }, 512 * 1024 * 1024, log, {
    readDisk: () => Promise.resolve({ blocks: 250 * GIB, bavail: left, bsize: 1024 * 1024 }),
    now: () => at * MINUTE,
  });
  for (at = 1; at < ledger.length; at++) await vi.advanceTimersByTimeAsync(5_000);
  const { filling } = disk;
  disk.stop();
  vi.useRealTimers();
  expect(logged.includes('warn disk filling')).toBe(filling !== undefined);
  return filling;
}
const growing = (perMinute: number, minutes: number): number[] =>
  Array.from({ length: minutes }, (_, n) => n * perMinute);

describe('a disk is filling', () => {
  test.each<[string, number, number[], RegExp | undefined]>([
    ['not at 81 % used with 48 GiB free', 48 * GIB, [100], undefined],
    ['not at 99 % used with 2 GiB free', 2 * GIB, [100], undefined],
    [
      'with less than 2 GiB left',
      2 * GIB - 1,
      [100],
      /^2047 MiB free on the disk of \/ledger\. Free up space, .*--keep-delivered/,
    ],
    [
      'when the ledger will fill the rest within a day',
      48 * GIB,
      growing(60, 30),
      /and the ledger grows by 3600 MiB per hour: full in about 14 h/,
    ],
    ['not when the ledger will take longer', 48 * GIB, growing(20, 30), undefined],
    ['not during a burst of a few minutes', 48 * GIB, growing(60, 9), undefined],
    ['not when the ledger shrinks', 48 * GIB, growing(60, 30).toReversed(), undefined],
  ])('%s', async (_, left, ledger, filling) => {
    const said = await watch(left, ledger);
    if (filling === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(filling);
  });
});
