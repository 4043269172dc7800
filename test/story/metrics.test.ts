/** Tests the Prometheus metrics of a service under real traffic. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { type Anvil, type WebhookSink, startAnvil, startWebhookSink, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-metrics-'));
let anvil: Anvil;
let sink: WebhookSink;
let served: Served;

beforeAll(async () => {
  anvil = await startAnvil();
  sink = await startWebhookSink();
  served = await serve(['--data', folder, '--chain', `0x7a69=${anvil.url},poll=50`]);
});
afterAll(async () => {
  await served?.stop();
  await sink?.close();
  await anvil?.stop();
  rmSync(folder, { recursive: true });
});

const CHAIN = '{chain="0x7a69"}';

/** Waits until all mined blocks are committed. */
const stands = async (): Promise<void> => {
  const head = Number(await anvil.request('eth_blockNumber', []));
  const health = async () => {
    const answer = await fetch(`${served.url}/health`);
    return (await answer.json()) as { chains: { checkpoint: number }[] };
  };
  await until(
    'the checkpoint is at the head',
    async () => (await health()).chains[0]?.checkpoint === head,
  );
  expect((await values()).get(`sluice_chain_head_lag_blocks${CHAIN}`)).toBe(0);
};

const read = async (headers: Record<string, string>): Promise<Response> =>
  fetch(`${served.url}/metrics`, { headers });

/** Returns the values by name and labels. */
async function values(): Promise<Map<string, number>> {
  const text = await (await read({ authorization: `Bearer ${API_KEY}` })).text();
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
}

test('requires the key, as `x-api-key` or as a bearer token', async () => {
  expect((await read({})).status).toBe(401);
  expect((await read({ authorization: 'Bearer wrong' })).status).toBe(401);
  const answer = await read({ 'x-api-key': API_KEY });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
});

/** The architecture page and operators' dashboards use these names. */
const NAMES = [
  'sluice_chain_head_lag_blocks',
  'sluice_database_oldest_transaction_age_seconds',
  'sluice_delivery_attempts_total',
  'sluice_delivery_duplicates_suspected_total',
  'sluice_deliveries_in_flight',
  'sluice_delivery_latency_seconds',
  'sluice_delivery_leases_expired_total',
  'sluice_delivery_queue_age_seconds',
  'sluice_circuit_breakers',
  'sluice_event_loop_lag_seconds',
  'sluice_integrity_violations',
  'sluice_reorg_depth_blocks',
  'sluice_rpc_disagreements',
  'sluice_ssrf_blocked_total',
];

test('exposes every metric, each with help and documentation', async () => {
  const text = await (await read({ 'x-api-key': API_KEY })).text();
  const told = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  for (const name of NAMES) {
    expect(text).toContain(`# TYPE ${name} `);
    expect(told).toMatch(new RegExp(`^\\| \`${name}[{\`]`, 'm'));
  }
});

test('counts attempts, lag and reorgs', async () => {
  const client = createClient({ apiKey: API_KEY, baseUrl: served.url });
  const watched = anvil.accounts[4]!.address;
  await until(
    'the chain is live',
    async () => (await values()).get(`sluice_chain_up${CHAIN}`) === 1,
  );
  const { id } = await client.streams.create({
    webhookUrl: `${sink.url}/hook`,
    description: '',
    tag: 'metrics',
    chainIds: ['0x7a69'],
    includeNativeTxs: true,
  });
  await client.streams.addAddress(id, watched);
  sink.respond([404, 200]);
  for (let n = 0; n < 2; n++) {
    await anvil.request('eth_sendTransaction', [
      { from: anvil.accounts[0]!.address, to: watched, value: '0x1' },
    ]);
  }
  const delivered = 'sluice_delivery_attempts_total{result="succeeded",code_class="2xx"}';
  await until('one is delivered', async () => ((await values()).get(delivered) ?? 0) >= 1);
  const now = await values();
  expect(now.get('sluice_delivery_attempts_total{result="failed",code_class="4xx"}')).toBe(1);
  expect(now.get('sluice_delivery_latency_seconds_count')).toBe(now.get(delivered));
  expect(now.get('sluice_deliveries_in_flight')).toBe(0);
  expect(now.get('sluice_delivery_queue_age_seconds')).toBe(0);
  expect(now.get('sluice_circuit_breakers{state="open"}')).toBe(0);

  const snapshot = await anvil.request<string>('evm_snapshot', []);
  await anvil.request('anvil_mine', ['0x3']);
  await stands();
  await anvil.request('evm_revert', [snapshot]);
  await anvil.request('evm_increaseTime', [100]);
  await anvil.request('anvil_mine', ['0x4']);
  await until('the reorg is counted', async () =>
    (await values()).get(`sluice_reorg_depth_blocks_count${CHAIN}`),
  );
  expect((await values()).get(`sluice_reorg_depth_blocks_sum${CHAIN}`)).toBe(3);
  await stands();
  const violations = [...(await values())].filter(([name]) => name.startsWith('sluice_integrity'));
  expect(violations.length).toBeGreaterThan(5);
  expect(violations.filter(([, count]) => count !== 0)).toEqual([]);
});
