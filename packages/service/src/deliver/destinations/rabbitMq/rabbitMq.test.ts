import { setTimeout as wait } from 'node:timers/promises';
import { unwrap } from '@sluice/kit';
import { TEST_WEBHOOK } from '@sluice/kit/contract';
import { type RabbitMq, startRabbitMq, startWebhookSink, until } from '@sluice/testkit';
import { type Channel, type ChannelModel, type GetMessage, connect } from 'amqplib';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createAddressGuard } from '../http/guard.ts';
import type { QueueOptions } from '../queues/queue.ts';
import {
  SECRET,
  WEBHOOK,
  openQueueSender,
  startAuthorities,
} from '../queues/queueSender.test-only.ts';
import { createRabbitMq } from './rabbitMq.ts';

/** A login that needs escapes in a URL, and a user that may publish to the exchange `hooks` alone. */
const USERS = [
  { name: 'us/er', password: 'p@ss:word' },
  { name: 'limited', password: 'limited', write: '^hooks$' },
];
const MAX_BYTES = 100_000;

let rabbit: RabbitMq;
let model: ChannelModel;
let channel: Channel;
beforeAll(async () => {
  rabbit = await startRabbitMq({
    isProxied: true,
    users: USERS,
    config: `max_message_size = ${MAX_BYTES}`,
  });
  model = await connect(rabbit.servers[0]!.directUrl);
  channel = await model.createChannel();
  await channel.assertExchange('hooks', 'topic');
}, 90_000);
afterAll(async () => {
  await model?.close();
  await rabbit?.stop();
});

const open = (options?: Partial<QueueOptions>) => openQueueSender(createRabbitMq, options);

/** The URL of the broker with a login, and with the parameters of a target. */
const urlOf = (target: string, login = 'us%2Fer:p%40ss%3Aword') =>
  `${rabbit.url.replace('//', `//${login}@`)}/?${target}`;

/** Creates an empty queue of a type. */
const addQueue = async (name: string, type = 'quorum', more: object = {}) => {
  await channel.assertQueue(name, { arguments: { 'x-queue-type': type, ...more } });
  return name;
};
const read = async (queue: string) => (await channel.get(queue, { noAck: true })) as GetMessage;
const count = async (queue: string) => (await channel.checkQueue(queue)).messageCount;

test('a message has the headers and the body of the webhook, which the kit verifies', async () => {
  const { send } = open();
  await addQueue('paid');
  await channel.bindQueue('paid', 'hooks', 'paid.#');
  const body = JSON.stringify(WEBHOOK);
  const url = urlOf('exchange=hooks&routingKey=paid.{stream}.{chain}.{phase}.{tag}');
  const result = await send(url, { id: 'id-1', body });
  const routingKey = `paid.${WEBHOOK.streamId}.0x1.confirmed.paid_orders__`;
  expect(result).toMatchObject({ error: null, status: null });
  expect(JSON.parse(result.responseBody)).toEqual({ exchange: 'hooks', routingKey });
  expect(result.transport).toMatchObject({ address: rabbit.url.slice('amqp://'.length) });
  const { content, fields, properties } = await read('paid');
  expect(content.toString()).toBe(body);
  expect(fields).toMatchObject({ exchange: 'hooks', routingKey });
  expect(properties).toMatchObject({
    messageId: 'id-1',
    contentType: 'application/json',
    deliveryMode: 2,
    headers: { 'webhook-id': 'id-1', 'x-own': 'a value' },
  });
  expect(Date.now() / 1_000 - properties.timestamp).toBeLessThan(60);
  const { headers } = properties as { headers: Record<string, string> };
  const received = unwrap({ headers, body: content, secret: SECRET });
  expect(received.webhook).toEqual(WEBHOOK);
});

test('a test webhook has an underscore for each value', async () => {
  const { send } = open();
  await addQueue('_-_');
  const body = JSON.stringify(TEST_WEBHOOK);
  expect((await send(urlOf('routingKey={stream}-{chain}'), { body })).error).toBeNull();
  expect((await read('_-_')).content.toString()).toBe(body);
});

test.each(['classic', 'quorum', 'stream'])('a queue of the type %s gets messages', async (type) => {
  const { send } = open();
  const queue = await addQueue(`of-type-${type}`, type);
  const sent = Array.from({ length: 50 }, () => send(urlOf(`routingKey=${queue}`)));
  for (const { error } of await Promise.all(sent)) expect(error).toBeNull();
  const reading = await model.createChannel();
  onTestFinished(() => reading.close());
  await reading.prefetch(100);
  const ids = new Set<string>();
  await reading.consume(
    queue,
    (message) => {
      ids.add(message!.properties.headers!['webhook-id'] as string);
      reading.ack(message!);
    },
    type === 'stream' ? { arguments: { 'x-stream-offset': 'first' } } : {},
  );
  await until('all are read', () => ids.size === 50);
});

