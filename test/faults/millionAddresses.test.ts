/**
 * Tests that lists of a million addresses are added, replaced and removed atomically in a single
 * call, while the service responds to other calls.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import type { AddressesResponse } from '@sluice/kit/contract';
import { type Anvil, type WebhookSink, startAnvil, startWebhookSink, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const MILLION = 1_000_000;

const folder = mkdtempSync(join(tmpdir(), 'sluice-addresses-'));
const data = ['--data', join(folder, 'data')];
let anvil: Anvil;
let sink: WebhookSink;
let service: Served;

beforeAll(async () => {
  anvil = await startAnvil();
  sink = await startWebhookSink();
  data.push('--chain', `${CHAIN}=${anvil.url},poll=50`);
  service = await serve(data);
});
afterAll(async () => {
  await service?.stop();
  await anvil?.stop();
  await sink?.close();
  rmSync(folder, { recursive: true });
});

const clientOf = ({ url }: Served) =>
  createClient({ apiKey: API_KEY, baseUrl: url, timeoutMs: 170_000 });
const createStream = async () =>
  clientOf(service).streams.create({
    webhookUrl: sink.url,
    description: 'many addresses',
    tag: 'many',
    chainIds: [CHAIN],
    includeNativeTxs: true,
  });

/** Returns the nth address. The addresses are not sorted, as in real lists. */
const address = (n: number): string =>
  `0x${(Math.imul(n + 1, 0x9e37_79b1) >>> 0).toString(16).padStart(8, '0')}${n.toString(16).padStart(32, '0')}`;
/** The addresses of all tests, as in JSON. */
const addresses = Array.from({ length: MILLION + 1_000 }, (_, n) => `"${address(n)}"`);
const list = (from: number, to: number): string => addresses.slice(from, to).join();

interface RawResponse {
  status: number;
  text: string;
}

/**
 * Sends a request over a new connection, because the service may close an idle one while this
 * process builds a list.
 */
