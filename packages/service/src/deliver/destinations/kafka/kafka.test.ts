import type { TlsOptions } from 'node:tls';
import { unwrap } from '@sluice/kit';
import { TEST_WEBHOOK } from '@sluice/kit/contract';
import {
  type KafkaMock,
  startFaultProxy,
  startKafkaMock,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ALL_NETWORKS, createAddressGuard } from '../http/guard.ts';
import type { QueueOptions } from '../queues/queue.ts';
import {
  SECRET,
  WEBHOOK,
  openQueueSender,
  startAuthorities,
} from '../queues/queueSender.test-only.ts';
import { createKafka } from './kafka.ts';
import { type ScriptedBroker, startScriptedBroker } from './scriptedBroker.test-only.ts';

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
  expect(new Set(keys)).toEqual(new Set(['0x1.confirmed.paid_orders__', '_']));
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
  await own.pause();
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

const scriptedUrl = ({ port }: ScriptedBroker, rest = 'hooks', login = '') =>
  `kafka://${login}127.0.0.1:${port}/${rest}`;

test('each rejection says what to do', async () => {
  const errorOf = async (code: number, detail?: string) => {
    const broker = await startScriptedBroker({ produce: () => code, ...(detail && { detail }) });
    return (await open().send(scriptedUrl(broker))).error;
  };
  expect(await errorOf(10)).toMatch(
    /^the message is larger .*max\.message\.bytes.*maxWebhookBytes \(MESSAGE_TOO_LARGE\)$/,
  );
  expect(await errorOf(29)).toMatch(/^the user may not write .*kafka-acls.sh .*--topic hooks/);
  expect(await errorOf(19)).toMatch(/^the topic has fewer in-sync replicas/);
  expect(await errorOf(20)).toMatch(/^the topic has fewer in-sync replicas/);
  expect(await errorOf(7)).toMatch(/^the in-sync replicas did not confirm the message in time/);
  expect(await errorOf(6)).toMatch(/^the partition has no leader now/);
  expect(await errorOf(44, 'not on Sundays')).toBe(
    'the broker rejected the message (POLICY_VIOLATION: not on Sundays)',
  );
  expect(await errorOf(9_999)).toMatch(/^the response of the broker cannot be read/);
  const broker = await startScriptedBroker({ topicError: 3 });
  expect((await open().send(scriptedUrl(broker))).error).toMatch(
    /^the topic hooks does not exist: create it \(kafka-topics\.sh --create --topic hooks\)/,
  );
  expect(broker.produced).toEqual([]);
});

test('a batch that is too large is divided until only too large messages fail', async () => {
  const broker = await startScriptedBroker({
    produce: (values) => (values.join('').length > 20_000 ? 10 : 0),
  });
  const { send } = open();
  const sizes = [9_000, 9_000, 30_000, 9_000, 9_000, 9_000];
  const bodies = sizes.map((size, n) =>
    JSON.stringify({ ...WEBHOOK, tag: `${n}`.padEnd(size, 'x') }),
  );
  const results = await Promise.all(bodies.map((body) => send(scriptedUrl(broker), { body })));
  const errors = results.map(({ error }) => error?.slice(0, 22) ?? null);
  expect(errors).toEqual([null, null, 'the message is larger ', null, null, null]);
  expect((await send(scriptedUrl(broker), { body: bodies[0]! })).error).toBeNull();
});

test('a rejected partition does not fail messages of others in the same request', async () => {
  const broker = await startScriptedBroker({
    produce: (_, partition) => (partition === 0 ? 19 : 0),
  });
  const { send } = open();
  const keys = Array.from({ length: 20 }, (_, n) => `hooks?key=${n}`);
  const results = await Promise.all(keys.map((rest) => send(scriptedUrl(broker, rest))));
  expect(broker.produced).toHaveLength(1);
  const failed = results.filter(({ error }) => error !== null);
  expect(failed).toHaveLength(broker.produced[0]!.get(0)!.length);
  expect(failed.length).toBeGreaterThan(0);
  expect(failed.length).toBeLessThan(20);
});

