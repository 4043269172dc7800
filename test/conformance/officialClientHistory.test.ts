/**
 * Tests the calls for deliveries and the account with the unmodified official client and the kit:
 * history, logs, replays, stats and settings. The receiver fails on demand.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import { CALLS } from '@sluice/kit/calls';
import {
  type Anvil,
  type WebhookSink,
  deployContracts,
  sluiceToken,
  startAnvil,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { encodeFunctionData } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';
import { type OfficialStreams, startOfficialClient } from './officialClient.ts';

const CHAIN = '0x7a69';
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const FAILING = '/failing';

const folder = mkdtempSync(join(tmpdir(), 'sluice-history-'));
let anvil: Anvil;
let token: `0x${string}`;
let sink: WebhookSink;
let service: Served;
let streams: OfficialStreams;
let kit: Client;
let streamId: string;

beforeAll(async () => {
  anvil = await startAnvil();
  token = (await deployContracts(anvil)).erc20;
  sink = await startWebhookSink();
  service = await serve([
    ...['--data', join(folder, 'data')],
    ...['--chain', `${CHAIN}=${anvil.url},confirmations=1,poll=50`],
  ]);
  const official = await startOfficialClient({
    baseUrl: service.url,
    apiKey: API_KEY,
    streamsSecret: SECRET,
  });
  streams = official.streams;
  kit = createClient({ apiKey: API_KEY, baseUrl: service.url });
  const added = await streams.add({
    webhookUrl: sink.url + FAILING,
    description: 'a stream whose receiver fails',
    tag: 'failing',
    chains: [CHAIN],
    topic0: ['Transfer(address,address,uint256)'],
    includeContractLogs: true,
  });
  streamId = added.result.id;
  await streams.addAddress({ id: streamId, address: token });
  sink.respond(400, { path: FAILING });
  // Each transfer is sent unconfirmed, and again when the next block confirms it.
  for (let n = 0; n < 2; n++) await transfer();
});
afterAll(async () => {
  expect(await service?.stop()).toBe(0);
  await anvil?.stop();
  await sink?.close();
  rmSync(folder, { recursive: true });
});

async function transfer(): Promise<void> {
  const [from, to] = [anvil.accounts[0]!.address, anvil.accounts[5]!.address];
  const data = encodeFunctionData({
    abi: sluiceToken.abi,
    functionName: 'transfer',
    args: [to, 1n],
  });
  await anvil.request('eth_sendTransaction', [{ from, to: token, data }]);
  await anvil.request('anvil_mine', ['0x1']);
}

/**
 * Reads the history until it has the failures of both transfers, and its total equals its number of
 * rows. A failure may be recorded after the rows are read, but before they are counted.
 */
const readFailed = () =>
  until('both transfers failed in both phases', async () => {
    const page = await streams.getHistory({ limit: 100 });
    return page.result.length >= 4 && page.pagination.total === page.result.length && page;
  });

test('the history holds failures, newest first, with the body as sent', async () => {
  const page = await readFailed();
  expect(page.hasNext()).toBe(false);
  expect(() => CALLS.listHistory.response.parse(page.raw)).not.toThrow();

  const blocks = page.result.map((record) => Number(record.tinyPayload.block));
  expect(blocks).toHaveLength(page.result.length);
  const dates = page.result.map(({ date }) => date);
  expect(dates).toEqual(dates.toSorted().toReversed());

  for (const record of page.result) {
    expect(record).toMatchObject({
      streamId,
      tag: 'failing',
      webhookUrl: sink.url + FAILING,
      errorMessage: 'HTTP 400',
      tinyPayload: { chainId: CHAIN, records: 1, retries: 0 },
    });
    const sent = await sink.waitFor(({ id }) => id === record.id);
    expect(JSON.stringify(record.payload)).toBe(sent.body);
    expect(record.payload).toMatchObject({
      confirmed: record.tinyPayload.confirmed,
      block: { number: record.tinyPayload.block },
    });
  }
  expect(new Set(page.result.map((record) => record.tinyPayload.confirmed))).toEqual(
    new Set([true, false]),
  );

  const bare = await streams.getHistory({ limit: 100, excludePayload: true });
  expect(bare.result.map(({ id }) => id)).toEqual(page.result.map(({ id }) => id));
  expect(bare.result.every((record) => !('payload' in record))).toBe(true);
});

