/**
 * Tests a flood of unauthenticated calls: callers with a key get responses, webhooks arrive, and
 * the audit log has one line about the flood.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import {
  type RunningScriptedChain,
  type WebhookSink,
  scripted,
  startScriptedChain,
  startWebhookSink,
} from '@sluice/testkit';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const TOKEN = '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35';
const ALICE = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const BOB = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const REQUESTS = 10_000;
const AT_ONCE = 50;
const WEBHOOKS = 5;
const VALID_CALLS = 50;

const folder = mkdtempSync(join(tmpdir(), 'sluice-flood-'));
let chain: RunningScriptedChain;
let sink: WebhookSink;
let service: Served;

beforeAll(async () => {
  chain = await startScriptedChain();
  sink = await startWebhookSink();
  service = await serve([
    ...['--data', join(folder, 'data'), '--min-free-mib', '0'],
    ...['--chain', `0x7a69=${chain.wsUrl},confirmations=1,poll=100`],
  ]);
});
afterAll(async () => {
  await service?.stop();
  await sink?.close();
  await chain?.stop();
  rmSync(folder, { recursive: true });
});

/** Calls without a key, or with a wrong key or session, to routes and to an unknown path. */
const strangers = [
  { method: 'GET', path: '/streams/evm' },
  { method: 'GET', path: '/streams/evm', headers: { 'x-api-key': 'wrong-key-of-16-characters' } },
  {
    method: 'GET',
    path: '/sluice/chains',
    headers: { cookie: 'sluice_session=bootstrap.9e99.a.b' },
  },
  { method: 'PUT', path: '/streams/evm', body: '{'.repeat(10_000) },
  { method: 'POST', path: '/sluice/session', body: '{"apiKey":"wrong-key-of-16-characters"}' },
  { method: 'GET', path: '/no/such/path' },
] as const;

test('a flood of unauthenticated calls delays neither calls with a key nor webhooks', async () => {
  const client = createClient({ apiKey: API_KEY, baseUrl: service.url, maxRetries: 0 });
  const { id } = await client.streams.create({
    webhookUrl: `${sink.url}/flooded`,
    description: '',
    tag: 'flooded',
    chainIds: ['0x7a69'],
    includeContractLogs: true,
    deliver: 'confirmed',
    headers: { 'x-token': 'of the receiver' },
  });
  await client.streams.addAddress(id, ALICE);
  sink.clear();

  const pool = new Pool(service.url, { connections: AT_ONCE });
  const counts = new Map<number, number>();
  let sent = 0;
  let othersAreDone = false;
  const flood = async (): Promise<void> => {
    while (sent < REQUESTS || !othersAreDone) {
      const stranger = strangers[sent++ % strangers.length]!;
      const { statusCode, body } = await pool.request(stranger);
      await body.dump();
      counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1);
    }
  };
  const beganAt = performance.now();
  const flooding = Promise.all(Array.from({ length: AT_ONCE }, flood));

  try {
    const isFlooded = (): boolean => counts.get(429) !== undefined;
    await expect.poll(isFlooded, { timeout: 60_000 }).toBe(true);
    for (let n = 0; n < VALID_CALLS; n++) expect((await client.streams.get(id)).id).toBe(id);
    for (let n = 1; n <= WEBHOOKS; n++) {
      chain.mine({
        transactions: [
          scripted.erc20Transfer({ token: TOKEN, from: ALICE, to: BOB, value: BigInt(n) }),
        ],
      });
    }
    chain.mine();
    const arrived = (): number =>
      sink.requests.filter(
        ({ path, headers }) => path === '/flooded' && headers['x-token'] === 'of the receiver',
      ).length;
    await expect.poll(arrived, { timeout: 60_000 }).toBe(WEBHOOKS);
  } finally {
    othersAreDone = true;
    await flooding;
    await pool.close();
  }

  expect(new Set(counts.keys())).toEqual(new Set([401, 404, 429]));
  // The rate limit of an IP address allows a burst, and then a steady rate.
  const seconds = (performance.now() - beganAt) / 1000;
  expect(sent - (counts.get(429) ?? 0)).toBeLessThanOrEqual(1_001 + 100 * seconds);
  const { result } = await createSluiceClient({
    apiKey: API_KEY,
    baseUrl: service.url,
  }).listAudit();
  expect(result.filter(({ action }) => action === 'authFailures')).toHaveLength(1);
  expect(service.output()).not.toMatch(/ error /);
});
