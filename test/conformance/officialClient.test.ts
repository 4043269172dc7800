/**
 * Tests the unmodified official npm client with `sluice serve`. Code for the hosted service works
 * after changing only the address.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient, decodeLogs, verifySignature } from '@sluice/kit';
import { checksumAddress } from '@sluice/kit/contract';
import {
  type Anvil,
  type DeployedContracts,
  type WebhookSink,
  deployContracts,
  sluiceToken,
  startAnvil,
  startWebhookSink,
} from '@sluice/testkit';
import { encodeFunctionData } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';
import {
  type OfficialAddress,
  type OfficialClient,
  type OfficialStreams,
  startOfficialClient,
} from './officialClient.ts';

const CHAIN = '0x7a69';
const HOSTED = 'https://api.moralis-streams.com';
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const TRANSFER = 'Transfer(address,address,uint256)';
const TRANSFER_ABI = [
  {
    type: 'event',
    name: 'Transfer',
    anonymous: false,
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256', indexed: false },
    ],
  },
];
/** Addresses with EIP-55 checksums, as users copy them. */
const CHECKSUMMED = [
  '0xCFDF6Aaae9f6B927E3736FBD327853B622c5060E',
  '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
] as const;
const LOWER = CHECKSUMMED.map((address) => address.toLowerCase());

const folder = mkdtempSync(join(tmpdir(), 'sluice-official-'));
let anvil: Anvil;
let contracts: DeployedContracts;
let sink: WebhookSink;
let service: Served;
let official: OfficialClient;
let streams: OfficialStreams;
let kit: Client;

beforeAll(async () => {
  anvil = await startAnvil();
  contracts = await deployContracts(anvil);
  sink = await startWebhookSink();
  service = await serve([
    ...['--data', join(folder, 'data')],
    ...['--chain', `${CHAIN}=${anvil.url},confirmations=2,poll=50`],
  ]);
  official = await startOfficialClient({
    baseUrl: service.url,
    apiKey: API_KEY,
    streamsSecret: SECRET,
  });
  streams = official.streams;
  kit = createClient({ apiKey: API_KEY, baseUrl: service.url });
});
afterEach(async () => {
  for await (const { id } of kit.streams.list()) await kit.streams.delete(id);
});
afterAll(async () => {
  expect(await service?.stop()).toBe(0);
  await anvil?.stop();
  await sink?.close();
  rmSync(folder, { recursive: true });
});

const minimal = (tag: string) => ({
  webhookUrl: `${sink.url}/${tag}`,
  description: `the ${tag} stream`,
  tag,
  chains: [CHAIN],
});

/** Returns the message and the status of the error with which a call is rejected. */
async function failureOf(call: Promise<unknown>): Promise<{ message: string; status: unknown }> {
  const error = await call.then(
    (response) => {
      throw new Error(`Not rejected: ${JSON.stringify(response)}`);
    },
    (reason: unknown) => reason as Error & { details?: { status?: unknown } },
  );
  return { message: error.message, status: error.details?.status };
}

const lastSent = () => {
  const { method, url, body } = official.sent.at(-1)!;
  return [method, url.replace(HOSTED, ''), body];
};

/** Removes the id and the values of the timestamps, which differ between equal streams. */
function comparable(stream: object): object {
  const { id: _, createdAt, updatedAt, ...rest } = stream as Record<string, unknown>;
  return { ...rest, createdAt: typeof createdAt, updatedAt: typeof updatedAt };
}

/** The status of an active stream that includes no kind of record. */
const MATCHES_NOTHING =
  'Matches nothing: set includeContractLogs, includeNativeTxs, includeInternalTxs, functions or reads';