test('messages share one connection, many at a time', async () => {
  const { send } = open();
  const queue = await addQueue('many');
  const connections = () => rabbit.servers[0]!.network!.connections;
  await expect.poll(connections).toBe(0);
  const url = urlOf(`routingKey=${queue}`);
  const results = await Promise.all(Array.from({ length: 500 }, () => send(url)));
  expect(results.filter(({ error }) => error !== null)).toEqual([]);
  expect(await count(queue)).toBe(500);
  expect(connections()).toBe(1);
});

test('each rejection says what to do', async () => {
  const { send } = open();
  await addQueue('some');
  await addQueue('full', 'classic', { 'x-max-length': 1, 'x-overflow': 'reject-publish' });
  const errorOf = async (target: string, login?: string, body?: string) =>
    (await send(urlOf(target, login), body === undefined ? {} : { body })).error;
  expect(await errorOf('routingKey=full')).toBeNull();
  expect(await errorOf('routingKey=full')).toMatch(/^a queue rejected the message, .*max-length/);
  expect(await errorOf('routingKey=missing')).toMatch(
    /^the queue missing does not exist in the vhost \/: create it/,
  );
  expect(await errorOf('exchange=hooks&routingKey=unbound')).toMatch(
    /^no queue is bound to the exchange hooks for the routing key unbound: bind one/,
  );
  expect(await errorOf('exchange=missing&routingKey=a')).toMatch(
    /^the exchange missing does not exist in the vhost \/: create it/,
  );
  expect(await errorOf('routingKey=some', 'limited:limited')).toMatch(
    /^the broker does not permit this: .* for user '\*\*\*'\. Let the user write to the exchange/,
  );
  expect(await errorOf('routingKey=some', 'limited:wrong-password')).toMatch(
    /^the broker rejected the login: correct the user and password/,
  );
  const other = await send(urlOf('routingKey=some').replace('/?', '/other?'));
  expect(other.error).toMatch(/^the broker rejected the vhost other: create it/);
  expect(await errorOf('routingKey=some', undefined, 'x'.repeat(MAX_BYTES + 1))).toMatch(
    /max_message_size of 100,000 bytes: raise it, or set maxWebhookBytes to at most 100,000$/,
  );
  const long = JSON.stringify({ ...WEBHOOK, tag: 'x'.repeat(256) });
  expect(await errorOf('routingKey={tag}', undefined, long)).toMatch(/longer than 255 bytes/);
});

test('a rejected message does not fail others that are in flight', async () => {
  const { send } = open();
  const queue = await addQueue('others');
  const url = urlOf(`routingKey=${queue}`);
  const sent = Array.from({ length: 50 }, (_, n) =>
    send(url, n === 25 ? { body: 'x'.repeat(MAX_BYTES + 1) } : {}),
  );
  const missing = send(urlOf('exchange=missing&routingKey=a'));
  const errors = (await Promise.all(sent)).map(({ error }) => error);
  expect(errors.filter((error) => error !== null)).toEqual([errors[25]]);
  expect((await missing).error).toMatch(/the exchange missing/);
  expect(await count(queue)).toBeGreaterThanOrEqual(49);
});

test('a queue that does not respond delays no other, and gets its messages later', async () => {
  const { send } = open();
  const [stalled, other] = [await addQueue('stalled'), await addQueue('other')];
  const [server] = rabbit.servers;
  await server!.ctl('eval', "sys:suspend('%2F_stalled').");
  const late = Array.from({ length: 500 }, () =>
    send(urlOf(`routingKey=${stalled}`), { timeoutMs: 1_000 }),
  );
  const began = performance.now();
  while (performance.now() - began < 8_000) {
    expect((await send(urlOf(`routingKey=${other}`))).error).toBeNull();
  }
  for (const { error } of await Promise.all(late)) expect(error).toMatch(/^no confirmation/);
  await server!.ctl('eval', "sys:resume('%2F_stalled').");
  await until('a message is confirmed', async () => {
    return (await send(urlOf(`routingKey=${stalled}`))).error === null;
  });
});

test('an alarm of the broker fails messages with its cause until it is over', async () => {
  const { send } = open();
  const queue = await addQueue('alarm');
  const [server] = rabbit.servers;
  const url = urlOf(`routingKey=${queue}`);
  expect((await send(url)).error).toBeNull();
  await server!.ctl('set_vm_memory_high_watermark', '0.00001');
  onTestFinished(async () => void (await server!.ctl('set_vm_memory_high_watermark', '0.4')));
  const blocked = /^the broker takes no messages now \(low on memory\): free memory or disk/;
  expect((await send(url)).error).toMatch(blocked);
  const later = await send(url);
  expect(later.error).toMatch(blocked);
  expect(later.durationMs).toBeLessThan(1_000);
  await server!.ctl('set_vm_memory_high_watermark', '0.4');
  await until('messages are confirmed again', async () => (await send(url)).error === null);
});

test('a broker that is down fails attempts at once, and later ones succeed without help', async () => {
  const own = await startRabbitMq();
  onTestFinished(own.stop);
  const { send } = open();
  const url = `${own.url}/?routingKey=hooks`;
  const other = await connect(own.url);
  other.on('error', () => {});
  const setting = await other.createChannel();
  await setting.assertQueue('hooks');
  expect((await send(url)).error).toBeNull();
  await own.servers[0]!.kill();
  const refused = await send(url);
  expect(refused.error).toMatch(/ECONNREFUSED/);
  expect(refused.durationMs).toBeLessThan(2_000);
  await own.servers[0]!.start();
  await until('a message is confirmed', async () => (await send(url)).error === null);
}, 120_000);

