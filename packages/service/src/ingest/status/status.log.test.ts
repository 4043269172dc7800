import { expect, test } from 'vitest';
import { createLog } from '../../base/log.ts';
import type { ChainReport } from '../../store/upkeep/contract.ts';
import { createStatus } from './status.ts';

test('a chain that stays down is logged once per reason, until it is live again', () => {
  const lines: string[] = [];
  const reports: ChainReport[] = [];
  const status = createStatus(
    { chain: '0x1', isFinal: true },
    {
      source: {
        lacksTraces: false,
        ...{ agreement: () => null, providers: () => [], readTagged: async () => undefined },
      },
      local: {
        tip: () => ({ number: 1, hash: '0x1', parentHash: '0x0', timestamp: 1 }),
        ...{ confirmedUpTo: () => null, note: () => '' },
      },
      confirming: { note: () => '' },
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