test('every page of the history has the same total, even if more failures arrive meanwhile', async () => {
  const all = await readFailed();
  let page = await streams.getHistory({ limit: 2, excludePayload: true });
  const total = page.pagination.total;
  const ids = page.result.map(({ id }) => id);
  await transfer();
  await until('another failure arrives', async () => (await kit.history.list()).total > total);
  while (page.hasNext()) {
    page = await page.next();
    expect(page.pagination.total).toBe(total);
    ids.push(...page.result.map(({ id }) => id));
  }
  expect(ids).toEqual(all.result.map(({ id }) => id));
});

test('a replay sends the same id and body with one more retry, and removes the record from the history', async () => {
  const [record] = (await readFailed()).result;
  const { id } = record!;
  sink.respond(202, { path: FAILING });
  const replayed = await streams.retry({ id, streamId });
  expect(() => CALLS.replayHistory.response.parse(replayed.raw)).not.toThrow();
  expect(replayed.result).toMatchObject({ id, streamId, tag: 'failing' });

  const again = await until('the replay arrives', () =>
    sink.requests.find((request) => request.id === id && request.body.includes('"retries":1,')),
  );
  expect(JSON.parse(again.body)).toEqual({ ...record!.payload, retries: 1 });
  const signature = String(again.headers['x-signature']);
  expect(streams.verifySignature({ body: JSON.parse(again.body), signature })).toBe(true);
  sink.respond(400, { path: FAILING });

  await until('it leaves the history', async () =>
    (await streams.getHistory({ limit: 100 })).result.every((other) => other.id !== id),
  );
  const log = (await streams.getLogs({ limit: 100 })).result.find((row) => row.id === id);
  expect(log).toMatchObject({ deliveryStatus: 'success', retries: 1, errorMessage: '' });

  // Successful deliveries can be replayed as well. Here, the kit replays one, but the receiver
  // fails.
  expect((await kit.history.replay({ streamId, id })).id).toBe(id);
  await until('the second replay arrives', () =>
    sink.requests.find((request) => request.id === id && request.body.includes('"retries":2,')),
  );
  await until('it is in the history again', async () =>
    (await kit.history.list({ streamId, excludePayload: true })).result.find(
      (other) => other.id === id && other.tinyPayload.retries === 2,
    ),
  );

  for (const call of [
    streams.retry({ id: UNKNOWN_ID, streamId }),
    streams.retry({ id, streamId: UNKNOWN_ID }),
  ]) {
    await expect(call).rejects.toThrow('[C0006] Request failed, Not Found(404): History not found');
  }
});

test('the logs hold every attempted webhook, and the client reads their chain', async () => {
  await readFailed();
  const page = await streams.getLogs({ limit: 100 });
  expect(() => CALLS.listLogs.response.parse(page.raw)).not.toThrow();
  expect(page.result.length).toBeGreaterThanOrEqual(3);
  for (const log of page.result) {
    expect(log.chain.hex).toBe(CHAIN);
    expect(log).toMatchObject({ streamId, tag: 'failing', type: 'evm' });
    expect(typeof log.blockNumber).toBe('number');
    expect(log.deliveryStatus === 'failed').toBe(log.errorMessage !== '');
  }
});