test('a stream with only required fields is created, tested and read back', async () => {
  sink.clear();
  const added = await streams.add(minimal('minimal'));
  expect(lastSent()[0]).toBe('PUT');
  expect(lastSent()[1]).toBe('/streams/evm');

  const stream = added.result;
  expect(stream).toMatchObject({
    webhookUrl: `${sink.url}/minimal`,
    description: 'the minimal stream',
    tag: 'minimal',
    chainIds: [CHAIN],
    status: 'active',
    statusMessage: MATCHES_NOTHING,
    topic0: undefined,
    abi: undefined,
    advancedOptions: undefined,
    allAddresses: false,
    includeNativeTxs: false,
    includeContractLogs: false,
    includeInternalTxs: false,
    includeAllTxLogs: false,
  });
  expect(stream.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(stream.chains.map((chain) => chain.hex)).toEqual([CHAIN]);
  expect(stream.toJSON()).toMatchObject({ id: stream.id, amountOfAddresses: 0, demo: false });

  const test = sink.requests.filter(({ path }) => path === '/minimal');
  expect(test).toHaveLength(1);
  expect(
    streams.verifySignature({
      body: JSON.parse(test[0]!.body),
      signature: String(test[0]!.headers['x-signature']),
    }),
  ).toBe(true);

  const read = await streams.getById({ id: stream.id });
  expect(read.toJSON()).toEqual(added.toJSON());
  expect(read.result.toJSON()).toEqual(stream.toJSON());
});

test('a stream with every supported option is returned unchanged', async () => {
  const given = {
    ...minimal('full'),
    chains: ['0x1', 137, CHAIN],
    topic0: [TRANSFER, '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'],
    abi: TRANSFER_ABI,
    allAddresses: true,
    includeNativeTxs: true,
    includeContractLogs: true,
    includeInternalTxs: false,
    includeAllTxLogs: true,
    demo: false,
  };
  const { result: stream } = await streams.add(given);
  expect(stream).toMatchObject({
    chainIds: ['0x1', '0x89', CHAIN],
    topic0: given.topic0,
    abi: TRANSFER_ABI,
    allAddresses: true,
    includeNativeTxs: true,
    includeContractLogs: true,
    includeInternalTxs: false,
    includeAllTxLogs: true,
  });
  // The service does not read two of the chains, as the status message reports.
  expect(stream.statusMessage).toMatch(/No source for 0x1, 0x89/);
});

test('getAll pages through three streams two at a time and detects the last page', async () => {
  const ids: string[] = [];
  for (const tag of ['one', 'two', 'three']) ids.push((await streams.add(minimal(tag))).result.id);

  const first = await streams.getAll({ limit: 2 });
  expect(first.result).toHaveLength(2);
  expect(first.pagination.total).toBe(3);
  expect(first.hasNext()).toBe(true);

  const second = await first.next();
  expect(second.result).toHaveLength(1);
  expect(second.pagination.total).toBe(3);
  expect(second.hasNext()).toBe(false);
  expect(() => void second.next()).toThrow(/\[C0007\] Page limit exceeded/);
  expect([...first.result, ...second.result].map(({ id }) => id).toSorted()).toEqual(
    ids.toSorted(),
  );

  const exact = await streams.getAll({ limit: 3 });
  expect(exact.result).toHaveLength(3);
  expect(exact.hasNext()).toBe(false);

  const all = await streams.getAll({});
  expect(lastSent().slice(0, 2)).toEqual(['GET', '/streams/evm']);
  expect(all.result.map(({ tag }) => tag).toSorted()).toEqual(['one', 'three', 'two']);
  expect(all.hasNext()).toBe(false);
});

test('getAll without streams is an empty last page', async () => {
  const none = await streams.getAll({ limit: 100 });
  expect(none.result).toEqual([]);
  expect(none.pagination.total).toBe(0);
  expect(none.hasNext()).toBe(false);
});

test('update changes only the given fields', async () => {
  const before = (
    await streams.add({ ...minimal('before'), topic0: [TRANSFER], abi: TRANSFER_ABI })
  ).result;
  sink.clear();
  const after = (
    await streams.update({ id: before.id, webhookUrl: `${sink.url}/moved`, includeNativeTxs: true })
  ).result;
  expect(lastSent()).toEqual([
    'POST',
    `/streams/evm/${before.id}`,
    { webhookUrl: `${sink.url}/moved`, includeNativeTxs: true },
  ]);
  const { updatedAt: _, ...was } = before.toJSON();
  expect(after.toJSON()).toMatchObject({
    ...was,
    webhookUrl: `${sink.url}/moved`,
    includeNativeTxs: true,
    statusMessage: 'Stream is active',
  });
  expect(sink.requests.map(({ path }) => path)).toEqual(['/moved']);
  const read = await streams.getById({ id: before.id });
  expect(read.result.toJSON()).toEqual(after.toJSON());
});

test('addresses are added singly and in a list, paged, and deleted in another casing', async () => {
  const { id } = (await streams.add(minimal('addresses'))).result;

  const one = await streams.addAddress({ id, address: LOWER[0]! });
  // The client changes the casing of addresses: to checksums when it adds them, and to lowercase
  // when it deletes them.
  expect(lastSent()).toEqual(['POST', `/streams/evm/${id}/address`, { address: CHECKSUMMED[0] }]);
  expect(one.result.streamId).toBe(id);
  expect((one.result.address as OfficialAddress).checksum).toBe(CHECKSUMMED[0]);

  const many = await streams.addAddress({ id, address: [...CHECKSUMMED] });
  expect((many.result.address as OfficialAddress[]).map((each) => each.checksum)).toEqual(
    CHECKSUMMED,
  );

  const first = await streams.getAddresses({ id, limit: 2 });
  expect(first.result).toHaveLength(2);
  expect(first.pagination.total).toBe(3);
  expect(first.hasNext()).toBe(true);
  const second = await first.next();
  expect(second.result).toHaveLength(1);
  expect(second.hasNext()).toBe(false);
  const listed = [...first.result, ...second.result].map(({ address }) => address.lowercase);
  expect(listed.toSorted()).toEqual(LOWER.toSorted());

  const removed = await streams.deleteAddress({ id, address: CHECKSUMMED[1] });
  expect(lastSent()).toEqual(['DELETE', `/streams/evm/${id}/address`, { address: LOWER[1] }]);
  expect((removed.result.address as OfficialAddress).lowercase).toBe(LOWER[1]);
  const left = await streams.getAddresses({ id });
  expect(left.result.map(({ address }) => address.lowercase).toSorted()).toEqual(
    LOWER.filter((address) => address !== LOWER[1]).toSorted(),
  );
  expect(left.hasNext()).toBe(false);
  // A last page that is full.
  expect((await streams.getAddresses({ id, limit: 2 })).hasNext()).toBe(false);

  const rest = await streams.deleteAddress({ id, address: [CHECKSUMMED[0], CHECKSUMMED[2]] });
  expect((rest.result.address as OfficialAddress[]).map((each) => each.lowercase)).toEqual([
    LOWER[0],
    LOWER[2],
  ]);
  expect((await streams.getAddresses({ id, limit: 10 })).result).toEqual([]);
  expect((await streams.getById({ id })).result.toJSON()).toMatchObject({ amountOfAddresses: 0 });
});

test('a stream is paused and reactivated, which tests its webhook', async () => {
  const { id } = (await streams.add(minimal('status'))).result;
  sink.clear();
  const paused = (await streams.updateStatus({ id, status: 'paused' })).result;
  expect(paused).toMatchObject({
    status: 'paused',
    statusMessage: 'Stream was paused by the user',
  });
  expect(sink.requests).toHaveLength(0);
  const active = (await streams.updateStatus({ id, status: 'active' })).result;
  expect(active).toMatchObject({ status: 'active', statusMessage: MATCHES_NOTHING });
  expect(sink.requests.map(({ path }) => path)).toEqual(['/status']);
});

test('delete returns the deleted stream', async () => {
  const { id } = (await streams.add(minimal('gone'))).result;
  const deleted = await streams.delete({ id });
  expect(lastSent()).toEqual(['DELETE', `/streams/evm/${id}`, {}]);
  expect(deleted.result).toMatchObject({ id, tag: 'gone' });
  expect(await failureOf(streams.getById({ id }))).toMatchObject({ status: 404 });
});

test('errors of the service are errors of the client', async () => {
  const { id } = (await streams.add(minimal('errors'))).result;

  for (const call of [
    () => streams.getById({ id: UNKNOWN_ID }),
    () => streams.delete({ id: UNKNOWN_ID }),
    () => streams.getAddresses({ id: UNKNOWN_ID, limit: 1 }),
    () => streams.addAddress({ id: UNKNOWN_ID, address: LOWER[0]! }),
    () => streams.deleteAddress({ id: UNKNOWN_ID, address: LOWER[0]! }),
    () => streams.update({ id: UNKNOWN_ID, tag: 'x' }),
    () => streams.updateStatus({ id: UNKNOWN_ID, status: 'paused' }),
  ]) {
    expect(await failureOf(call())).toEqual({
      status: 404,
      message: '[C0006] Request failed, Not Found(404): Stream not found',
    });
  }
  expect(await failureOf(streams.deleteAddress({ id, address: LOWER[0]! }))).toEqual({
    status: 404,
    message: '[C0006] Request failed, Not Found(404): Address not found',
  });

  const invalid = await failureOf(streams.updateStatus({ id, status: 'stopped' }));
  expect(invalid.status).toBe(422);
  expect(invalid.message).toMatch(
    /^\[C0006\] Request failed, Unprocessable Entity\(422\): Validation Failed \{"requestBody.status":/,
  );
  expect(invalid.message).toContain('should be one of active, paused');
  expect(invalid.message).toContain('"value":"stopped"');

  sink.respond(500, { path: '/broken' });
  const broken = await failureOf(streams.add({ ...minimal('broken') }));
  expect(broken.status).toBe(400);
  expect(broken.message).toBe(
    `[C0006] Request failed, Bad Request(400): Could not POST to ${sink.url}/broken. Please check your webhook URL.`,
  );

  const stranger = await official.withApiKey('some-other-key-0123456789');
  const unauthorized = await failureOf(stranger.getAll({ limit: 1 }));
  expect(unauthorized.status).toBe(401);
  expect(unauthorized.message).toMatch(
    /^\[C0006\] Request failed, Unauthorized\(401\): Invalid API key/,
  );

  expect((await streams.getAll({})).result.map((stream) => stream.id)).toEqual([id]);
});

test('the messages that docs/kit/migrate.md calls identical are identical', async () => {
  const page = readFileSync(new URL('../../docs/kit/migrate.md', import.meta.url), 'utf8');
  const stated = [...page.matchAll(/^\| `(S\d{4})` \| `(.+)` \|$/gm)].map(
    ([, code, text]) => `[${code}] ${text}`,
  );
  const body = { logs: [] };
  const wrong = { body, signature: '0x00' };
  const keyless = await official.withApiKey('');
  const pairs: [theirs: () => unknown, ours: () => unknown][] = [
    [() => streams.verifySignature(wrong), () => verifySignature({ ...wrong, secret: SECRET })],
    [() => keyless.verifySignature(wrong), () => verifySignature({ ...wrong, secret: '' })],
    [() => streams.parsedLogs({}), () => decodeLogs({} as never)],
    [() => streams.parsedLogs({ ...body, abi: [] }), () => decodeLogs({ ...body, abi: [] })],
  ];
  const messageOf = (act: () => unknown): string => {
    try {
      return String(act());
    } catch (error) {
      return (error as Error).message;
    }
  };
  const theirs = pairs.map(([act]) => messageOf(act));
  expect(theirs).toEqual(stated);
  expect(pairs.map(([, act]) => messageOf(act))).toEqual(
    theirs.map((message) => message.replace(/^\[\w+\] /, '')),
  );
});

test('an invalid address that reaches the service has the hosted message', async () => {
  const { id } = (await streams.add(minimal('address'))).result;
  // The client checks addresses before it sends them, so this request does not use the client.
  const response = await fetch(`${service.url}/streams/evm/${id}/address`, {
    method: 'POST',
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ address: 'vitalik.eth' }),
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    message: 'Invalid address provided',
    fields: { 'requestBody.address': { value: 'vitalik.eth' } },
  });
  const sentBefore = official.sent.length;
  await expect(streams.addAddress({ id, address: 'vitalik.eth' })).rejects.toThrow(
    /\[C0005\] Invalid address provided/,
  );
  expect(official.sent).toHaveLength(sentBefore);
});

