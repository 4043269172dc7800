/** Tests that `sluice dev --seed demo` writes an ordinary ledger. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSluiceClient } from '@sluice/kit/sluice';
import { startService, type Service } from '@sluice/service';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo, type Demo } from '../../packages/demo/src/startDemo.ts';
import { openSqliteStore } from '../../packages/service/src/store/engine/sqlite/sqlite.ts';
import { INVARIANTS } from '../../packages/service/src/store/upkeep/contract.ts';
import { readSqliteLedger } from '../faults/ledger.ts';

const API_KEY = 'story_demo_key_0123456789';
const HOURS = 3;

let folder: string;
let demo: Demo;
let service: Service | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-demo-'));
  demo = await startDemo({ folder, hours: HOURS });
});

afterAll(async () => {
  await service?.stop();
  await demo?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('the ledger is consistent and is not overwritten', async () => {
  const store = await openSqliteStore(folder);
  for (const invariant of INVARIANTS) {
    let after: string | undefined;
    do {
      const look = { keptMs: 7 * 24 * 3_600_000, after, again: [] };
      const { violations, next } = await store.findViolations(invariant, look);
      expect(violations).toEqual([]);
      after = next;
    } while (after !== undefined);
  }
  await store.close();
  await expect(startDemo({ folder, hours: 1 })).rejects.toThrow('already has a ledger');
});

test('the service continues from the last block and counts the seeded deliveries', async () => {
  service = await startService({
    port: 0,
    host: '127.0.0.1',
    dataFolder: folder,
    apiKey: API_KEY,
    chains: demo.chains,
    aptos: demo.aptos,
    allowPrivateEndpoints: true,
  });
  const sluice = createSluiceClient({ baseUrl: service.url, apiKey: API_KEY });
  await expect
    .poll(async () => (await sluice.listChains()).map(({ state }) => state), { timeout: 20_000 })
    .toEqual(['live', 'live', 'live']);
  const ledger = readSqliteLedger(folder);
  expect(await ledger.value('select count(*) from block where number > 0')).toBe(3 * 256);

  const [written] = await ledger.rows<{ delivered: number; failed: number }>(`
    select sum(error is null) as delivered, sum(error is not null) as failed from attempt`);
  const streams = await sluice.listStreamSummaries();
  const sum = (read: (stream: (typeof streams)[number]) => number): number =>
    streams.reduce((total, stream) => total + read(stream), 0);
  // Counts every minute, not only whole hours.
  expect(sum(({ delivered24h }) => delivered24h)).toBeGreaterThanOrEqual(written!.delivered * 0.99);
  expect(sum(({ failedAttempts24h }) => failedAttempts24h)).toBeGreaterThanOrEqual(
    written!.failed * 0.99,
  );
  expect(new Set(streams.map(({ status }) => status))).toEqual(
    new Set(['active', 'paused', 'error']),
  );
  const timelines = await sluice.listTimelines({ streamIds: streams.map(({ id }) => id) });
  const base = timelines.flatMap(({ chains }) =>
    chains.filter(({ chainId }) => chainId === '0x2105'),
  );
  expect(base.some(({ blocks }) => blocks.some(({ removed }) => removed))).toBe(true);
});