test('a message follows its partition to a new leader', async () => {
  const second = await startScriptedBroker();
  let leader: ScriptedBroker | undefined;
  const first = await startScriptedBroker({
    leaders: () => [{ host: 'localhost', port: (leader ?? first).port }],
    produce() {
      leader = second;
      return 6;
    },
  });
  const { send } = open();
  expect((await send(scriptedUrl(first))).error).toBeNull();
  expect([first.produced.length, second.produced.length]).toEqual([1, 1]);
  expect((await send(scriptedUrl(first))).error).toBeNull();
  expect([first.produced.length, second.produced.length]).toEqual([1, 2]);
});

test('a lost connection is replaced, and the message is written again', async () => {
  const broker = await startScriptedBroker({
    leaders: () => [{ host: 'localhost', port: proxy.port }],
    produce: () => {
      if (broker.produced.length === 1) proxy.cut();
      setTimeout(proxy.heal, 50);
      return 0;
    },
  });
  const proxy = await startFaultProxy({ port: broker.port });
  onTestFinished(proxy.stop);
  const result = await open().send(scriptedUrl(broker), { id: 'id-1' });
  expect(result.error).toBeNull();
  expect(broker.produced).toHaveLength(2);
});

test('a silent topic delays no other topic', async () => {
  const broker = await startScriptedBroker({
    produce: (values) => (values[0]!.includes('silent') ? 'silence' : 0),
  });
  const { send } = open();
  const silent = JSON.stringify({ ...WEBHOOK, tag: 'silent' });
  const waiting = send(scriptedUrl(broker, 'a'), { body: silent, timeoutMs: 2_000 });
  await until('it is sent', () => broker.produced.length === 1);
  const other = await send(scriptedUrl(broker, 'b'));
  expect(other.error).toBeNull();
  expect(other.durationMs).toBeLessThan(1_000);
  expect((await waiting).error).toBe('no confirmation of the message within 2 s');
});

test('brokers that the cluster names are reached only at allowed addresses and ports', async () => {
  const secret = await startScriptedBroker();
  const allowed = createAddressGuard({ allowCidrs: ALL_NETWORKS });
  const resolved: string[] = [];
  const guard: QueueOptions['guard'] = {
    ...allowed,
    resolve(host) {
      resolved.push(host);
      return host === 'localhost'
        ? Promise.reject(new Error('not allowed'))
        : allowed.resolve(host);
    },
  };
  const broker = await startScriptedBroker({
    leaders: () => [{ host: 'localhost', port: secret.port }],
  });
  const { send } = open({ guard });
  expect((await send(scriptedUrl(broker))).error).toBe(
    'the leader of the partition cannot be used: not allowed',
  );
  expect(resolved).toContain('localhost');
  const other = await startScriptedBroker({ leaders: () => [{ host: '127.0.0.1', port: 22 }] });
  expect((await send(scriptedUrl(other))).error).toMatch(/cannot be used: port 22 is not allowed/);
  expect(secret.connections).toBe(0);
});

test('responses that are wrong fail attempts, and nothing else', async () => {
  const wrong: Record<string, (response: Buffer) => Buffer> = {
    'a huge length': () => Buffer.from('7fffffff00000001', 'hex'),
    'a negative length': () => Buffer.from('fffffff000000001ff', 'hex'),
    'a length of zero': () => Buffer.from('000000000000000000', 'hex'),
    'a wrong correlation ID': (response) =>
      Buffer.concat([response.subarray(0, 4), Buffer.alloc(response.length - 4, 9)]),
    'a huge array': (response) =>
      Buffer.concat([response.subarray(0, 8), Buffer.alloc(response.length - 8, 0x7f)]),
    'no content': (response) =>
      Buffer.concat([Buffer.from('00000004', 'hex'), response.subarray(4, 8)]),
    garbage: () => Buffer.alloc(100_000, 0xa5),
  };
  const { send } = open();
  for (const [what, respond] of Object.entries(wrong)) {
    for (const after of [0, 1, 2]) {
      let responses = 0;
      const broker = await startScriptedBroker({
        respond: (response) => (responses++ >= after ? respond(response) : response),
      });
      const { error, durationMs } = await send(scriptedUrl(broker), { timeoutMs: 4_000 });
      expect(error, what).not.toBeNull();
      expect(durationMs, what).toBeLessThan(3_900);
    }
  }
});

