import { unwrap } from '@sluice/kit';
import { TEST_WEBHOOK } from '@sluice/kit/contract';
import { type KafkaMock, startKafkaMock, startWebhookSink } from '@sluice/testkit';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createAddressGuard } from '../http/guard.ts';
import type { QueueOptions } from '../queues/queue.ts';
import { SECRET, WEBHOOK, openQueueSender } from '../queues/queueSender.test-only.ts';
import { createKafka } from './kafka.ts';

let mock: KafkaMock;
beforeAll(async () => {
  mock = await startKafkaMock({ brokers: 3 });
});
afterAll(() => mock?.stop());

const open = (options?: Partial<QueueOptions>) => openQueueSender(createKafka, options);
/** The URL of a topic, with the proxy of the first broker. */
const urlOf = (topic: string) => `kafka://127.0.0.1:${mock.network.port}/${topic}`;

test('a record has the headers and the body of the webhook, which the kit verifies', async () => {
  const { send } = open();
  const body = JSON.stringify(WEBHOOK);
  const result = await send(urlOf('hooks'), { id: 'id-1', body });
  expect(result).toMatchObject({ error: null, status: null });
  const [record, ...others] = await mock.read('hooks');
  expect(others).toEqual([]);
  const { partition } = record!;
  expect(JSON.parse(result.responseBody)).toEqual({ topic: 'hooks', partition, offset: 0 });
  expect(result.transport).toMatchObject({ address: `127.0.0.1:${mock.network.port}` });
  expect(record).toMatchObject({ key: WEBHOOK.streamId, body });
  expect(record!.headers).toMatchObject({ 'webhook-id': 'id-1', 'x-own': 'a value' });
  const received = unwrap({ headers: record!.headers, body: record!.body, secret: SECRET });
  expect(received.webhook).toEqual(WEBHOOK);
});

test('the key is filled from the webhook, and decides about the partition as in other clients', async () => {
  const { send } = open();
  await send(urlOf('keys?key={chain}.{phase}.{tag}'));
  await send(urlOf('keys?key={chain}'), { body: JSON.stringify(TEST_WEBHOOK) });
  const keys = (await mock.read('keys')).map(({ key }) => key);
  expect(keys.toSorted()).toEqual(['0x1.confirmed.paid_orders__', '_']);
  for (const key of ['21', 'foobar', 'a-little-bit-long-string']) {
    const { responseBody } = await send(urlOf(`keys?key=${key}`));
    // Partitions of Kafka's own client, of which the topic has four.
    const partition = { '21': 0, foobar: 2, 'a-little-bit-long-string': 0 }[key];
    expect(JSON.parse(responseBody), key).toMatchObject({ partition });
  }
});

test('messages that are sent at the same time share requests, and keep their order', async () => {
  const { send } = open();
  const count = 500;
  const ids = Array.from({ length: count }, (_, n) => `id-${n}`);
  const results = await Promise.all(ids.map((id) => send(urlOf('many'), { id })));
  expect(results.filter(({ error }) => error !== null)).toEqual([]);
  const records = await mock.read('many');
  expect(records.map(({ headers }) => headers['webhook-id'])).toEqual(ids);
  const offsets = results.map(({ responseBody }) => JSON.parse(responseBody).offset);
  expect(offsets).toEqual(records.map(({ offset }) => offset));
  // The proxy is only needed to find the brokers.
  expect(mock.network.connections).toBe(1);
});

test('large messages do not fail their neighbors', async () => {
  const { send } = open();
  const body = JSON.stringify({ ...WEBHOOK, tag: 'x'.repeat(300_000) });
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) => send(urlOf('large'), n % 2 === 0 ? { body } : {})),
  );
  expect(results.filter(({ error }) => error !== null)).toEqual([]);
  expect(await mock.read('large')).toHaveLength(20);
});

test('a cluster that is killed fails attempts at once, and later ones succeed without help', async () => {
  const own = await startKafkaMock();
  onTestFinished(own.stop);
  const { send } = open();
  const url = `kafka://127.0.0.1:${own.network.port}/hooks`;
  expect((await send(url)).error).toBeNull();
  await own.kill();
  const refused = await send(url);
  expect(refused.error).toMatch(/closed the connection|ECONNRESET/);
  expect(refused.durationMs).toBeLessThan(3_000);
  await own.start();
  expect((await send(url)).error).toBeNull();
  expect(await own.read('hooks')).toHaveLength(1);
});

test('a cluster that is silent fails attempts in time, and gets later ones', async () => {
  const own = await startKafkaMock();
  onTestFinished(own.stop);
  const { send } = open();
  const url = `kafka://127.0.0.1:${own.network.port}/hooks`;
  expect((await send(url)).error).toBeNull();
  own.pause();
  const late = await send(url, { timeoutMs: 1_000 });
  expect(late).toMatchObject({ error: 'no confirmation of the message within 1 s' });
  own.resume();
  expect((await send(url, { timeoutMs: 20_000 })).error).toBeNull();
});

test('a server that is not a broker is named as the cause', async () => {
  const sink = await startWebhookSink();
  onTestFinished(sink.close);
  const { error } = await open().send(`${sink.url.replace('http:', 'kafka:')}/hooks`);
  expect(error).toMatch(/^the server does not respond like a Kafka broker/);
});

test('only allowed addresses and ports are reached', async () => {
  const guard = createAddressGuard({ allowCidrs: [] });
  const { send, destinationOf } = open({ guard });
  const refuse = (url: string) => destinationOf(url).refuse(new URL(url));
  expect(await refuse('kafka://8.8.8.8/a')).toBeUndefined();
  expect(await refuse('kafka+ssl://8.8.8.8/a')).toBeUndefined();
  expect(await refuse('kafka://8.8.8.8:5432/a')).toMatch(/port 5432 is not allowed/);
  for (const host of ['127.0.0.1', 'localhost', '8.8.8.8,10.0.0.1', '[::1]']) {
    const url = `kafka://${host}:9092/hooks`;
    expect(await refuse(url), host).toMatch(/loopback or reserved/);
    expect((await send(url)).error, host).toMatch(/loopback or reserved/);
  }
  const tlsOnly = open({ guard: createAddressGuard({ allowCidrs: [], httpsOnly: true }) });
  expect((await tlsOnly.send('kafka://8.8.8.8/a')).error).toMatch(/--https-only.*kafka\+ssl:/);
  const proxied = open({ egressProxy: 'http://proxy.example' });
  expect((await proxied.send('kafka://8.8.8.8/a')).error).toMatch(/through --egress-proxy/);
});
