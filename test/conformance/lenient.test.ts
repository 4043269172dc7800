/**
 * Tests undocumented input that the hosted service and its clients accept. Sluice accepts it on
 * every route if its meaning is clear, and rejects it otherwise.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import { eachCall } from '@sluice/kit/calls';
import { type ErrorBody, eventTopic } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type WebhookSink, startWebhookSink } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';
import {
  type OfficialAptosStreams,
  type OfficialClient,
  startOfficialClient,
} from './officialClient.ts';

const ADDRESSES = [
  '0xcfdf6aaae9f6b927e3736fbd327853b622c5060e',
  '0xab5801a7d398351b8be11c439e05c5b3259aec9b',
  '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed',
] as const;
const TRANSFER = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256', indexed: false },
  ],
} as const;

const folder = mkdtempSync(join(tmpdir(), 'sluice-lenient-'));
let sink: WebhookSink;
let service: Served;
let official: OfficialClient;
let kit: Client;
let streamId: string;
let aptosId: string;

beforeAll(async () => {
  sink = await startWebhookSink();
  service = await serve(['--data', join(folder, 'data'), '--rate-limit', '0']);
  official = await startOfficialClient({
    baseUrl: service.url,
    apiKey: API_KEY,
    streamsSecret: SECRET,
  });
  kit = createClient({ apiKey: API_KEY, baseUrl: service.url });
  streamId = (await official.streams.add(evm())).result.id;
  aptosId = (await aptosStreams().add(aptos())).result.id;
});
afterAll(async () => {
  await service?.stop();
  await sink?.close();
  rmSync(folder, { recursive: true });
});

const evm = () => ({
  webhookUrl: `${sink.url}/`,
  description: 'lenient',
  tag: 'lenient',
  chains: ['0x1'],
});
const aptos = () => ({
  networkType: 'aptos',
  webhookUrl: `${sink.url}/`,
  description: 'lenient',
  tag: 'lenient',
  network: ['testnet'],
});
const aptosStreams = () => official.streams as unknown as OfficialAptosStreams;

interface ServiceResponse {
  status: number;
  ignored: string | null;
  body: Record<string, unknown>;
}

/** Sends a request that the typed clients cannot send. */
async function send(method: string, path: string, body?: unknown): Promise<ServiceResponse> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    ignored: response.headers.get('x-ignored-query'),
    body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
  };
}

test('lists required by the official types are lists even if nothing was set', async () => {
  const stream = (await official.streams.getById({ id: streamId })).result;
  expect(stream.toJSON()).toMatchObject({ topic0: undefined, abi: undefined });
  expect((await send('GET', `/streams/evm/${streamId}`)).body).toMatchObject({
    getNativeBalances: [],
  });
  const { result } = await aptosStreams().getById({ id: aptosId, networkType: 'aptos' });
  for (const list of ['events', 'functions'] as const) {
    expect((result as unknown as Record<string, unknown[]>)[list]!.map(String)).toEqual([]);
  }
  for (const path of ['/streams/aptos', `/streams/aptos/${aptosId}`]) {
    const { body } = await send('GET', path);
    const [row] = (body['result'] as unknown[] | undefined) ?? [body];
    expect(row).toMatchObject({ functions: [], events: [] });
  }
});

test('unknown query fields are ignored and reported on every route', async () => {
  const routes = eachCall.filter(
    // Excludes the event stream, which never ends, and the open routes, which create and end a
    // session.
    ([name, { scope }]) => scope !== 'open' && name !== 'liveEvents',
  );
  expect(routes.length).toBeGreaterThan(70);
  for (const [name, { method, path }] of routes) {
    const filled = path.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000');
    const { ignored, body } = await send(method, `${filled}?odd=1&%C3%A9=2`);
    expect([name, ignored]).toEqual([name, 'odd, %C3%A9']);
    expect(Object.keys((body as { details?: object }).details ?? {}), name).not.toContain(
      'query.odd',
    );
  }
});

test('known query fields still apply, and invalid ones are rejected', async () => {
  const path = `/streams/evm?limit=1&id=${streamId}`;
  const page = await send('GET', path);
  expect([page.status, page.ignored]).toEqual([200, 'id']);
  expect(page.body['result']).toHaveLength(1);
  const wrong = await send('GET', '/streams/evm?limit=0&id=1');
  expect([wrong.status, wrong.ignored]).toEqual([422, 'id']);
  expect((wrong.body as unknown as ErrorBody).details).toHaveProperty(['query.limit']);
  expect((await send('GET', '/streams/evm?limit=1')).ignored).toBeNull();
});

