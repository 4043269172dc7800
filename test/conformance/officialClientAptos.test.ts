/** Tests the nine Aptos calls of the unmodified official client and the kit. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { type Client, createClient } from '@sluice/kit';
import { APTOS_CHAINS, type DeliveryLog } from '@sluice/kit/contract';
import { CALLS } from '@sluice/kit/calls';
import { type WebhookSink, startWebhookSink } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';
import {
  type OfficialAptosStreams,
  type OfficialStreams,
  startOfficialClient,
} from './officialClient.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const aptos = { networkType: 'aptos' } as const;
const ONE = `0x${'1'.padStart(64, '0')}`;
const WALLET = '0x54ad3d30af77b60d939ae356e6606de9a4da67583f02b962d2d3f2e481484e90';

/** Log rows, one per chain family. */
const LOGS: DeliveryLog[] = [APTOS_CHAINS.mainnet, '0x1'].map((chain) => ({
  id: UNKNOWN_ID,
  streamId: UNKNOWN_ID,
  chain,
  webhookUrl: 'https://example.com/hook',
  tag: 'tag',
  retries: 0,
  deliveryStatus: 'success',
  blockNumber: 5,
  errorMessage: '',
  type: chain === '0x1' ? 'evm' : 'aptos',
  createdAt: '2026-01-01T00:00:00.000Z',
}));

const folder = mkdtempSync(join(tmpdir(), 'sluice-official-aptos-'));
let sink: WebhookSink;
let service: Served;
let front: Server;
let evm: OfficialStreams;
let streams: OfficialAptosStreams;
let kit: Client;

beforeAll(async () => {
  sink = await startWebhookSink();
  service = await serve(['--data', join(folder, 'data')]);
  // A proxy that returns prepared logs, because a service without sources has none. It forwards all
  // other requests to the service.
  front = createServer((request, response) => {
    void (async () => {
      if (request.url?.startsWith('/history/logs')) {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ result: LOGS, total: LOGS.length, page_size: LOGS.length }));
        return;
      }
      const { method = '', headers } = request;
      const body = method === 'GET' ? null : await readText(request);
      const received = await fetch(service.url + request.url, {
        method,
        headers: { 'x-api-key': String(headers['x-api-key']), 'content-type': 'application/json' },
        body,
      });
      response.writeHead(received.status, { 'content-type': 'application/json' });
      response.end(await received.text());
    })();
  });
  await new Promise<void>((resolve) => {
    front.listen(0, '127.0.0.1', resolve);
  });
  const official = await startOfficialClient({
    baseUrl: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    apiKey: API_KEY,
    streamsSecret: SECRET,
  });
  evm = official.streams;
  streams = official.streams as unknown as OfficialAptosStreams;
  kit = createClient({ apiKey: API_KEY, baseUrl: service.url });
});
afterEach(async () => {
  for await (const { id } of kit.streams.list(aptos)) await kit.streams.delete(id, aptos);
});
afterAll(async () => {
  front?.closeAllConnections();
  front?.close();
  expect(await service?.stop()).toBe(0);
  await sink?.close();
  rmSync(folder, { recursive: true });
});

const wanted = (tag: string) => ({
  webhookUrl: `${sink.url}/${tag}`,
  description: `the ${tag} stream`,
  tag,
  network: ['mainnet', '2'] as ('mainnet' | '2')[],
  events: ['0x1::coin::WithdrawEvent'],
  includeEvents: true,
});

test('a stream is created, tested with an Aptos body, read, listed, updated and deleted', async () => {
  const added = await streams.add({ ...aptos, ...wanted('life') });
  expect(() => CALLS.getAptosStream.response.parse(added.raw)).not.toThrow();
  const { id } = added.result;
  expect(added.raw).toMatchObject({
    network: ['mainnet', 'testnet'],
    events: ['0x1::coin::WithdrawEvent'],
    functions: [],
    includeEvents: true,
    includePayload: false,
    status: 'active',
    isErrorSince: null,
    amountOfAddresses: 0,
  });
  expect((added.raw as { statusMessage: string }).statusMessage).toBe(
    'No source for mainnet, testnet: start the service with --aptos mainnet=<fullnodeUrl> --aptos testnet=<fullnodeUrl>',
  );
  const tested = await sink.waitFor(({ path }) => path === '/life');
  expect(JSON.parse(tested.body)).toMatchObject({ streamId: '', network: '', coinTransfers: [] });
  const signature = String(tested.headers['x-signature']);
  expect(evm.verifySignature({ body: JSON.parse(tested.body), signature })).toBe(true);

  expect((await streams.getById({ ...aptos, id })).raw).toEqual(added.raw);
  const page = await streams.getAll({ ...aptos, limit: 10 });
  expect(() => CALLS.listAptosStreams.response.parse(page.raw)).not.toThrow();
  expect(page.result.map((stream) => stream.id)).toEqual([id]);
  expect(page.pagination.total).toBe(1);
  expect(page.hasNext()).toBe(false);

  const changed = await streams.update({
    ...aptos,
    id,
    network: ['devnet'],
    functions: ['0x1::aptos_account::transfer'],
  });
  expect(changed.raw).toMatchObject({
    network: ['devnet'],
    functions: ['0x1::aptos_account::transfer'],
    events: ['0x1::coin::WithdrawEvent'],
    tag: 'life',
  });

  const deleted = await streams.delete({ ...aptos, id });
  expect(deleted.raw).toBe(true);
  expect((await streams.getAll({ ...aptos, limit: 10 })).pagination.total).toBe(0);
});

