import { expect, test } from 'vitest';
import { createLog } from '../../base/log.ts';
import type { ChainReport } from '../../store/leases/contract.ts';
import { createStatus, isBehind } from './status.ts';

test('a chain that stays down is logged once per reason, until it is live again', () => {
  const lines: string[] = [];
  const reports: ChainReport[] = [];
  const status = createStatus(
    { chain: '0x1', isFinal: true },
    {
      source: {
        lacksTraces: false,
        agreement: () => null,
        providers: () => [],
      },
      local: {
        tip: () => ({ number: 1, hash: '0x1', parentHash: '0x0', timestamp: 1 }),
        confirmedHeights: () => undefined,
        note: () => '',
      },
      confirming: { note: () => '' },
      finality: { heights: () => ({ safe: null, finalized: null }), lacks: () => false },
      needsTraces: () => false,
      onReport: (report) => reports.push(report),
      log: createLog((line) => lines.push(line)),
    },
  );
  const outages = (): number => lines.filter((line) => line.includes('chain down')).length;
  for (let n = 0; n < 5; n++) {
    status.goDown(`${500 - n} MiB free on the disk`);
    status.catchUp(1);
    status.goDown('database or disk is full');
  }
  expect(outages()).toBe(2);
  expect(reports.at(-1)).toMatchObject({ state: 'down', message: 'database or disk is full' });
  status.goLive();
  status.goDown('database or disk is full');
  expect(outages()).toBe(3);
});

const at = (number: number, timestamp: number) => ({
  number,
  timestamp,
  hash: `0x${number}`,
  parentHash: `0x${number - 1}`,
});

test.each([
  ['the head', 0, 0, false],
  ['one block of an hour', 1, 3_600, false],
  ['two blocks of 12 s', 2, 24, true],
  ['20 blocks of 200 ms', 20, 4, false],
  ['30 blocks of 200 ms', 30, 6, true],
  ['33 blocks with one timestamp', 33, 0, true],
])('a chain that is %s behind', (_, blocks, seconds, expected) => {
  expect(isBehind(at(100, 1_000), at(100 + blocks, 1_000 + seconds))).toBe(expected);
});
