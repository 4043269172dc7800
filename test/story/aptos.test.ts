/**
 * Tests Aptos from a scripted fullnode or transaction stream, through a service process, to a
 * receiver.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import { APTOS_CHAINS, type AptosWebhook } from '@sluice/kit/contract';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type RunningScriptedAptos,
  type RunningScriptedAptosStream,
  type WebhookSink,
  scriptedAptos,
  startScriptedAptos,
  startScriptedAptosStream,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CALLS } from '@sluice/kit/calls';
import { API_KEY, type Served, serve } from '../serve.ts';

const account = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, '0')}`;
const ALICE = account(0xa11ce);
const BOB = account(0xb0b);
const CAROL = account(0xca401);

const folder = mkdtempSync(join(tmpdir(), 'sluice-aptos-'));
let node: RunningScriptedAptos;
let stream: RunningScriptedAptosStream;
let sink: WebhookSink;
let served: Served;
let client: Client;
let sluice: SluiceClient;
let args: string[];

beforeAll(async () => {
  node = await startScriptedAptos();
  node.mineMany(5);
  stream = await startScriptedAptosStream({ ledger: node, key: 'a-key' });
  sink = await startWebhookSink();
  args = ['--data', folder, '--aptos', `local=${node.url},poll=50`];
  served = await serve(args);
  client = createClient({ apiKey: API_KEY, baseUrl: served.url });
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
  await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
}, 60_000);
afterAll(async () => {
  await served?.stop();
  await sink?.close();
  await Promise.all([node?.stop(), stream?.stop()]);
  rmSync(folder, { recursive: true });
});

const bodiesOf = (streamId: string): AptosWebhook[] =>
  sink.requests
    .map(({ body }) => JSON.parse(body) as AptosWebhook)
    .filter((body) => body.streamId === streamId);

const newStream = async (tag: string, fields: object = {}) => {
  const stream = await client.streams.create({
    networkType: 'aptos',
    webhookUrl: `${sink.url}/${tag}`,
    description: '',
    tag,
    network: ['local'],
    ...fields,
  });
  return stream;
};

/** Waits until the receiver has at least `count` bodies of a stream, and returns them. */
const delivered = (streamId: string, count = 1): Promise<AptosWebhook[]> =>
  until(`${count} bodies of ${streamId}`, () => {
    const found = bodiesOf(streamId);
    return found.length >= count && found;
  });

describe('a wallet stream', () => {
  test('gets one webhook for a received fungible asset, with name and amount', async () => {
    const stream = await client.streams.create({
      networkType: 'aptos',
      webhookUrl: `${sink.url}/wallet`,
      description: '',
      tag: 'wallet',
      network: ['local'],
    });
    const labels = { '0xb0b': 'Bob' };
    await client.streams.addAddress(stream.id, '0xb0b', { networkType: 'aptos', labels });
    node.mine({
      transactions: [scriptedAptos.transfer({ from: ALICE, to: BOB, amount: 150_000_000n })],
    });
    const [body] = await until('the webhook is delivered', () => {
      const found = bodiesOf(stream.id);
      return found.length > 0 && found;
    });
    expect(body).toMatchObject({
      streamId: stream.id,
      tag: 'wallet',
      network: 'local',
      retries: 0,
      coinDeposits: [
        {
          address: BOB,
          value: '150000000',
          valueWithDecimals: 1.5,
          coin: {
            name: 'Aptos Coin',
            symbol: 'APT',
            decimals: 8,
            type: `${account(1)}::aptos_coin::AptosCoin`,
          },
        },
      ],
    });
    const [delivery] = (await sluice.listDeliveries({ streamId: stream.id })).result;
    expect((await sluice.getDelivery(delivery!.id)).labels).toEqual({ [BOB]: 'Bob' });
  });
});

