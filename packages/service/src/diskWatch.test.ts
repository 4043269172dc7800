import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { watchDisk } from './diskWatch.ts';
import { createLog } from './observe.ts';

let logged = '';
const log = createLog((line) => (logged += line));

test('a disk with too little left is a problem, in words an operator can act on', async () => {
  const full = await watchDisk(tmpdir(), 1e18, log);
  expect(full.problem).toMatch(/^\d+ MiB left on the disk of .+--min-free-mib/);
  expect(full.usedRatio).toBeGreaterThan(0);
  expect(full.usedRatio).toBeLessThanOrEqual(1);
  full.stop();
  const roomy = await watchDisk(tmpdir(), 1, log);
  expect(roomy.problem).toBeUndefined();
  roomy.stop();
});

test.each([
  [201, undefined],
  [200, /^80 % of the disk of \/ledger is used, 200 MiB are left: .*--keep-delivered/],
  [0, /^100 % of the disk/],
])('of 1,000 MiB %d are left', async (left, filling) => {
  logged = '';
  const readDisk = () => Promise.resolve({ blocks: 1_000, bavail: left, bsize: 1024 * 1024 });
  const disk = await watchDisk('/ledger', 1, log, readDisk);
  disk.stop();
  if (filling === undefined) expect(disk.filling).toBeUndefined();
  else expect(disk.filling).toMatch(filling);
  expect(logged.includes('warn disk filling')).toBe(filling !== undefined);
});
