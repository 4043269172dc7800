import { expect, test } from 'vitest';
import { createLog } from './observe.ts';
import { createReadiness } from './ready.ts';
import type { Store } from './store/store.ts';

const NOW = 1_000_000_000;

const readinessOf = (waitedMs: number, isWell: boolean) => {
  const store = {
    checkWritable: () => Promise.resolve(),
    readLedgerTime: () => Promise.resolve(NOW),
    listEnrichingSince: () => Promise.resolve([{ chain: '0x1', since: NOW - waitedMs }]),
  } as unknown as Store;
  const readiness = createReadiness(
    store,
    createLog(() => {}),
    () => isWell,
  );
  readiness.started();
  return readiness.read();
};

test('deliveries that wait for enrichment although the nodes answer make a process unfit', async () => {
  expect(await readinessOf(121_000, true)).toEqual([
    'deliveries of 0x1 have waited 121 s for enrichment: the log says why',
  ]);
});

test.each([
  ['not for long', 20_000, true],
  ['for nodes that do not answer', 600_000, false],
])('deliveries that wait %s do not', async (_, waitedMs, isWell) => {
  expect(await readinessOf(waitedMs, isWell)).toEqual([]);
});