test('a webhook of a real transfer passes the official check and is decoded', async () => {
  const { id } = (
    await streams.add({
      ...minimal('transfers'),
      topic0: [TRANSFER],
      abi: TRANSFER_ABI,
      includeContractLogs: true,
    })
  ).result;
  await streams.addAddress({ id, address: contracts.erc20 });

  const [from, to] = [anvil.accounts[0]!.address, anvil.accounts[6]!.address];
  const value = 123_456_789_012_345n;
  const data = encodeFunctionData({
    abi: sluiceToken.abi,
    functionName: 'transfer',
    args: [to, value],
  });
  await anvil.request('eth_sendTransaction', [{ from, to: contracts.erc20, data }]);
  await anvil.request('anvil_mine', ['0x3']);

  for (const confirmed of [false, true]) {
    const request = await sink.waitFor(({ path, body }) => {
      return (
        path === '/transfers' && body.includes(id) && body.includes(`"confirmed":${confirmed}`)
      );
    });
    const body = JSON.parse(request.body) as { logs: { data: string }[] };
    const signature = String(request.headers['x-signature']);
    expect(streams.verifySignature({ body, signature })).toBe(true);

    const logs = streams.parsedLogs(body);
    expect(logs).toHaveLength(1);
    expect(String(logs[0]!['value'])).toBe(String(value));
    expect(logs[0]).toMatchObject({ from: checksumAddress(from), to: checksumAddress(to) });

    const tampered = structuredClone(body);
    tampered.logs[0]!.data = tampered.logs[0]!.data.replace(/.$/, (digit) =>
      digit === '0' ? '1' : '0',
    );
    expect(() => streams.verifySignature({ body: tampered, signature })).toThrow(
      /\[S0004\] Signature is not valid/,
    );
  }
});