test('filters of history and logs select the same rows for every client', async () => {
  await readFailed();
  const [newest] = (await kit.history.list({ excludePayload: true })).result;
  const block = Number(newest!.tinyPayload.block);
  const { payload } = (await kit.history.list({ limit: 1 })).result[0]!;
  const transactionHash = payload!.logs![0]!.transactionHash;
  const ms = Date.parse(newest!.date);

  const ofBlock = (await kit.history.list({ blockNumber: [block] })).result;
  expect(ofBlock.map(({ id }) => id)).toContain(newest!.id);
  expect(ofBlock.every((row) => row.tinyPayload.block === String(block))).toBe(true);
  const ofHash = (await kit.history.list({ transactionHash })).result;
  expect(ofHash.map(({ id }) => id).toSorted()).toEqual(ofBlock.map(({ id }) => id).toSorted());

  // Timestamps can be in milliseconds or seconds, and both bounds are inclusive.
  const since = (await kit.history.list({ fromTimestamp: ms })).result;
  expect(since.map(({ id }) => id)).toContain(newest!.id);
  expect(
    (await kit.history.list({ toTimestamp: ms - 1 })).result.map(({ id }) => id),
  ).not.toContain(newest!.id);
  const second = Math.floor(ms / 1000);
  const within = { fromTimestamp: second, toTimestamp: second };
  expect((await kit.history.list(within)).result.map(({ id }) => id)).toContain(newest!.id);

  expect((await kit.history.list({ chainId: ['0x1'] })).total).toBe(0);
  expect((await kit.history.list({ chainId: [1, 31_337], streamId })).total).toBeGreaterThan(2);
  expect((await kit.history.list({ streamId: UNKNOWN_ID })).total).toBe(0);
  const failed = await kit.history.logs({ deliveryStatus: ['failed'] });
  expect(failed.result.map(({ deliveryStatus }) => deliveryStatus)).not.toContain('success');
  const both = await kit.history.logs({ deliveryStatus: ['failed', 'success'] });
  expect(both.total).toBe((await kit.history.logs()).total);
  await expect(
    kit.history.logs({ fromTimestamp: second + 1, toTimestamp: second }),
  ).rejects.toThrow(/toTimestamp.*should not be before fromTimestamp/);
});

test('stats of the account and of a stream equal the ledger', async () => {
  // The statistics do not change while they are read: no delivery is in flight, and no retry is due
  // for most of a minute.
  const delivered = await until('a delivery succeeds', async () => {
    sink.respond(200, { path: FAILING });
    const [record] = (await streams.getHistory({ limit: 1, excludePayload: true })).result;
    await streams.retry({ id: record!.id, streamId });
    await until('it leaves the history', async () =>
      (await streams.getHistory({ limit: 100 })).result.every(({ id }) => id !== record!.id),
    );
    sink.respond(400, { path: FAILING });
    return record;
  });
  const one = await streams.getStatsById({ streamId });
  expect(() => CALLS.getStreamStats.response.parse(one.raw)).not.toThrow();
  expect(one.result).toMatchObject({
    streamId,
    totalWebhooksDelivered: 1,
    totalWebhooksFailed: 0,
    totalLogsProcessed: delivered.tinyPayload.confirmed ? 1 : 0,
    totalTxsProcessed: 0,
    totalTxsInternalProcessed: 0,
  });
  const all = await streams.getStats();
  expect(() => CALLS.getStats.response.parse(all.raw)).not.toThrow();
  const { createdAt: _, updatedAt: __, ...counters } = one.result;
  expect(all.result).toMatchObject({ totalWebhooksDelivered: 1, streams: [counters] });
  expect(await kit.stats.stream(streamId)).toMatchObject(counters);
  expect(await kit.stats.all()).toMatchObject({ streams: [counters] });

  await expect(streams.getStatsById({ streamId: UNKNOWN_ID })).rejects.toThrow(
    '[C0006] Request failed, Not Found(404): Stat not found',
  );
});

test('settings are read, and a changed region appears in webhooks', async () => {
  const before = await streams.readSettings();
  expect(before.result).toEqual({ region: 'us-east-1', secretKey: SECRET });
  expect(await kit.settings.read()).toEqual(before.result);

  const set = await streams.setSettings({ region: 'eu-central-1' });
  expect(set.result).toEqual({ region: 'eu-central-1', secretKey: SECRET });
  await streams.update({ id: streamId, webhookUrl: `${sink.url}/region` });
  const tested = await sink.waitFor(({ path }) => path === '/region');
  expect(tested.headers['x-region']).toBe('eu-central-1');
  expect(await kit.settings.set({ region: 'us-east-1' })).toEqual(before.result);

  await expect(streams.setSettings({ region: 'eu-central-100' })).rejects.toThrow(
    `"requestBody.region":{"message":"should be one of the following; ['us-east-1','us-west-2','eu-central-1','ap-southeast-1']","value":"eu-central-100"}`,
  );
  // The secret was set at startup, so this call cannot change it. The error does not repeat the
  // secret.
  const refused = kit.settings.set({ secretKey: 'another-secret' });
  await expect(refused).rejects.toMatchObject({ status: 409 });
  await expect(refused).rejects.toThrow(/set with --secret/);
  await expect(refused).rejects.not.toThrow(/another-secret/);
});