test('the header with ignored names is bounded', async () => {
  const query = Array.from({ length: 100 }, (_, n) => `${'n'.repeat(100)}${n}=1`).join('&');
  const { status, ignored } = await send('GET', `/stats?${query}`);
  expect(status).toBe(200);
  expect(ignored?.split(', ')).toHaveLength(20);
  expect(ignored!.length).toBeLessThan(1_400);
});

test('unknown body fields are rejected', async () => {
  for (const [method, path] of [
    ['PUT', '/streams/evm'],
    ['POST', `/streams/evm/${streamId}`],
    ['POST', `/streams/aptos/${aptosId}`],
    ['POST', `/streams/evm/${streamId}/status`],
    ['POST', '/settings'],
  ] as const) {
    const { status, body } = await send(method, path, { odd: 1 });
    expect([path, status]).toEqual([path, 422]);
    expect((body as unknown as ErrorBody).details).toHaveProperty(['requestBody.odd']);
  }
});

test('addresses to delete can be in the query', async () => {
  await official.streams.addAddress({ id: streamId, address: [...ADDRESSES] });
  const path = `/streams/evm/${streamId}/address`;
  const one = await send('DELETE', `${path}?address=${ADDRESSES[0]}&id=${streamId}`);
  expect([one.status, one.ignored, one.body['address']]).toEqual([200, 'id', ADDRESSES[0]]);
  const others = ADDRESSES.slice(1);
  const both = await send('DELETE', `${path}?${others.map((it) => `address=${it}`).join('&')}`, {});
  expect([both.status, both.ignored, both.body['address']]).toEqual([200, null, others]);
  expect((await kit.streams.listAddresses(streamId)).result).toEqual([]);

  const unknown = await send('DELETE', `${path}?address=${ADDRESSES[0]}`);
  expect([unknown.status, unknown.body['message']]).toEqual([404, 'Address not found']);
  const wrong = await send('DELETE', `${path}?address=vitalik.eth`);
  expect([wrong.status, wrong.body['message'], wrong.body['fields']]).toEqual([
    400,
    'Invalid address provided',
    {
      'query.address': {
        message: 'should be an EVM address: 0x and 40 hex digits',
        value: 'vitalik.eth',
      },
    },
  ]);

  await aptosStreams().addAddress({ id: aptosId, networkType: 'aptos', address: '0x1' });
  const short = await send('DELETE', `/streams/aptos/${aptosId}/address?address=0x1`);
  expect(short.status).toBe(200);
  expect((await kit.streams.listAddresses(aptosId, { networkType: 'aptos' })).result).toEqual([]);
});

test('the body takes precedence over the query when an address is deleted', async () => {
  await official.streams.addAddress({ id: streamId, address: [...ADDRESSES] });
  const path = `/streams/evm/${streamId}/address?address=${ADDRESSES[1]}`;
  const response = await send('DELETE', path, { address: ADDRESSES[0] });
  expect([response.status, response.ignored, response.body['address']]).toEqual([
    200,
    'address',
    ADDRESSES[0],
  ]);
  const left = (await kit.streams.listAddresses(streamId)).result;
  expect(left.map(({ address }) => address)).toEqual(ADDRESSES.slice(1).toSorted());
  await official.streams.deleteAddress({ id: streamId, address: ADDRESSES.slice(1) });
});

test('addresses are listed by value, not in order of insertion', async () => {
  await official.streams.addAddress({ id: streamId, address: [...ADDRESSES] });
  const page = await official.streams.getAddresses({ id: streamId, limit: 10 });
  const listed = page.result.map(({ address }) => address.lowercase);
  expect(listed).toEqual(ADDRESSES.toSorted());
  expect(listed).not.toEqual(ADDRESSES);
  await official.streams.deleteAddress({ id: streamId, address: [...ADDRESSES] });
});

test('setting the status error is accepted without effect', async () => {
  const requests = sink.requests.length;
  for (const status of ['active', 'paused'] as const) {
    await official.streams.updateStatus({ id: streamId, status });
    const before = await kit.streams.get(streamId);
    const { result } = await official.streams.updateStatus({ id: streamId, status: 'error' });
    expect(result.status).toBe(status);
    expect(await kit.streams.get(streamId)).toEqual(before);
  }
  await official.streams.updateStatus({ id: streamId, status: 'active' });
  // Only the reactivation sent a test webhook. Setting the status to `error` did not.
  expect(sink.requests.length - requests).toBe(1);
  const response = await aptosStreams().updateStatus({
    id: aptosId,
    networkType: 'aptos',
    status: 'error',
  });
  expect(response.raw).toMatchObject({ status: 'active' });
  const path = `/streams/evm/${streamId}/status`;
  expect((await send('POST', path, { status: 'terminated' })).status).toBe(422);
});

