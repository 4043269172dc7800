/**
 * Tests that the ledger of `sluice dev --seed demo` is consistent, and that the service continues
 * from its last block.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EvmWebhook } from '@sluice/kit';
import { createSluiceClient, type SluiceClient } from '@sluice/kit/sluice';
import { startService, type Service } from '@sluice/service';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo, type Demo } from '../../packages/demo/src/startDemo.ts';
import { openSqliteStore } from '../../packages/service/src/store/engine/sqlite/sqlite.ts';
import { INVARIANTS } from '../../packages/service/src/store/integrity/contract.ts';
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

/** Starts the service on the ledger, waits until all chains are live, and returns a client. */
async function startLive(): Promise<SluiceClient> {
  service = await startService({
    port: 0,
    host: '127.0.0.1',
    data: folder,
    apiKey: API_KEY,
    chains: demo.chains,
    aptos: demo.aptos,
    allowPrivateEndpoints: true,
  });
  const sluice = createSluiceClient({ baseUrl: service.url, apiKey: API_KEY });
  await expect
    .poll(async () => (await sluice.listChains()).map(({ state }) => state), { timeout: 20_000 })
    .toEqual(['live', 'live', 'live']);
  return sluice;
}

test('the ledger is consistent', async () => {
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
});

test('a ledger of something else is not overwritten', async () => {
  const other = await mkdtemp(join(tmpdir(), 'sluice-demo-'));
  await (await openSqliteStore(other)).close();
  await expect(startDemo({ folder: other, hours: 1 })).rejects.toThrow('--seed demo did not write');
  await rm(other, { recursive: true });
});

test('the service continues from the last block and counts the seeded deliveries', async () => {
  const sluice = await startLive();
  const ledger = readSqliteLedger(folder);
  expect(await ledger.value('select count(*) from block where number > 0')).toBe(3 * 256);

  const [written] = await ledger.rows<{ delivered: number; failed: number }>(`
    select sum(error is null) as delivered, sum(error is not null) as failed from attempt`);
  const streams = await sluice.listStreamSummaries();
  const sum = (read: (stream: (typeof streams)[number]) => number): number =>
    streams.reduce((total, stream) => total + read(stream), 0);
  // The counts must include the incomplete hours at the start and the end of the last 24 hours.
  expect(sum(({ delivered24h }) => delivered24h)).toBeGreaterThanOrEqual(written!.delivered * 0.99);
  expect(sum(({ failedAttempts24h }) => failedAttempts24h)).toBeGreaterThanOrEqual(
    written!.failed * 0.99,
  );
  expect(new Set(streams.map(({ status }) => status))).toEqual(
    new Set(['active', 'paused', 'error']),
  );
  const { id } = streams.find(({ tag }) => tag === 'deposits')!;
  const [delivery] = (await sluice.listDeliveries({ streamId: id, limit: 1 })).result;
  const { logs } = JSON.parse(await sluice.getDeliveryBody(delivery!.id)) as EvmWebhook;
  expect(logs).not.toEqual([]);
  for (const { topic2, triggered_by: watched } of logs) {
    expect(watched?.map((address) => address.slice(2))).toEqual([topic2?.slice(26)]);
  }
  const timelines = await sluice.listTimelines({ streamIds: streams.map(({ id }) => id) });
  const base = timelines.flatMap(({ chains }) =>
    chains.filter(({ chainId }) => chainId === '0x2105'),
  );
  expect(base.some(({ blocks }) => blocks.some(({ removed }) => removed))).toBe(true);
});

test('a second start continues the ledger, with the same receiver', async () => {
  const ledger = readSqliteLedger(folder);
  const read = async () => ({
    deliveries: await ledger.value('select count(*) from delivery'),
    heads: await ledger.rows<{ number: number }>('select number from checkpoint order by chain'),
  });
  await service!.stop();
  await demo.stop();
  const before = await read();
  demo = await startDemo({ folder, hours: HOURS });
  expect(demo.deliveries).toBeUndefined();
  const sluice = await startLive();
  demo.startActivity();
  await expect
    .poll(async () => (await read()).deliveries, { timeout: 20_000 })
    .toBeGreaterThan(before.deliveries);
  const { heads } = await read();
  heads.forEach(({ number }, at) => {
    expect(number).toBeGreaterThanOrEqual(before.heads[at]!.number);
  });
  await expect
    .poll(async () => (await sluice.listDeliveries({ limit: 5 })).result.map(({ state }) => state))
    .toContain('succeeded');
  // The second start begins new chains. The blocks of the first chains must not appear as removed.
  const streams = await sluice.listStreamSummaries();
  const timelines = await sluice.listTimelines({ streamIds: streams.map(({ id }) => id) });
  const blocks = timelines.flatMap(({ chains }) => chains.flatMap((chain) => chain.blocks));
  expect(blocks.filter(({ removed }) => removed)).toEqual([]);
});
