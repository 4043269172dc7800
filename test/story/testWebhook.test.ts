/** Tests when a test webhook is sent, and its body (docs/contract.md, "Test webhook"). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, verifySignature } from '@sluice/kit';
import { type WebhookSink, startWebhookSink } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-test-webhook-'));
let service: Served;
let sink: WebhookSink;

beforeAll(async () => {
  sink = await startWebhookSink();
  service = await serve(['--data', join(folder, 'data')]);
});
afterAll(async () => {
  await service.stop();
  await sink.close();
  rmSync(folder, { recursive: true });
});

test('the test webhook counts towards --max-per-host', async () => {
  const bound = await serve(['--data', join(folder, 'bound'), '--max-per-host', '1']);
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: bound.url, maxRetries: 0 });
  const create = (n: number) =>
    streams.create({
      webhookUrl: `${sink.url}/bound`,
      description: 'd',
      tag: `bound ${n}`,
      chainIds: ['0x1'],
    });
  const created = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => create(n)));
  const refused = created.filter((each) => each.status === 'rejected');
  const times = sink.requests
    .filter(({ path }) => path === '/bound')
    .map(({ receivedAt }) => receivedAt);
  expect(times).toHaveLength(created.length - refused.length);
  // A call that would wait for more than five turns is refused.
  expect(times.length).toBeGreaterThanOrEqual(6);
  expect(refused.length).toBeGreaterThanOrEqual(10);
  for (const { reason } of refused) expect(JSON.stringify(reason)).toContain('--max-per-host 1');
  // Expects at least half of the duration that the limit implies, because a busy machine receives
  // some requests late.
  expect(times.at(-1)! - times[0]!).toBeGreaterThan((times.length - 1) * 500);
  expect(await bound.stop()).toBe(0);
  sink.clear();
});

test('a change of the stream during the test webhook is kept', async () => {
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: service.url, maxRetries: 0 });
  const { id } = await streams.create({
    webhookUrl: `${sink.url}/before`,
    description: 'd',
    tag: 'concurrent',
    chainIds: ['0x1'],
    includeNativeTxs: true,
    maxInFlight: 4,
  });
  const tests = () => sink.requests.filter(({ path }) => path === '/after').length;
  sink.respond({ delayMs: 2_000 }, { path: '/after' });
  const moving = streams.update(id, { webhookUrl: `${sink.url}/after`, maxInFlight: 2 });
  await expect.poll(tests).toBe(1);
  await streams.update(id, { includeContractLogs: true, maxPerSecond: 7 });
  await moving;
  expect(tests()).toBe(1);
  expect(await streams.get(id)).toMatchObject({
    webhookUrl: `${sink.url}/after`,
    maxInFlight: 2,
    maxPerSecond: 7,
    includeNativeTxs: true,
    includeContractLogs: true,
  });
  sink.clear();
});

test("64 updates at once keep each other's fields", async () => {
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: service.url, maxRetries: 0 });
  const { id } = await streams.create({
    webhookUrl: `${sink.url}/many`,
    description: 'd',
    tag: 'many',
    chainIds: ['0x1'],
    includeNativeTxs: true,
  });
  const changes = [
    { maxInFlight: 3 },
    { maxPerSecond: 7 },
    { includeContractLogs: true },
    { includeInternalTxs: true },
  ];
  await Promise.all(Array.from({ length: 64 }, (_, n) => streams.update(id, changes[n % 4]!)));
  expect(await streams.get(id)).toMatchObject(Object.assign({}, ...changes));
  sink.clear();
});

test('the test webhook is not sent to http: URLs with --https-only, which also rejects them for alerts', async () => {
  const strict = await serve([
    '--data',
    join(folder, 'strict'),
    '--https-only',
    '--allow-node-changes',
  ]);
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: strict.url, maxRetries: 0 });
  const stream = { description: 'd', tag: 'strict', chainIds: ['0x1'] };
  const webhookUrl = `${sink.url}/strict`;
  await expect(streams.create({ ...stream, webhookUrl })).rejects.toThrow(/--https-only/);
  const { id } = await streams.create({ ...stream, webhookUrl: 'sluice://inbox/strict' });
  await expect(streams.update(id, { webhookUrl })).rejects.toThrow(/--https-only/);
  const alertUrl = await fetch(`${strict.url}/sluice/alert-urls`, {
    method: 'POST',
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ url: webhookUrl }),
  });
  expect(await alertUrl.text()).toContain('--https-only');
  expect(alertUrl.status).toBe(422);
  expect(sink.requests).toEqual([]);
  expect(await strict.stop()).toBe(0);
});

test('the test webhook is sent on create, on an update with a URL, and when a paused stream becomes active', async () => {
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: service.url });
  const seen = (): string[] => sink.requests.map((request) => request.path);

  const { id } = await streams.create({
    webhookUrl: `${sink.url}/first`,
    description: 'd',
    tag: 't',
    chainIds: ['0x1'],
  });
  expect(seen()).toEqual(['/first']);
  await streams.update(id, { description: 'another', includeNativeTxs: true });
  expect(seen()).toEqual(['/first']);
  await streams.update(id, { webhookUrl: `${sink.url}/second` });
  expect(seen()).toEqual(['/first', '/second']);
  await streams.setStatus(id, 'paused');
  await streams.setStatus(id, 'paused');
  expect(seen()).toHaveLength(2);
  await streams.setStatus(id, 'active');
  await streams.setStatus(id, 'active');
  expect(seen()).toEqual(['/first', '/second', '/second']);

  expect(new Set(sink.requests.map((request) => request.id)).size).toBe(3);
  for (const { body, headers } of sink.requests) {
    // The body equals that of the hosted service byte for byte.
    expect(body).toBe(
      '{"abi":[],"block":{"number":"","hash":"","timestamp":""},"txs":[],"txsInternal":[],"logs":[],"chainId":"","confirmed":true,"retries":0,"tag":"","streamId":"","erc20Approvals":[],"erc20Transfers":[],"nftTokenApprovals":[],"nftApprovals":{"ERC721":[],"ERC1155":[]},"nftTransfers":[],"nativeBalances":[]}',
    );
    expect(
      verifySignature({ body, signature: String(headers['x-signature']), secret: SECRET }),
    ).toBe(true);
  }
});
