/** Tests streams of both chain families whose webhooks go to NATS JetStream, or to RabbitMQ. */
import { type Consumer, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, connect } from '@nats-io/transport-node';
import { createHandler, unwrap } from '@sluice/kit';
import { type Nats, scriptedAptos, startNats, startRabbitMq, until } from '@sluice/testkit';
import { type GetMessage, connect as connectToRabbitMq } from 'amqplib';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SECRET } from '../serve.ts';
import { type BothChains, CHAIN, startBothChains } from './bothChains.ts';

const BOB = `0x${(0xb0b).toString(16).padStart(64, '0')}` as const;
const ALICE = `0x${(0xa11ce).toString(16).padStart(64, '0')}` as const;
const LOGIN = 'sluice:a-secret-password';

let world: BothChains;
let nats: Nats;
let connection: NatsConnection;
beforeAll(async () => {
  nats = await startNats({
    config: 'authorization { user: sluice, password: a-secret-password }',
    isProxied: true,
  });
  world = await startBothChains();
  connection = await connect({
    servers: nats.servers[0]!.directUrl,
    user: 'sluice',
    pass: 'a-secret-password',
  });
}, 60_000);
afterAll(async () => {
  await connection?.close();
  await world?.stop();
  await nats?.stop();
});

const urlOf = (subject: string): string => `${nats.url.replace('//', `//${LOGIN}@`)}/${subject}`;

/** Creates a JetStream stream, and returns a reader of all its messages. */
async function addQueue(name: string, subjects: string[]): Promise<Consumer> {
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name, subjects });
  await manager.consumers.add(name, { durable_name: 'reader', ack_policy: 'explicit' });
  return jetstream(connection).consumers.get(name, 'reader');
}

async function read(queue: Consumer, count: number): Promise<JsMsg[]> {
  const messages: JsMsg[] = [];
  while (messages.length < count) {
    const message = await queue.next({ expires: 20_000 });
    if (message === null) throw new Error(`only ${messages.length} of ${count}`);
    message.ack();
    messages.push(message);
  }
  return messages;
}

let accounts = 0;
const newStream = async (webhookUrl: string, tag: string): Promise<{ id: string; to: string }> => {
  const { client, anvil } = world;
  const { id } = await client.streams.create({
    webhookUrl,
    description: '',
    tag,
    chainIds: [CHAIN],
    includeNativeTxs: true,
  });
  const to = `0x${(0x0ead_0000 + (accounts += 1)).toString(16).padStart(40, '0')}`;
  await client.streams.addAddress(id, to);
  await anvil.request('evm_mine', []);
  return { id, to };
};
const pay = async (to: string): Promise<void> => {
  const { anvil } = world;
  const from = anvil.accounts[0]!.address;
  await anvil.request('eth_sendTransaction', [{ from, to, value: '0x1' }]);
};

test('a queue gets the webhooks of a stream, which the kit reads like requests', async () => {
  const url = urlOf('payments.{stream}.{chain}.{phase}');
  const create = () => newStream(url, 'payments');
  await expect(create()).rejects.toThrow(/no JetStream stream has the subject payments\._\._\._/);
  const queue = await addQueue('PAYMENTS', ['payments.>']);
  const { id, to } = await create();
  await pay(to);
  await world.anvil.request('anvil_mine', ['0x3']);
  const [tried, unconfirmed, confirmed] = (await read(queue, 3)) as [JsMsg, JsMsg, JsMsg];
  expect(tried.subject).toBe('payments._._._');
  expect(unconfirmed.subject).toBe(`payments.${id}.${CHAIN}.unconfirmed`);
  expect(confirmed.subject).toBe(`payments.${id}.${CHAIN}.confirmed`);

  const received = unwrap({
    headers: confirmed.headers!,
    body: confirmed.data,
    secret: SECRET,
    now: () => confirmed.time.getTime(),
  });
  expect(received).toMatchObject({ webhook: { streamId: id, confirmed: true } });
  const handled: string[] = [];
  const handler = createHandler({ secret: SECRET }).onWebhook(({ txs }) => {
    handled.push(txs[0]!.toAddress!);
  });
  for (const { headers, data: body, time } of [tried, unconfirmed, confirmed]) {
    const { status } = await handler.receive({ headers: headers!, body, receivedAt: +time });
    expect(status).toBe(200);
  }
  // By default, a handler calls functions for confirmed webhooks only.
  expect(handled).toEqual([to]);

  const { sluice, client } = world;
  const deliveries = await until('both have succeeded', async () => {
    const { result: found } = await sluice.listDeliveries({ streamId: id });
    return found.every(({ state }) => state === 'succeeded') && found;
  });
  const ids = deliveries.map((each) => each.id);
  const messageIds = [unconfirmed, confirmed].map(({ headers }) => headers!.get('webhook-id'));
  expect(ids.toSorted()).toEqual(messageIds.toSorted());
  const { webhookUrl, attemptList: attempts } = await sluice.getDelivery(ids[0]!);
  expect(attempts).toMatchObject([{ status: null, error: null }]);
  expect(JSON.parse(attempts[0]!.responseBody)).toMatchObject({ stream: 'PAYMENTS' });
  // The password is shown nowhere but in the stream itself.
  expect(webhookUrl).toMatch(/^nats:\/\/\*\*\*@127/);
  expect(JSON.stringify(attempts)).not.toContain('a-secret');
  expect(JSON.stringify(await sluice.listStreamSummaries())).not.toContain('a-secret');
  expect((await client.streams.get(id)).webhookUrl).toBe(url);
});