test('a server that is not a broker, or closes connections, is named as the cause', async () => {
  const { send } = open();
  const [server] = rabbit.servers;
  server!.network!.cut();
  onTestFinished(server!.network!.heal);
  expect((await send(urlOf('routingKey=a'))).error).toMatch(/^the server closed the connection/);
  const sink = await startWebhookSink();
  onTestFinished(sink.close);
  const other = await send(`${sink.url.replace('http:', 'amqp:')}/?routingKey=a`);
  expect(other.error).toMatch(/is not a RabbitMQ broker: check the host and port/);
});

test('a broker that is silent fails attempts in time, and its connection is given up', async () => {
  const { send } = open();
  const url = urlOf(`routingKey=${await addQueue('silent')}`);
  const [server] = rabbit.servers;
  expect((await send(url)).error).toBeNull();
  server!.network!.blackHole();
  onTestFinished(server!.network!.heal);
  const late = await send(url, { timeoutMs: 1_000 });
  expect(late).toMatchObject({ error: 'no confirmation of the message within 1 s' });
  server!.network!.heal();
  // The old connection stays dead. Heartbeats find that out while attempts wait.
  expect((await send(url, { timeoutMs: 20_000 })).error).toBeNull();
  await expect.poll(() => server!.network!.connections).toBe(1);
});

test('a message whose connection is cut is published again over a new one', async () => {
  const { send } = open();
  const queue = await addQueue('cut');
  const url = urlOf(`routingKey=${queue}`);
  const [server] = rabbit.servers;
  const results = [];
  for (let round = 0; round < 10; round++) {
    expect((await send(url)).error).toBeNull();
    const sent = Array.from({ length: 50 }, () => send(url));
    await wait(0);
    server!.network!.cut();
    server!.network!.heal();
    results.push(...(await Promise.all(sent)));
  }
  const confirmed = results.filter(({ error }) => error === null).length;
  expect(confirmed).toBeGreaterThan(400);
  expect(await count(queue)).toBeGreaterThanOrEqual(confirmed);
});

test('URLs with TLS need a certificate for the host, and a broker with TLS needs such a URL', async () => {
  const { certify, trust } = startAuthorities();
  const authority = certify('authority.test', { isAuthority: true });
  const client = certify('client.test', { issuer: authority.certified });
  const { files } = certify('localhost');
  const own = await startRabbitMq({
    config: `ssl_options.keyfile = ${files.key}
ssl_options.certfile = ${files.cert}
ssl_options.cacertfile = ${authority.files.cert}
ssl_options.verify = verify_peer
ssl_options.fail_if_no_peer_cert = true`,
    isTls: true,
  });
  onTestFinished(own.stop);
  trust();
  const { port } = new URL(own.url);
  const { certified: presented } = client;
  const { send } = open({ clientCertificate: { read: () => presented } });
  const errorOf = async (server: string) => (await send(`${server}/?routingKey=a`)).error;
  expect(await errorOf(`amqps://localhost:${port}`)).toMatch(/^the queue a does not exist/);
  expect(await errorOf(`amqps://127.0.0.1:${port}`)).toMatch(/does not match certificate/);
  expect(await errorOf(`amqp://localhost:${port}`)).toMatch(/with amqps: if the broker uses TLS/);
  const plainPort = new URL(rabbit.url).port;
  expect(await errorOf(`amqps://localhost:${plainPort}`)).toMatch(/offer TLS: .*with amqp:/);
  const anonymous = await open().send(`amqps://localhost:${port}/?routingKey=a`);
  expect(anonymous.error).toMatch(/requires a client certificate: .*--client-cert|requires one: /);
}, 120_000);

test('only allowed addresses and ports are reached', async () => {
  const { send, destinationOf } = open({ guard: createAddressGuard({ allowCidrs: [] }) });
  const refuse = (url: string) => destinationOf(url).refuse(new URL(url));
  expect(await refuse('amqp://8.8.8.8/?routingKey=a')).toBeUndefined();
  expect(await refuse('amqps://8.8.8.8:5671/?routingKey=a')).toBeUndefined();
  expect(await refuse('amqp://8.8.8.8:5432/?routingKey=a')).toMatch(/port 5432 is not allowed/);
  for (const host of ['127.0.0.1', 'localhost', '8.8.8.8,10.0.0.1', '[::1]']) {
    const url = `amqp://${host}:5672/?routingKey=a`;
    expect(await refuse(url), host).toMatch(/loopback or reserved/);
    expect((await send(url)).error, host).toMatch(/loopback or reserved/);
  }
  const tlsOnly = open({ guard: createAddressGuard({ allowCidrs: [], httpsOnly: true }) });
  expect((await tlsOnly.send('amqp://8.8.8.8/?routingKey=a')).error).toMatch(
    /^amqp: is not allowed, .*: start the URL with amqps:$/,
  );
});
