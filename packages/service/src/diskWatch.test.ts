import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { watchDisk } from './diskWatch.ts';

test('a disk with too little left is a problem, in words an operator can act on', async () => {
  const full = await watchDisk(tmpdir(), 1e18);
  expect(full.problem).toMatch(/^\d+ MiB left on the disk of .+--min-free-mib/);
  full.stop();
  const roomy = await watchDisk(tmpdir(), 1);
  expect(roomy.problem).toBeUndefined();
  roomy.stop();
});
