/** Tests the feeds of the kit on a real service that is killed, on an EVM and an Aptos chain. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, createHandler } from '@sluice/kit';
import { FEED_URL } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import {
  findFreePort,
  type RunningScriptedAptos,
  type RunningScriptedChain,
  scripted,
  scriptedAptos,
  startScriptedAptos,
  startScriptedChain,
  until,
} from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const TOKEN = '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35';
const ALICE = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const BOB = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const APTOS_BOB = `0x${(0xb0b).toString(16).padStart(64, '0')}` as const;
const APTOS_ALICE = `0x${(0xa11ce).toString(16).padStart(64, '0')}` as const;

const folder = mkdtempSync(join(tmpdir(), 'sluice-feed-client-'));
let chain: RunningScriptedChain;
let aptos: RunningScriptedAptos;
let service: Served;
let flags: string[];
let connection: { baseUrl: string; apiKey: string };

beforeAll(async () => {
  [chain, aptos] = await Promise.all([startScriptedChain(), startScriptedAptos()]);
  aptos.mineMany(3);
  flags = [
    ...['--port', String(await findFreePort()), '--data', folder, '--no-test-webhook'],
    ...['--chain', `${CHAIN}=${chain.wsUrl},confirmations=1,poll=50`],
    ...['--aptos', `local=${aptos.url},poll=50`],
  ];
  service = await serve(flags);
  connection = { baseUrl: service.url, apiKey: API_KEY };
  await until('both chains are live', async () =>
    (await sluice().listChains()).every(({ state }) => state === 'live'),
  );
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([chain?.stop(), aptos?.stop()]);
  rmSync(folder, { recursive: true });
});

const sluice = () => createSluiceClient(connection);

/** Creates a feed of token transfers, one delivery for each. */
async function createFeed(tag: string): Promise<string> {
  const { streams } = createClient(connection);
  const { id } = await streams.create({
    webhookUrl: FEED_URL,
    description: '',
    tag,
    chainIds: [CHAIN],
    includeContractLogs: true,
    deliver: 'confirmed',
  });
  await streams.addAddress(id, TOKEN);
  // The address is watched from the next block on.
  chain.mine();
  return id;
}

/** Mines a block with a transfer, and the block that confirms it. */
const pay = (value: bigint): void => {
  chain.mine({
    transactions: [scripted.erc20Transfer({ token: TOKEN, from: ALICE, to: BOB, value })],
  });
  chain.mine();
};

const readConsumer = async (id: string, name: string) =>
  (await sluice().listFeedConsumers(id)).find((each) => each.name === name);

test('one handler handles the feeds of an EVM and an Aptos stream', async () => {
  const evm = await createFeed('evm');
  const { streams } = createClient(connection);
  const { id } = await streams.create({
    networkType: 'aptos',
    webhookUrl: FEED_URL,
    description: '',
    tag: 'aptos',
    network: ['local'],
  });
  await streams.addAddress(id, APTOS_BOB, { networkType: 'aptos' });
  pay(7n);
  aptos.mine({
    transactions: [scriptedAptos.transfer({ from: APTOS_ALICE, to: APTOS_BOB, amount: 5n })],
  });

  const controller = new AbortController();
  const handled: string[] = [];
  const handle = (tag: string): void => {
    handled.push(tag);
    if (handled.length === 2) controller.abort();
  };
  const handler = createHandler({ secret: SECRET })
    .onWebhook(({ tag }) => handle(tag))
    .onAptosWebhook(({ tag }) => handle(tag));
  const options = { consumer: 'billing', signal: controller.signal };
  await Promise.all([evm, id].map((each) => sluice().feed(each, options).handle(handler)));
  expect(handled.toSorted()).toEqual(['aptos', 'evm']);
  for (const each of [evm, id]) {
    expect(await readConsumer(each, 'billing')).toMatchObject({
      position: 1,
      unread: 0,
      leased: 0,
    });
  }
  const received = sluice().feed(id, { mode: 'each', after: 0, family: 'aptos', secret: SECRET });
  for await (const { webhook, position } of received) {
    expect(webhook).toMatchObject({ streamId: id, coinDeposits: [{ address: APTOS_BOB }] });
    expect(position).toBe(1);
    break;
  }
});

test('a webhook that a handler fails to handle is returned again, and late acknowledgements count', async () => {
  const id = await createFeed('late');
  pay(1n);
  pay(2n);
  const controller = new AbortController();
  const ids: string[] = [];
  const handler = createHandler({ secret: SECRET, onError: () => {} }).onWebhook(
    async (_, delivery) => {
      ids.push(delivery.id);
      if (ids.length === 1) throw new Error('the database is down');
      // Outlasts the lease of both, so the first is returned again.
      if (ids.length === 2) {
        const end = performance.now() + 1_100;
        await until('the lease has ended', () => performance.now() > end);
      }
      if (ids.length === 3) controller.abort();
    },
  );
  const options = { consumer: 'slow', leaseMs: 1_000, signal: controller.signal };
  await sluice().feed(id, options).handle(handler);
  expect(ids).toEqual([ids[0], ids[1], ids[0]]);
  expect(await readConsumer(id, 'slow')).toMatchObject({ position: 2, unread: 0, leased: 0 });
});

test('an iteration goes on after kills of the service, and hands out nothing that it acknowledged', async () => {
  const id = await createFeed('killed');
  const handed: number[] = [];
  const wanted = 40;
  const reading = (async () => {
    for await (const { position, ack } of sluice().feed(id, {
      consumer: 'a',
      limit: 5,
      leaseMs: 2_000,
    })) {
      handed.push(position);
      await ack();
      if (handed.length === wanted) return;
    }
  })();
  for (let round = 1; round <= 2; round++) {
    for (let n = 0; n < 20; n++) pay(BigInt(round * 100 + n));
    await until('some are read', () => handed.length >= round * 20 - 10);
    await service.kill();
    service = await serve(flags);
  }
  await reading;
  expect(handed.toSorted((a, b) => a - b)).toEqual(Array.from({ length: wanted }, (_, n) => n + 1));
  expect(await readConsumer(id, 'a')).toMatchObject({ position: wanted, unread: 0, leased: 0 });
});