test('setting the status returns only the status', async () => {
  const { id } = (await streams.add({ ...aptos, ...wanted('status') })).result;
  expect((await streams.updateStatus({ ...aptos, id, status: 'paused' })).raw).toEqual({
    status: 'paused',
    statusMessage: 'Stream was paused by the user',
  });
  const active = await streams.updateStatus({ ...aptos, id, status: 'active' });
  expect(() => CALLS.setAptosStreamStatus.response.parse(active.raw)).not.toThrow();
  expect(active.raw).toMatchObject({ status: 'active' });
});

test('addresses in any notation are padded to 64 digits', async () => {
  const { id } = (await streams.add({ ...aptos, ...wanted('addresses') })).result;
  const one = await streams.addAddress({ ...aptos, id, address: '0x1' });
  expect(one.raw).toMatchObject({ streamId: id, address: ONE });
  await streams.addAddress({ ...aptos, id, address: [WALLET, '0x1'] });

  const page = await streams.getAddresses({ ...aptos, id, limit: 10 });
  expect(page.raw).toEqual({
    result: [{ address: ONE }, { address: WALLET }],
    total: 2,
    page_size: 2,
  });
  expect(JSON.stringify(page.result)).toContain(WALLET);

  // Other clients may send short addresses without padding them.
  const response = await fetch(`${service.url}/streams/aptos/${id}/address`, {
    method: 'DELETE',
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ address: ['0X01'] }),
  });
  expect(await response.json()).toMatchObject({ streamId: id, address: ['0X01'] });
  await streams.deleteAddress({ ...aptos, id, address: WALLET });
  expect((await kit.streams.get(id, aptos)).amountOfAddresses).toBe(0);
});

test('a stream of one family is not found in the other', async () => {
  const { id } = (await streams.add({ ...aptos, ...wanted('family') })).result;
  const other = await kit.streams.create({
    webhookUrl: `${sink.url}/evm`,
    description: 'of EVM',
    chainIds: ['0x1'],
  });
  const missing = '[C0006] Request failed, Not Found(404): Stream not found';
  await expect(evm.getById({ id })).rejects.toThrow(missing);
  await expect(evm.update({ id, tag: 'x' })).rejects.toThrow(missing);
  await expect(evm.delete({ id })).rejects.toThrow(missing);
  await expect(evm.updateStatus({ id, status: 'paused' })).rejects.toThrow(missing);
  await expect(evm.getAddresses({ id, limit: 1 })).rejects.toThrow(missing);
  await expect(
    evm.addAddress({ id, address: '0xcfdf6aaae9f6b927e3736fbd327853b622c5060e' }),
  ).rejects.toThrow(missing);
  for (const call of [
    () => streams.getById({ ...aptos, id: other.id }),
    () => streams.update({ ...aptos, id: other.id, network: ['mainnet'] }),
    () => streams.delete({ ...aptos, id: other.id }),
    () => streams.updateStatus({ ...aptos, id: other.id, status: 'paused' }),
    () => streams.getAddresses({ ...aptos, id: other.id, limit: 1 }),
    () => streams.addAddress({ ...aptos, id: other.id, address: '0x1' }),
    () => streams.deleteAddress({ ...aptos, id: other.id, address: '0x1' }),
  ]) {
    await expect(call()).rejects.toThrow(missing);
  }
  expect((await evm.getAll({})).result.map((stream) => stream.id)).toEqual([other.id]);
  expect((await streams.getAll({ ...aptos })).result.map((stream) => stream.id)).toEqual([id]);
  expect((await kit.streams.delete(other.id)).id).toBe(other.id);
});

test('the official client and ours leave the service in the same state', async () => {
  const fields = wanted('same');
  const theirs = (await streams.add({ ...aptos, ...fields })).result.id;
  await streams.addAddress({ ...aptos, id: theirs, address: ['0x1', WALLET] });
  await streams.deleteAddress({ ...aptos, id: theirs, address: '0x1' });
  const changes = { description: 'changed twice', network: ['testnet'] as 'testnet'[] };
  // The official client requires the networks in every update.
  await streams.update({ ...aptos, id: theirs, ...changes });
  await streams.updateStatus({ ...aptos, id: theirs, status: 'paused' });

  const ours = (await kit.streams.create({ ...aptos, ...fields })).id;
  await kit.streams.addAddress(ours, ['0x1', WALLET], aptos);
  await kit.streams.removeAddress(ours, '0x1', aptos);
  await kit.streams.update(ours, { ...aptos, ...changes });
  await kit.streams.setStatus(ours, 'paused', aptos);

  const { id: _, ...one } = await kit.streams.get(theirs, aptos);
  const { id: __, ...two } = await kit.streams.get(ours, aptos);
  expect(one).toEqual(two);
  expect(one).toMatchObject({ status: 'paused', amountOfAddresses: 1 });
  expect(await kit.streams.listAddresses(theirs, aptos)).toEqual(
    await kit.streams.listAddresses(ours, aptos),
  );
});

test('the client reads logs of both families, with Aptos networks as separate chains', async () => {
  const { result } = await evm.getLogs({ limit: 10 });
  expect(result.map((log) => log.chain.hex)).toEqual([APTOS_CHAINS.mainnet, '0x1']);
  expect(result.map((log) => log.type)).toEqual(['aptos', 'evm']);
});
