import { expect, test } from 'vitest';
import type { ChainReport } from '../store/leases/contract.ts';
import type { MetricSources } from './gauges.ts';
import { createMetrics } from './metrics.ts';

const away = () => Promise.reject(new Error('the ledger is away'));
const sources: MetricSources = {
  chains: () => [],
  chainsRead: () => 17,
  inFlight: () => 3,
  breakers: () => ({}),
  oldestDue: away,
  oldestTransactionAge: away,
  isReady: () => Promise.resolve(false),
  diskUsedRatio: () => 0.5,
  clientCertificateExpiry: () => 1_900_000_000_000,
  unverifiedBlocks: () => Promise.resolve({ '0x19': { bloom: 2 } }),
  heldDeliveries: () => Promise.resolve({ '0x19': 3 }),
  uncertainBlocks: () => Promise.resolve({ '0x19': 1 }),
  pendingStates: () => Promise.resolve({ '0x1': 2 }),
  children: () => Promise.resolve({ '0x1': 4 }),
  waitingReads: () => 5,
  destinations: () => Promise.resolve([{ kind: 'feed', status: 'error', count: 2 }]),
  feedLags: () =>
    Promise.resolve([
      { streamId: 's', name: 'billing', unread: 3, leased: 2, missed: 1 },
      { streamId: 's.2', name: 'billing', unread: 9, leased: 0, missed: 0 },
    ]),
  violations: () => ({}) as ReturnType<MetricSources['violations']>,
};

test('a metric that cannot be read is omitted, and the others are reported', async () => {
  const metrics = createMetrics({ version: '1.2.3', commit: '0123456789ab' });
  metrics.watch(sources);
  const { text } = await metrics.read();
  metrics.stop();
  expect(text).toMatch(/^sluice_deliveries_in_flight 3$/m);
  expect(text).toMatch(/^sluice_chains_read 17$/m);
  expect(text).toMatch(/^sluice_ready 0$/m);
  expect(text).toMatch(/^sluice_disk_used_ratio 0.5$/m);
  expect(text).toMatch(/^sluice_chain_unverified_blocks{chain="0x19",code="bloom"} 2$/m);
  expect(text).toMatch(/^sluice_chain_uncertain_blocks{chain="0x19"} 1$/m);
  expect(text).toMatch(/^sluice_chain_pending_states{chain="0x1"} 2$/m);
  expect(text).toMatch(/^sluice_chain_children{chain="0x1"} 4$/m);
  expect(text).toMatch(/^sluice_feed_reads_waiting 5$/m);
  const ofFeed = (destination: number) =>
    `{stream="s",destination="${destination}",consumer="billing"}`;
  for (const line of [
    `sluice_feed_unread${ofFeed(0)} 5`,
    `sluice_feed_unread${ofFeed(2)} 9`,
    `sluice_feed_missed${ofFeed(0)} 1`,
    'sluice_destinations{kind="feed",status="error"} 2',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(text).not.toMatch(
    /^(sluice_delivery_queue_age_seconds|sluice_database_oldest_transaction_age_seconds) /m,
  );
});

test('a settling chain is up, and held deliveries are counted by chain', async () => {
  const metrics = createMetrics({ version: '1.2.3', commit: '0123456789ab' });
  const chain = (id: string, state: ChainReport['state']) =>
    ({ id, state, head: 2, checkpoint: 1, providers: [] }) as unknown as ChainReport;
  metrics.watch({ ...sources, chains: () => [chain('0x19', 'settling'), chain('0x1', 'live')] });
  const { text } = await metrics.read();
  metrics.stop();
  for (const [name, settling, live] of [
    ['sluice_chain_up', 1, 1],
    ['sluice_chain_settling', 1, 0],
    ['sluice_deliveries_held', 3, 0],
  ] as const) {
    expect(text).toContain(`\n${name}{chain="0x19"} ${settling}\n`);
    expect(text).toContain(`\n${name}{chain="0x1"} ${live}\n`);
  }
});

test('the metrics of a deleted consumer are omitted', async () => {
  const metrics = createMetrics({ version: '1.2.3', commit: '0123456789ab' });
  let lags = await sources.feedLags();
  metrics.watch({ ...sources, feedLags: () => Promise.resolve(lags) });
  expect((await metrics.read()).text).toMatch(/^sluice_feed_unread{/m);
  lags = [];
  const { text } = await metrics.read();
  metrics.stop();
  expect(text).not.toMatch(/^sluice_feed_(unread|missed){/m);
});

test('a metric with labels that can no longer be read is omitted, and the others are reported', async () => {
  let isDown = false;
  const metrics = createMetrics({ version: '1.2.3', commit: '0123456789ab' });
  metrics.watch({
    ...sources,
    unverifiedBlocks: () => (isDown ? away() : Promise.resolve({ '0x19': { bloom: 2 } })),
  });
  expect((await metrics.read()).text).toMatch(/^sluice_chain_unverified_blocks{/m);
  isDown = true;
  const { text } = await metrics.read();
  metrics.stop();
  expect(text).toMatch(/^sluice_chains_read 17$/m);
  expect(text).not.toMatch(/^sluice_chain_unverified_blocks{/m);
});