test('a queue gets the webhooks of an Aptos stream', async () => {
  const queue = await addQueue('APTOS', ['aptos.>']);
  const { client, aptos } = world;
  const { id } = await client.streams.create({
    networkType: 'aptos',
    webhookUrl: urlOf('aptos.{chain}.{tag}'),
    description: '',
    tag: 'coins',
    network: ['local'],
  });
  await client.streams.addAddress(id, BOB, { networkType: 'aptos' });
  aptos.mine({ transactions: [scriptedAptos.transfer({ from: ALICE, to: BOB, amount: 5n })] });
  const [, message] = await read(queue, 2);
  expect(message!.subject).toMatch(/^aptos\.[\w-]+\.coins$/);
  expect(JSON.parse(message!.string())).toMatchObject({ streamId: id });
});

test('a broker that is silent does not delay other streams, and gets its messages later', async () => {
  const queue = await addQueue('SILENT', ['silent']);
  const [silent, other] = [
    await newStream(urlOf('silent'), 'silent'),
    await newStream(`${world.sink.url}/other`, 'other'),
  ];
  await read(queue, 1);
  world.sink.clear();
  nats.servers[0]!.network!.blackHole();
  await pay(silent.to);
  await pay(other.to);
  await world.sink.waitFor(({ body }) => body.includes(other.id), { timeoutMs: 5_000 });
  nats.servers[0]!.network!.heal();
  const messages = await read(queue, 1);
  expect(messages[0]!.json()).toMatchObject({ streamId: silent.id });
}, 90_000);

test('a queue of RabbitMQ gets the webhooks of a stream, which the kit reads like requests', async () => {
  const [name, password] = LOGIN.split(':') as [string, string];
  const rabbit = await startRabbitMq({ users: [{ name, password }] });
  onTestFinished(rabbit.stop);
  const model = await connectToRabbitMq(rabbit.url);
  onTestFinished(() => model.close());
  const channel = await model.createChannel();
  const url = `${rabbit.url.replace('//', `//${LOGIN}@`)}/?exchange=payments&routingKey={chain}.{phase}`;
  const create = () => newStream(url, 'payments');
  await expect(create()).rejects.toThrow(/the exchange payments does not exist/);
  await channel.assertExchange('payments', 'topic');
  await channel.assertQueue('paid', { arguments: { 'x-queue-type': 'quorum' } });
  await channel.bindQueue('paid', 'payments', '#');
  const { id, to } = await create();
  await pay(to);
  await world.anvil.request('anvil_mine', ['0x3']);
  const messages: GetMessage[] = [];
  await until('three messages are read', async () => {
    const message = await channel.get('paid', { noAck: true });
    if (message !== false) messages.push(message);
    return messages.length === 3;
  });
  expect(messages.map(({ fields }) => fields.routingKey)).toEqual([
    '_._',
    `${CHAIN}.unconfirmed`,
    `${CHAIN}.confirmed`,
  ]);
  const handled: string[] = [];
  const handler = createHandler({ secret: SECRET }).onWebhook(({ txs }) => {
    handled.push(txs[0]!.toAddress!);
  });
  for (const { content: body, properties } of messages) {
    const headers = properties.headers as Record<string, string>;
    const { status } = await handler.receive({
      headers,
      body,
      receivedAt: properties.timestamp * 1_000,
    });
    expect(status).toBe(200);
  }
  expect(handled).toEqual([to]);
  const { result: found } = await world.sluice.listDeliveries({ streamId: id });
  const messageIds = messages.slice(1).map(({ properties }) => properties.messageId as string);
  expect(found.map((each) => each.id).toSorted()).toEqual(messageIds.toSorted());
  const { webhookUrl } = await world.sluice.getDelivery(found[0]!.id);
  expect(webhookUrl).toMatch(/^amqp:\/\/\*\*\*@127/);
  expect((await world.client.streams.get(id)).webhookUrl).toBe(url);
}, 90_000);