describe('past blocks', () => {
  const options = {
    functions: ['0x1::aptos_account::transfer'],
    includeEvents: true,
    addresses: ['0xb0b'],
  };

  test('are dry-run by height and by version without sending', async () => {
    const { height, firstVersion } = node.mine({
      transactions: [
        scriptedAptos.coinTransfer({ from: ALICE, to: BOB, amount: 4n }),
        scriptedAptos.transfer({ from: ALICE, to: BOB, amount: 250_000_000n }),
      ],
    });
    const byHeight = await sluice.dryRunAptos('local', { block: Number(height), ...options });
    expect(CALLS.dryRunAptos.response.safeParse(byHeight).error?.issues ?? []).toEqual([]);
    expect(byHeight.webhook).toMatchObject({
      streamId: '',
      network: 'local',
      block: { number: String(height), firstVersion: String(firstVersion) },
      coinTransfers: [{ valueWithDecimals: 2.5, coin: { symbol: 'APT' } }],
      events: [[{ type: '0x1::fungible_asset::Withdraw' }, {}, {}]],
    });
    // The counts include the other transaction of the block, which the stream does not match.
    expect(byHeight.observed.map(({ kind, path, count }) => `${count} ${kind} ${path}`)).toEqual([
      '2 event 0x1::transaction_fee::FeeStatement',
      '1 function 0x1::coin::transfer',
      '1 function 0x1::aptos_account::transfer',
      '1 event 0x1::coin::WithdrawEvent',
      '1 event 0x1::coin::DepositEvent',
      '1 event 0x1::fungible_asset::Withdraw',
      '1 event 0x1::fungible_asset::Deposit',
    ]);
    const version = Number(firstVersion) + 2;
    expect(await sluice.dryRunAptos('local', { version, ...options })).toEqual(byHeight);
    expect(await sluice.dryRunAptos('local', { version, ...options, addresses: ['0x77'] })).toEqual(
      { webhook: null, observed: [] },
    );
    await expect(sluice.dryRunAptos('local', { ...options })).rejects.toThrow(
      /block should be given, or version instead/,
    );
    await expect(sluice.dryRunAptos('testnet', { block: 1, ...options })).rejects.toThrow(
      /No source for testnet: start the service with --aptos testnet=/,
    );
    await expect(sluice.dryRunAptos('local', { version: 9_999_999 })).rejects.toThrow(
      /not found|Reading from the nodes/i,
    );
  });

  test('are sent again, and backfilled by version, each match once', async () => {
    const first = node.mine({
      transactions: [scriptedAptos.transfer({ from: ALICE, to: BOB, amount: 31n })],
    });
    node.mineMany(40);
    const last = node.mine({
      transactions: [scriptedAptos.transfer({ from: ALICE, to: BOB, amount: 37n })],
    });
    await until('both blocks are read', async () => {
      const [chain] = await sluice.listChains();
      return chain!.checkpoint === Number(last.height);
    });
    const { id } = await newStream('past');
    await client.streams.addAddress(id, BOB, { networkType: 'aptos' });

    expect(await sluice.sendAptosBlock('local', id, { block: Number(first.height) })).toBe(1);
    const [sent] = await delivered(id);
    expect(sent!.block.number).toBe(String(first.height));

    const job = await sluice.createAptosBackfill('local', {
      streamId: id,
      versionFrom: Number(first.firstVersion),
      versionTo: Number(last.lastVersion),
    });
    expect(job).toMatchObject({
      chainId: 'aptos:local',
      blockFrom: Number(first.height),
      blockTo: Number(last.height),
    });
    await until('the backfill is done', async () => (await sluice.getJob(job.id)).state === 'done');
    const all = await delivered(id, 3);
    expect(
      all
        .slice(1)
        .map(({ block }) => block.number)
        .toSorted(),
    ).toEqual([first.height, last.height].map(String).toSorted());
    expect((await sluice.getCoverage(id))[0]).toMatchObject({
      chainId: 'aptos:local',
      from: Number(first.height),
    });
  });
});