test('a duplicate is a separate stream with the fields and addresses of the original', async () => {
  const first = (await streams.add({ ...minimal('first'), topic0: [TRANSFER], abi: TRANSFER_ABI }))
    .result;
  // More addresses than the service inserts in one batch.
  const many = Array.from({ length: 12_000 }, (_, n) => `0x${n.toString(16).padStart(40, '0')}`);
  await kit.streams.addAddress(first.id, many);
  sink.clear();

  const second = await kit.streams.duplicate(first.id);
  expect(second.id).not.toBe(first.id);
  expect(comparable(second)).toEqual(comparable(await kit.streams.get(first.id)));
  expect(second).toMatchObject({ status: 'active', amountOfAddresses: many.length });
  expect(sink.requests.map(({ path }) => path)).toEqual(['/first']);
  const copied = [];
  for await (const { address } of kit.streams.listAddresses(second.id)) copied.push(address);
  expect(copied).toEqual(many);

  await kit.streams.removeAddress(first.id, many[0]!);
  await kit.streams.update(first.id, { tag: 'changed' });
  expect(await kit.streams.get(second.id)).toMatchObject({
    tag: 'first',
    amountOfAddresses: many.length,
  });

  // The duplicate of a paused stream is paused, and its webhook is not tested. If the test webhook
  // of an active stream fails, no duplicate is created.
  await streams.updateStatus({ id: first.id, status: 'paused' });
  sink.clear();
  expect(await kit.streams.duplicate(first.id)).toMatchObject({ status: 'paused', tag: 'changed' });
  expect(sink.requests).toEqual([]);
  const { total } = await kit.streams.list();
  sink.respond(500, { path: '/first' });
  await expect(kit.streams.duplicate(second.id)).rejects.toThrow(/Could not POST to/);
  await expect(kit.streams.duplicate(UNKNOWN_ID)).rejects.toThrow('Stream not found');
  expect((await kit.streams.list()).total).toBe(total);
});

