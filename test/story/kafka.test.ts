/** Tests streams of both chain families whose webhooks go to Kafka, which is a mock cluster. */
import { createHandler, unwrap } from '@sluice/kit';
import {
  type KafkaMock,
  type KafkaRecord,
  scriptedAptos,
  startKafkaMock,
  until,
} from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SECRET } from '../serve.ts';
import { type BothChains, CHAIN, startBothChains } from './bothChains.ts';

const BOB = `0x${(0xb0b).toString(16).padStart(64, '0')}` as const;
const ALICE = `0x${(0xa11ce).toString(16).padStart(64, '0')}` as const;

let world: BothChains;
let kafka: KafkaMock;
beforeAll(async () => {
  kafka = await startKafkaMock({ brokers: 3 });
  world = await startBothChains();
}, 60_000);
afterAll(async () => {
  await world?.stop();
  await kafka?.stop();
});

const urlOf = (rest: string): string => `kafka://127.0.0.1:${kafka.network.port}/${rest}`;
/** Waits until a topic has this many records. */
const read = (topic: string, count: number): Promise<KafkaRecord[]> =>
  until(`${topic} has ${count} records`, async () => {
    const records = await kafka.read(topic);
    return records.length >= count && records;
  });

let accounts = 0;
const newStream = async (webhookUrl: string): Promise<{ id: string; to: string }> => {
  const { client, anvil } = world;
  const { id } = await client.streams.create({
    webhookUrl,
    description: '',
    tag: 'payments',
    chainIds: [CHAIN],
    includeNativeTxs: true,
  });
  const to = `0x${(0x0ead_0000 + (accounts += 1)).toString(16).padStart(40, '0')}`;
  await client.streams.addAddress(id, to);
  await anvil.request('evm_mine', []);
  return { id, to };
};
const pay = async (to: string): Promise<void> => {
  const from = world.anvil.accounts[0]!.address;
  await world.anvil.request('eth_sendTransaction', [{ from, to, value: '0x1' }]);
};

test('a topic gets the webhooks of a stream in one partition, which the kit reads like requests', async () => {
  const { id, to } = await newStream(urlOf('payments'));
  await pay(to);
  await world.anvil.request('anvil_mine', ['0x3']);
  const records = await read('payments', 3);
  const ofStream = records.filter(({ key }) => key === id);
  expect(records.filter(({ key }) => key !== id)).toMatchObject([{ key: '_' }]);
  const handled: string[] = [];
  const handler = createHandler({ secret: SECRET }).onWebhook(({ txs }) => {
    handled.push(txs[0]!.toAddress!);
  });
  for (const { headers, body } of ofStream) {
    const { webhook } = unwrap({ headers, body, secret: SECRET });
    expect(webhook).toMatchObject({ streamId: id });
    expect((await handler.receive({ headers, body })).status).toBe(200);
  }
  expect(handled).toEqual([to]);
  const phases = new Set(ofStream.map(({ body }) => JSON.parse(body).confirmed));
  expect(phases).toEqual(new Set([false, true]));
  expect(new Set(ofStream.map(({ partition }) => partition)).size).toBe(1);

  const { sluice } = world;
  const deliveries = await until('both have succeeded', async () => {
    const { result: found } = await sluice.listDeliveries({ streamId: id });
    return found.every(({ state }) => state === 'succeeded') && found;
  });
  const ids = ofStream.map(({ headers }) => headers['webhook-id']);
  expect(new Set(deliveries.map((each) => each.id))).toEqual(new Set(ids));
  const { attemptList: attempts } = await sluice.getDelivery(deliveries[0]!.id);
  expect(attempts).toMatchObject([{ status: null, error: null }]);
  expect(JSON.parse(attempts[0]!.responseBody)).toMatchObject({ topic: 'payments' });
});

test('a topic gets the webhooks of an Aptos stream', async () => {
  const { client, aptos } = world;
  const { id } = await client.streams.create({
    networkType: 'aptos',
    webhookUrl: urlOf('aptos?key={chain}.{tag}'),
    description: '',
    tag: 'coins',
    network: ['local'],
  });
  await client.streams.addAddress(id, BOB, { networkType: 'aptos' });
  aptos.mine({ transactions: [scriptedAptos.transfer({ from: ALICE, to: BOB, amount: 5n })] });
  const records = await read('aptos', 2);
  const record = records.find(({ key }) => key?.endsWith('.coins'));
  expect(JSON.parse(record!.body)).toMatchObject({ streamId: id });
});

test('webhooks wait for a cluster that is killed, and each is confirmed by its successor', async () => {
  const { id, to } = await newStream(urlOf('after'));
  await kafka.kill();
  await pay(to);
  await world.anvil.request('anvil_mine', ['0x3']);
  const { sluice } = world;
  await until('an attempt has failed', async () => {
    const { result: found } = await sluice.listDeliveries({ streamId: id });
    return found.some(({ attempts }) => attempts > 0);
  });
  await kafka.start();
  const records = await read('after', 2);
  const { result: deliveries } = await sluice.listDeliveries({ streamId: id });
  const ids = records.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids)).toEqual(new Set(deliveries.map((each) => each.id)));
}, 90_000);
