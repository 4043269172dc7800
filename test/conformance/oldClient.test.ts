/**
 * Tests the unmodified official npm client of 2022 (2.7.4), which repeats path parameters in the
 * query of nearly every call, and adds `network`, `chains[]` and `type`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import { type WebhookSink, startWebhookSink } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

interface ClientResponse {
  readonly raw: unknown;
}
type Call = (options: Record<string, unknown>) => Promise<ClientResponse>;
type OldStreams = Record<
  | 'add'
  | 'update'
  | 'delete'
  | 'getAll'
  | 'getById'
  | 'updateStatus'
  | 'addAddress'
  | 'getAddresses'
  | 'deleteAddress'
  | 'getHistory'
  | 'getStatsById',
  Call
>;

const require = createRequire(new URL('../peers/package.json', import.meta.url));
const HOSTED = 'https://api.moralis-streams.com';
const ADDRESS = '0xab5801a7d398351b8be11c439e05c5b3259aec9b';

const folder = mkdtempSync(join(tmpdir(), 'sluice-old-client-'));
/** Path of each request, and the names of its query parameters. */
const sent: string[] = [];
let sink: WebhookSink;
let service: Served;
let kit: Client;
let streams: OldStreams;

beforeAll(async () => {
  sink = await startWebhookSink();
  service = await serve(['--data', join(folder, 'data')]);
  kit = createClient({ apiKey: API_KEY, baseUrl: service.url });
  const ofOldClient = createRequire(require.resolve('moralis-2022'));
  const axios = createRequire(ofOldClient.resolve('@moralisweb3/core'))('axios') as {
    interceptors: {
      request: { use(change: (config: { url: string }) => { url: string }): void };
    };
  };
  axios.interceptors.request.use((config) => {
    const path = config.url.replace(HOSTED, '');
    const { params } = config as { params?: object };
    sent.push([path, ...Object.keys(params ?? {})].join(' '));
    return { ...config, url: service.url + path, proxy: false };
  });
  const { default: Moralis } = ofOldClient('moralis-2022') as {
    default: { Streams: OldStreams; start(config: object): Promise<void> };
  };
  await Moralis.start({ apiKey: API_KEY });
  streams = Moralis.Streams;
});
afterAll(async () => {
  await service?.stop();
  await sink?.close();
  rmSync(folder, { recursive: true });
});

test('a PUT of an address, as before client 2.6.3, is rejected and changes nothing', async () => {
  const { id } = await kit.streams.create({
    webhookUrl: `${sink.url}/`,
    description: 'beta',
    tag: 'beta',
    chainIds: ['0x1'],
  });
  await kit.streams.addAddress(id, ADDRESS);
  const other = ADDRESS.replaceAll('a', 'b');
  const response = await fetch(`${service.url}/streams/evm/${id}/address`, {
    method: 'PUT',
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ address: other }),
  });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')?.split(', ').toSorted()).toEqual([
    ...['DELETE', 'GET', 'PATCH', 'POST'],
  ]);
  expect(((await response.json()) as { message: string }).message).toMatch(/: use .*POST/);
  expect((await kit.streams.listAddresses(id)).result.map(({ address }) => address)).toEqual([
    ADDRESS,
  ]);
  await kit.streams.delete(id);
});

test('all calls of the old client for a stream work', async () => {
  const network = 'evm';
  const fields = {
    network,
    chains: ['0x1'],
    type: 'wallet',
    address: ADDRESS,
    webhookUrl: `${sink.url}/`,
    description: 'old',
    tag: 'old',
    includeNativeTxs: true,
  };
  const { id } = (await streams.add(fields)).raw as { id: string };
  expect(await kit.streams.get(id)).toMatchObject({ description: 'old', includeNativeTxs: true });
  await streams.addAddress({ id, network, address: ADDRESS });
  expect((await streams.getAddresses({ id, network, limit: 10 })).raw).toMatchObject({
    result: [{ address: ADDRESS }],
    total: 1,
  });
  expect((await streams.getAll({ network, limit: 10 })).raw).toMatchObject({ result: [{ id }] });
  // For `getById`, the client requests the list with the id in the query, and receives the list.
  expect((await streams.getById({ id, network })).raw).toMatchObject({ result: [{ id }] });
  await streams.update({ id, ...fields, description: 'new' });
  expect((await streams.updateStatus({ id, network, status: 'paused' })).raw).toMatchObject({
    id,
    status: 'paused',
    description: 'new',
  });
  expect((await streams.getHistory({ limit: 10 })).raw).toMatchObject({ result: [] });
  expect((await streams.getStatsById({ streamId: id })).raw).toMatchObject({
    totalWebhooksDelivered: 0,
  });
  await streams.deleteAddress({ id, network, address: ADDRESS });
  expect((await kit.streams.listAddresses(id)).total).toBe(0);
  await streams.delete({ id, network });
  expect((await kit.streams.list()).total).toBe(0);
  // Checks that the client did repeat the id in the query.
  expect(sent.filter((each) => / id\b/.test(each)).length).toBeGreaterThan(5);
});