test('null keeps a field in an update', async () => {
  const id = (
    await official.streams.add({
      ...evm(),
      abi: [TRANSFER],
      topic0: ['Transfer(address,address,uint256)'],
      includeContractLogs: true,
      getNativeBalances: [{ selectors: ['$fromAddress'], type: 'tx' }],
    })
  ).result.id;
  await kit.streams.update(id, { maxPerSecond: 5, headers: { 'x-team': 'a' } });
  const before = await kit.streams.get(id);
  const fields = Object.keys(before).filter(
    (name) =>
      ![
        ...['id', 'status', 'statusMessage', 'isErrorSince', 'createdAt', 'updatedAt'],
        ...['amountOfAddresses', 'maxInFlight', 'maxPerSecond', 'maxWebhookBytes'],
      ].includes(name),
  );
  expect(fields).toContain('strictOrder');
  const nothing = Object.fromEntries(fields.map((name) => [name, null]));
  const requests = sink.requests.length;
  const response = await send('POST', `/streams/evm/${id}`, { ...nothing, description: 'other' });
  expect(response.status).toBe(200);
  const after = await kit.streams.get(id);
  expect({ ...after, updatedAt: before.updatedAt }).toEqual({ ...before, description: 'other' });
  expect(sink.requests.length).toBe(requests);
  // An empty list clears the field, and `null` is a valid value of `maxPerSecond`.
  expect(await kit.streams.update(id, { maxPerSecond: null, topic0: [], abi: [] })).toMatchObject({
    maxPerSecond: null,
    topic0: [],
    abi: [],
  });

  const aptosBefore = await kit.streams.get(aptosId, { networkType: 'aptos' });
  const names = [
    ...['webhookUrl', 'tag', 'network', 'functions', 'events', 'includePayload'],
    ...['includeEvents', 'includeChanges', 'demo', 'allAddresses', 'headers', 'strictOrder'],
  ];
  const changed = await send('POST', `/streams/aptos/${aptosId}`, {
    ...Object.fromEntries(names.map((name) => [name, null])),
    description: 'other',
  });
  expect([changed.status, changed.body]).toEqual([200, { ...aptosBefore, description: 'other' }]);
});

test('null for optional fields of a new stream sets the default; required fields stay required', async () => {
  const { chains, ...rest } = evm();
  const body = { ...rest, chainIds: chains, demo: null, topic0: null, headers: null, tag: null };
  const made = await send('PUT', '/streams/evm', body);
  expect([made.status, made.body]).toMatchObject([
    200,
    { demo: false, topic0: null, headers: {}, tag: '' },
  ]);
  expect((await send('PUT', '/streams/evm', { ...body, webhookUrl: null })).status).toBe(422);
});

test('chain IDs can be hex in any case, or decimal', async () => {
  const { chains: _, ...rest } = evm();
  const { body } = await send('PUT', '/streams/evm', { ...rest, chainIds: ['1', '0XA'] });
  expect(body['chainIds']).toEqual(['0x1', '0xa']);
});

test('an ABI can have any form that compilers and libraries have produced', async () => {
  const signed = { ...TRANSFER, signature: eventTopic(TRANSFER) };
  for (const [given, stored] of [
    [TRANSFER, [TRANSFER]],
    [[signed], [signed]],
    [signed, [signed]],
    [[{ ...TRANSFER, signature: 'Transfer()', methodNameWithInputs: '' }], [TRANSFER]],
    [JSON.stringify([TRANSFER]), [TRANSFER]],
    [{ contractName: 'Token', abi: [TRANSFER], bytecode: '0x' }, [TRANSFER]],
    [[{ ...TRANSFER, 'abi.1.type': 'event' }, ...LIBRARY], [TRANSFER]],
    [[{ ...TRANSFER, type: undefined, anonymous: null }], [TRANSFER]],
    [[{ ...TRANSFER, inputs: PAYABLE }], [TRANSFER]],
  ] as const) {
    const added = (await official.streams.add({ ...evm(), abi: [] })).result;
    const { chains, ...rest } = evm();
    const made = await send('PUT', '/streams/evm', { ...rest, chainIds: chains, abi: given });
    expect([made.status, made.body['abi']]).toEqual([200, stored]);
    const changed = await send('POST', `/streams/evm/${added.id}`, { abi: given });
    expect([changed.status, changed.body['abi']]).toEqual([200, stored]);
    expect((await official.streams.getById({ id: added.id })).result.abi).toEqual(stored);
    // A dry run with a valid body fails only because there is no node.
    const dry = await send('POST', '/streams/evm/0x1/block/1', { abi: given });
    expect([dry.status, dry.body['message']]).toEqual([400, expect.stringContaining('--chain')]);
  }
  const text = await send('POST', `/streams/evm/${streamId}`, { abi: 'Transfer' });
  expect(problemsOf(text)).toEqual(['requestBody.abi']);
});