test.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])('%s logs in', async (mechanism) => {
  const broker = await startScriptedBroker({
    sasl: { mechanism, user: 'us/er', password: 'p@ss:word' },
    detail: 'Authentication failed for a-wrong-password',
  });
  const { send } = open();
  const rest = `hooks?sasl=${mechanism.toLowerCase()}`;
  expect((await send(scriptedUrl(broker, rest, 'us%2Fer:p%40ss%3Aword@'))).error).toBeNull();
  const wrong = await send(scriptedUrl(broker, rest, 'us%2Fer:a-wrong-password@'));
  expect(wrong.error).toMatch(/^the broker rejected the login: .*Correct the user, the password/);
  expect(wrong.error).not.toContain('a-wrong-password');
  const other = mechanism === 'PLAIN' ? 'scram-sha-256' : 'plain';
  const refused = await send(scriptedUrl(broker, `hooks?sasl=${other}`, 'us%2Fer:p%40ss%3Aword@'));
  expect(refused.error).toMatch(
    new RegExp(
      `does not accept ${other.toUpperCase()}: set \\?sasl= .*\\(${mechanism.toLowerCase()}\\)$`,
    ),
  );
});

test('a broker cannot occupy this process by many iterations of SCRAM', async () => {
  const broker = await startScriptedBroker({
    sasl: { mechanism: 'SCRAM-SHA-256', user: 'user', password: 'pass', iterations: 2_000_000_000 },
  });
  const { error } = await open().send(
    scriptedUrl(broker, 'hooks?sasl=scram-sha-256', 'user:pass@'),
  );
  expect(error).toMatch(/^the login failed: the broker requests 2000000000 iterations/);
});

test('URLs with TLS need a certificate for the host, and a broker with TLS needs such a URL', async () => {
  const { certify, trust } = startAuthorities();
  const start = (name: string, more: TlsOptions = {}) =>
    startScriptedBroker({ tls: { ...certify(name).certified, ...more } });
  const [secured, other] = [await start('localhost'), await start('other.test')];
  trust();
  const { send } = open();
  const errorOf = async (url: string) => (await send(`${url}/hooks`)).error;
  expect(await errorOf(`kafka+ssl://localhost:${secured.port}`)).toBeNull();
  for (const host of [`127.0.0.1:${secured.port}`, `localhost:${other.port}`]) {
    expect(await errorOf(`kafka+ssl://${host}`), host).toMatch(/does not match certificate/);
  }
  expect(await errorOf(`kafka://localhost:${secured.port}`)).toMatch(
    /closed the connection: .*kafka\+ssl: if the port uses TLS/,
  );
  const alert = Buffer.from('15030300020228', 'hex');
  const alerting = await startScriptedBroker({ respond: () => alert });
  expect(await errorOf(`kafka://localhost:${alerting.port}`)).toMatch(/uses TLS: .*kafka\+ssl:/);
  const plain = await startScriptedBroker();
  expect(await errorOf(`kafka+ssl://localhost:${plain.port}`)).toMatch(/not offer TLS .*kafka:/);

  const { certified } = certify('client.test');
  const strict = await start('localhost', { requestCert: true, ca: certified.cert });
  trust();
  const strictUrl = `kafka+ssl://localhost:${strict.port}`;
  expect(await errorOf(strictUrl)).toMatch(/client certificate.*--client-cert/);
  const certain = open({ clientCertificate: { read: () => certified } });
  expect((await certain.send(`${strictUrl}/hooks`)).error).toBeNull();
});