describe('next to EVM', () => {
  test('history, logs, replay, statistics and live events include Aptos', async () => {
    const { id } = await newStream('beside');
    await client.streams.addAddress(id, BOB, { networkType: 'aptos' });
    const live = sluice.liveEvents();
    let isOpen = false;
    const observed = (async () => {
      for await (const { event } of live) {
        isOpen = true;
        if (event.type === 'delivery' && event.delivery.streamId === id) return event.delivery;
      }
      return undefined;
    })();
    await until('live events are reported', async () => {
      await client.streams.update(id, { networkType: 'aptos', description: 'watched live' });
      return isOpen;
    });
    const { height } = node.mine({
      transactions: [scriptedAptos.transfer({ from: ALICE, to: BOB, amount: 41n })],
    });
    await delivered(id);
    expect(await observed).toMatchObject({
      chainId: 'aptos:local',
      blockNumber: Number(height),
      phase: 'confirmed',
    });
    const log = await until('the delivery is logged', async () => {
      const { result } = await client.history.logs({ streamId: id });
      return result[0];
    });
    expect(log).toMatchObject({
      type: 'aptos',
      chain: APTOS_CHAINS.local,
      blockNumber: Number(height),
      deliveryStatus: 'success',
    });
    const { result } = await client.history.logs({ chainId: [APTOS_CHAINS.local], streamId: id });
    expect(result).toHaveLength(1);
    await client.history.replay({ streamId: id, id: log.id });
    const [, again] = await delivered(id, 2);
    expect(again!.block.number).toBe(String(height));
    const [summary] = (await sluice.listStreamSummaries()).filter((each) => each.id === id);
    expect(summary).toMatchObject({ family: 'aptos', chainIds: ['aptos:local'] });
  });
});

test('after kill -9 at any moment every payment is delivered and recorded once', async () => {
  const { id } = await newStream('kill');
  await client.streams.addAddress(id, CAROL, { networkType: 'aptos' });
  const amounts: string[] = [];
  const mine = async (first: number): Promise<void> => {
    for (let n = first; n < first + 30; n++) {
      const to = n % 3 === 0 ? BOB : CAROL;
      if (to === CAROL) amounts.push(String(5_000 + n));
      node.mine({
        transactions: [scriptedAptos.transfer({ from: ALICE, to, amount: BigInt(5_000 + n) })],
      });
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  };
  for (let kill = 0; kill < 6; kill++) {
    // From its fourth restart on, the service has a transaction stream in addition to the fullnode.
    if (kill === 3) args = [...args, '--aptos', `local=${stream.url}`];
    const mining = mine(kill * 30);
    await new Promise((resolve) => setTimeout(resolve, Math.round(Math.random() * 400)));
    await served.kill();
    served = await serve(args);
    await mining;
  }
  await until('the stream is read', () => stream.sent > 0);
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
  client = createClient({ apiKey: API_KEY, baseUrl: served.url });
  const readAll = async () => {
    const all: { id: string; state: string; blockNumber: number }[] = [];
    for await (const each of sluice.listDeliveries({ streamId: id, limit: 100 })) all.push(each);
    return all;
  };
  const deliveries = await until(
    'every delivery succeeds',
    async () => {
      const all = await readAll();
      return all.length >= amounts.length && all.every(({ state }) => state === 'succeeded') && all;
    },
    60_000,
  );
  expect(deliveries).toHaveLength(amounts.length);
  expect(new Set(deliveries.map(({ blockNumber }) => blockNumber)).size).toBe(amounts.length);
  const observed = new Map(sink.requests.map((request) => [request.id, request.body]));
  const values = deliveries.map(
    (each) => (JSON.parse(observed.get(each.id)!) as AptosWebhook).coinDeposits[0]!.value,
  );
  expect(values.toSorted()).toEqual(amounts.toSorted());
}, 180_000);