test('the official client and ours leave the service in the same state', async () => {
  const fields = {
    webhookUrl: `${sink.url}/same`,
    description: 'made twice',
    tag: 'same',
    topic0: [TRANSFER],
    abi: TRANSFER_ABI,
    includeContractLogs: true,
  };
  const changes = { description: 'changed twice', includeNativeTxs: true };

  const theirs = (await streams.add({ ...fields, chains: [CHAIN, 137] })).result.id;
  await streams.addAddress({ id: theirs, address: [...LOWER] });
  await streams.addAddress({ id: theirs, address: CHECKSUMMED[0] });
  await streams.deleteAddress({ id: theirs, address: CHECKSUMMED[2] });
  await streams.update({ id: theirs, ...changes });
  await streams.updateStatus({ id: theirs, status: 'paused' });

  const ours = (await kit.streams.create({ ...fields, chainIds: [CHAIN, 137] })).id;
  await kit.streams.addAddress(ours, LOWER);
  await kit.streams.addAddress(ours, CHECKSUMMED[0]);
  await kit.streams.removeAddress(ours, CHECKSUMMED[2]);
  await kit.streams.update(ours, changes);
  await kit.streams.setStatus(ours, 'paused');

  const stored = await kit.streams.list();
  const find = (id: string) => stored.result.find((stream) => stream.id === id)!;
  expect(comparable(find(theirs))).toEqual(comparable(find(ours)));
  expect(find(ours)).toMatchObject({ ...changes, status: 'paused', amountOfAddresses: 2 });
  expect(await kit.streams.listAddresses(theirs)).toEqual(await kit.streams.listAddresses(ours));

  // Both clients read the same data.
  for (const id of [theirs, ours]) {
    expect((await streams.getById({ id })).raw).toEqual(await kit.streams.get(id));
  }
  await streams.delete({ id: theirs });
  await kit.streams.delete(ours);
  expect((await kit.streams.list()).total).toBe(0);
});