/** The inputs of the event with the type that old compilers write for some addresses. */
const PAYABLE = TRANSFER.inputs.map((input) =>
  input.type === 'address' ? { ...input, type: 'address payable' } : input,
);

/** Items that are not events, and that no contract can be called with. */
const LIBRARY = [
  { type: 'function', inputs: [{ type: 'IPoolManager' }] },
  { type: 'function', name: 'f', inputs: [{ name: 'self', type: 'Storage.Data storage' }] },
  { type: 'impl' },
  null,
];

const problemsOf = ({ status, body }: ServiceResponse): string[] => [
  ...(status === 422 ? Object.keys(body['details'] as object) : []),
];

test('the hash of an event can have any case', async () => {
  const { chains, ...rest } = evm();
  const hash = eventTopic(TRANSFER);
  for (const topic0 of [hash, hash.toUpperCase(), `0x${hash.slice(2).toUpperCase()}`]) {
    const body = { ...rest, chainIds: chains, includeContractLogs: true, topic0: [topic0] };
    expect((await send('PUT', '/streams/evm', body)).status).toBe(200);
  }
});

test('an event with an unknown type is rejected only if the stream selects it', async () => {
  const sold = { type: 'event', name: 'Sold', inputs: [{ name: 'a', type: 'uint7' }] };
  const abi = [TRANSFER, sold];
  const path = `/streams/evm/${streamId}`;
  const unused = await send('POST', path, { abi, topic0: ['Transfer(address,address,uint256)'] });
  expect([unused.status, unused.body['abi']]).toEqual([200, [TRANSFER]]);
  const used = await send('POST', path, { abi, topic0: ['Sold(uint8)'] });
  expect(problemsOf(used)).toEqual(['requestBody.abi.1.inputs.0.type']);
  // The stored topic0 counts, too.
  await send('POST', path, { topic0: ['Sold(uint8)'] });
  expect(problemsOf(await send('POST', path, { abi }))).toHaveLength(1);
  await send('POST', path, { abi: [], topic0: [] });
});

test('a filter on an event missing from the ABI is accepted, and the stream reports its effect', async () => {
  const advancedOptions = [
    { topic0: 'Transfer(address,address,uint256)', filter: { gt: ['value', '1'] } },
  ];
  const { result } = await official.streams.add({ ...evm(), advancedOptions });
  expect(result.statusMessage).toMatch(
    /The filter of Transfer\(address,address,uint256\) matches nothing: add the event to abi/,
  );
  const fixed = await official.streams.update({ id: result.id, abi: [TRANSFER] });
  expect(fixed.result.statusMessage).not.toMatch(/matches nothing/);
  const lost = await official.streams.update({ id: result.id, abi: [] });
  expect(lost.result.statusMessage).toMatch(/matches nothing/);
});

test('a stream on a chain without a source is accepted, and the flag to add is reported', async () => {
  const { result } = await official.streams.add({ ...evm(), chains: ['0x1', '0x89'] });
  const wanted =
    'No source for 0x1, 0x89: start the service with --chain 0x1=<rpcUrl> --chain 0x89=<rpcUrl>. Matches nothing: set includeContractLogs, includeNativeTxs, includeInternalTxs, functions or reads';
  expect([result.status, result.statusMessage]).toEqual(['active', wanted]);
  expect(
    (await aptosStreams().getById({ id: aptosId, networkType: 'aptos' })).result.toJSON(),
  ).toMatchObject({
    status: 'active',
    statusMessage: 'No source for testnet: start the service with --aptos testnet=<fullnodeUrl>',
  });
  const summaries = await createSluiceClient({
    apiKey: API_KEY,
    baseUrl: service.url,
  }).listStreamSummaries();
  expect(summaries.find(({ id }) => id === result.id)?.statusMessage).toBe(wanted);
});

test('the official client shows the hosted messages without additions', async () => {
  sink.respond(500, { path: '/broken' });
  await expect(
    official.streams.add({ ...evm(), webhookUrl: `${sink.url}/broken` }),
  ).rejects.toThrow(
    new RegExp(
      `^\\[C0006\\] Request failed, Bad Request\\(400\\): Could not POST to ${sink.url}/broken\\. Please check your webhook URL\\.$`,
    ),
  );
  // The kit's error also has the reason, in `details`.
  await expect(kit.streams.update(streamId, { webhookUrl: `${sink.url}/broken` })).rejects.toThrow(
    expect.objectContaining({
      details: {
        'requestBody.webhookUrl': expect.objectContaining({ value: `${sink.url}/broken` }),
      },
    }),
  );
});