async function call(method: string, path: string, body = ''): Promise<RawResponse> {
  const request = httpRequest(`${service.url}${path}`, {
    method,
    agent: false,
    headers: {
      'x-api-key': API_KEY,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await readText(response) };
}

const send = (method: string, id: string, body: string): Promise<RawResponse> =>
  call(method, `/streams/evm/${id}/address`, body);

/**
 * Checks that the response repeats the addresses as sent, and returns the parsed response without
 * them. Does not use `toEqual`, because its failure message would contain two million addresses.
 */
function expectGivenBack(response: RawResponse, address: string): AddressesResponse {
  expect(response.status, response.text.slice(0, 300)).toBe(200);
  const isSame = response.text.includes(`"address":${address},"effectiveFrom":`);
  expect(isSame, 'the response repeats the addresses as sent').toBe(true);
  const brief = response.text.replace(address, 'null');
  return JSON.parse(brief) as AddressesResponse;
}

test('adds, replaces and removes a million in one call each, while other calls are served', async () => {
  const { id } = await createStream();
  const { streams } = clientOf(service);
  let healthy = 0;
  let done = false;
  const others = (async () => {
    while (!done) {
      if ((await call('GET', '/health')).status === 200) healthy++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();

  const all = `[${list(0, MILLION)}]`;
  const added = expectGivenBack(await send('POST', id, `{"address":${all}}`), all);
  expect(added.effectiveFrom?.[CHAIN]).toBeGreaterThanOrEqual(1);
  expect((await streams.get(id)).amountOfAddresses).toBe(MILLION);
  const first = await streams.listAddresses(id, { limit: 3 });
  const sorted = addresses.slice(0, MILLION).toSorted();
  expect(first.result.map((row) => `"${row.address}"`)).toEqual(sorted.slice(0, 3));
  expect(first.total).toBe(MILLION);

  const others1 = `[${list(1_000, MILLION + 1_000)}]`;
  expectGivenBack(await send('PATCH', id, `{"address":${others1}}`), others1);
  expect((await streams.get(id)).amountOfAddresses).toBe(MILLION);

  const missing = await send('DELETE', id, `{"address":[${list(1_000, 9_000)},"${address(5)}"]}`);
  expect(missing.status).toBe(404);
  expect((await streams.get(id)).amountOfAddresses).toBe(MILLION);

  expectGivenBack(await send('DELETE', id, `{"address":${others1}}`), others1);
  expect((await streams.get(id)).amountOfAddresses).toBe(0);
  done = true;
  await others;
  // Asserts only that the service kept responding, not how fast.
  expect(healthy).toBeGreaterThan(50);
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'));
  expect(Number(peak?.[1]) / 1024).toBeLessThan(1_500);
}, 300_000);

test('the service watches acknowledged addresses from the block in the response', async () => {
  const { id } = await createStream();
  const client = clientOf(service);
  await send('POST', id, `{"address":[${list(0, 20_000)}]}`);
  const watched = anvil.accounts[6]!.address.toLowerCase();
  const change = expectGivenBack(
    await send('POST', id, `{"address":[${list(20_000, 40_000)},"${watched}"]}`),
    `[${list(20_000, 40_000)},"${watched}"]`,
  );
  const transfer = await anvil.request<string>('eth_sendTransaction', [
    { from: anvil.accounts[0]!.address, to: watched, value: '0x1' },
  ]);
  const webhook = await until('the transfer is delivered', () =>
    sink.requests
      .map((request) => JSON.parse(request.body) as { streamId: string; txs: { hash: string }[] })
      .find((body) => body.streamId === id && body.txs.some((each) => each.hash === transfer)),
  );
  expect(webhook.txs).toHaveLength(1);
  expect(change.effectiveFrom?.[CHAIN]).toBeGreaterThanOrEqual(0);
  await client.streams.delete(id);
});

test('an import resumes where kill -9 interrupted it, and adds each address once', async () => {
  const { id: streamId } = await createStream();
  const imported = Array.from({ length: 8_000 }, (_, n) => ({
    address: address(n),
    ...(n % 2 === 0 && { label: `customer ${n}` }),
  }));
  const importFrom = (from: number, onProgress: (done: number) => void): Promise<void> =>
    createSluiceClient({ apiKey: API_KEY, baseUrl: service.url, maxRetries: 0 }).importAddresses({
      streamId,
      family: 'evm',
      addresses: imported,
      from,
      onProgress,
    });
  let done = 0;
  let killed: Promise<void> | undefined;
  const cut = importFrom(0, (now) => {
    done = now;
    // The service is killed while the next part is in flight.
    if (now >= 1_000) killed ??= new Promise((go) => setTimeout(go, 10)).then(service.kill);
  });
  await expect(cut).rejects.toMatchObject({ code: 'network_error' });
  await killed;
  service = await serve(data);
  await importFrom(done, () => {});
  const { streams } = clientOf(service);
  const found = new Map<string, string | undefined>();
  for await (const each of streams.listAddresses(streamId)) found.set(each.address, each.label);
  const wanted = imported.map(({ address: each, label }) => [each, label] as const);
  expect(found.size).toBe(imported.length);
  expect(wanted.filter(([each, label]) => !found.has(each) || found.get(each) !== label)).toEqual(
    [],
  );
  expect((await streams.get(streamId)).amountOfAddresses).toBe(imported.length);
}, 120_000);

test('kill -9 while a list is staged discards it, and the next change succeeds', async () => {
  const { id } = await createStream();
  const first = `{"address":["${address(1)}","${address(2)}"],"labels":{"${address(1)}":"one"}}`;
  await send('POST', id, first);
  const before = await clientOf(service).streams.listAddresses(id);
  expect(before.result.map((row) => row.label)).toContain('one');

  const large = `{"address":[${list(10, 600_000)}]}`;
  for (const waitMs of [300, 700, 1_200]) {
    await until('the interrupted change is abandoned, and the next one succeeds', async () => {
      const { status } = await send('PATCH', id, first);
      return status === 200;
    });
    const cut = send('PATCH', id, large).catch(() => 'cut off');
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    await service.kill();
    expect(await cut).toBe('cut off');
    service = await serve(data);
    const after = await clientOf(service).streams.listAddresses(id);
    expect(after.result).toEqual(before.result);
    expect(after.total).toBe(2);
  }
  const added = await until('the next change succeeds', async () => {
    const response = await send('POST', id, `{"address":"${address(3)}"}`);
    return response.status === 200 && response;
  });
  expect(added.text).toContain(`"address":"${address(3)}"`);
  expect((await clientOf(service).streams.get(id)).amountOfAddresses).toBe(3);
}, 120_000);
