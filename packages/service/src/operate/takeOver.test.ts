import { expect, test } from 'vitest';
import { createLog } from '../base/log.ts';
import { takeOverLedger } from './takeOver.ts';

/**
 * Takes over a ledger whose leases are released with these results, and returns the calls and the
 * log.
 */
async function takeOverFrom({
  released = 0,
  quarantined = [] as { id: string; streamId: string }[],
  canceled = [] as { id: string; streamId: string }[],
}) {
  const calls: unknown[] = [];
  const lines: Record<string, unknown>[] = [];
  const lost = await takeOverLedger(
    {
      endLeases: async () => void calls.push('endLeases'),
      async releaseLeases(which) {
        calls.push(['releaseLeases', which]);
        return { released, suspects: 0, quarantined, canceled } as never;
      },
      async cleanUpAddresses(ages) {
        calls.push(['cleanUpAddresses', ages]);
        return false;
      },
    },
    createLog((line) => lines.push(JSON.parse(line) as Record<string, unknown>), 'json'),
  );
  return { calls, lines, lost };
}

test('a takeover ends the leases and unfinished address changes of other processes', async () => {
  const { calls, lines, lost } = await takeOverFrom({});
  expect(calls).toEqual([
    'endLeases',
    ['releaseLeases', 'all'],
    ['cleanUpAddresses', { keepMs: Number.MAX_SAFE_INTEGER, staleMs: 0 }],
  ]);
  expect([lost, lines]).toEqual([0, []]);
});

test('a takeover counts lost leases and logs quarantined deliveries', async () => {
  const { lines, lost } = await takeOverFrom({
    released: 2,
    quarantined: [{ id: 'd', streamId: 's' }],
    canceled: [{ id: 'e', streamId: 's' }],
  });
  expect(lost).toBe(4);
  expect(lines).toMatchObject([
    { level: 'warn', count: 2 },
    { level: 'error', event: 'delivery quarantined', delivery: 'd', stream: 's' },
  ]);
});
