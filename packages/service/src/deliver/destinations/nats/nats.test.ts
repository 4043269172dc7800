import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { unwrap } from '@sluice/kit';
import { TEST_WEBHOOK } from '@sluice/kit/contract';
import { DiscardPolicy, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type Nats, startNats, startWebhookSink, until } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ALL_NETWORKS, createAddressGuard } from '../http/guard.ts';
import type { QueueOptions } from '../queues/queue.ts';
import {
  SECRET,
  WEBHOOK,
  openQueueSender,
  startAuthorities,
} from '../queues/queueSender.test-only.ts';
import { createNats } from './nats.ts';

/** A login that needs escapes in a URL, and a user that may not publish to `secret.>` or read. */
const CONFIG = `authorization { users: [
  { user: "root", password: "root" },
  { user: "us/er", password: "p@ss:word" },
  { user: "limited", password: "limited", permissions: { publish: { deny: ["secret.>", "$JS.API.>"] } } }
] }`;

let nats: Nats;
let manager: JetStreamManager;
beforeAll(async () => {
  nats = await startNats({ config: CONFIG, isProxied: true });
  manager = await connectManager();
  await manager.streams.add({ name: 'HOOKS', subjects: ['hooks.>'] });
});
afterEach(async () => {
  await manager.streams.purge('HOOKS');
});
afterAll(() => nats?.stop());

const connectManager = async (): Promise<JetStreamManager> =>
  jetstreamManager(
    await connect({ servers: nats.servers[0]!.directUrl, user: 'root', pass: 'root' }),
  );

const open = (options?: Partial<QueueOptions>) => openQueueSender(createNats, options);

/** The URL of a subject. */
const urlOf = (subject: string, login = 'us%2Fer:p%40ss%3Aword') =>
  `${nats.url.replace('//', `//${login}@`)}/${subject}`;

const readMessage = async (seq = 1) => (await manager.streams.getMessage('HOOKS', { seq }))!;
const count = async () => (await manager.streams.info('HOOKS')).state.messages;

test('a message has the headers and the body of the webhook, which the kit verifies', async () => {
  const { send } = open();
  const body = JSON.stringify(WEBHOOK);
  const result = await send(urlOf('hooks.{stream}.{chain}.{phase}.{tag}'), { id: 'id-1', body });
  expect(result).toMatchObject({ error: null, status: null });
  expect(JSON.parse(result.responseBody)).toMatchObject({ stream: 'HOOKS', duplicate: false });
  expect(result.transport).toMatchObject({ address: nats.url.slice('nats://'.length) });
  const message = await readMessage(JSON.parse(result.responseBody).seq);
  expect(message.subject).toBe(`hooks.${WEBHOOK.streamId}.0x1.confirmed.paid_orders__`);
  expect(Buffer.from(message.data).toString()).toBe(body);
  expect(message.header.get('webhook-id')).toBe('id-1');
  expect(message.header.get('Nats-Msg-Id')).toBe('id-1');
  expect(message.header.get('x-own')).toBe('a value');
  const received = unwrap({ headers: message.header, body: message.data, secret: SECRET });
  expect(received.webhook).toEqual(WEBHOOK);
});

test('a test webhook has an underscore for each value', async () => {
  const { send } = open();
  const body = JSON.stringify(TEST_WEBHOOK);
  const { responseBody } = await send(urlOf('hooks.{stream}.{tag}-{chain}'), { body });
  expect((await readMessage(JSON.parse(responseBody).seq)).subject).toBe('hooks._._-_');
});

test('the broker drops a second message with the same ID', async () => {
  const { send } = open();
  const results = [];
  for (const id of ['twice', 'twice', 'once']) results.push(await send(urlOf('hooks.a'), { id }));
  const duplicates = results.map(({ responseBody }) => JSON.parse(responseBody).duplicate);
  expect(duplicates).toEqual([false, true, false]);
  expect(await count()).toBe(2);
});

/** Starts a server that speaks NATS. `respond` gets the subject and the headers of a message. */
async function startScripted(
  respond: (subject: string, headers: string) => unknown,
): Promise<string> {
  const broker = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('INFO {"headers":true,"max_payload":1048576,"version":"2.9.10","proto":1}\r\n');
    let sid = '1';
    socket.on('data', (data) => {
      const text = data.toString();
      if (text.includes('PING')) socket.write('PONG\r\n');
      sid = /SUB \S+ (\d+)/.exec(text)?.[1] ?? sid;
      for (const [, subject = '', reply, headers = ''] of text.matchAll(
        /PUB (\S+) (_INBOX\S+)([^{]*)/g,
      )) {
        const response = JSON.stringify(respond(subject, headers));
        socket.write(`MSG ${reply} ${sid} ${response.length}\r\n${response}\r\n`);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(broker, 'listening');
  onTestFinished(() => void broker.close());
  return `nats://127.0.0.1:${(broker.address() as AddressInfo).port}`;
}

test('the position 0 does not confirm a message', async () => {
  const url = await startScripted(() => ({ stream: 'HOOKS', seq: 0, duplicate: true }));
  const { error, responseBody } = await open().send(`${url}/hooks.a`);
  expect(error).toMatch(/an earlier copy of the message, which is not replicated yet/);
  expect(responseBody).toBe('');
});

test('a message of which the broker lost the first copy is stored again', async () => {
  const NONE = { error: { code: 404, err_code: 10_037, description: 'no message found' } };
  const at7 = (id: string) => ({
    message: {
      subject: 'hooks.a',
      seq: 7,
      hdrs: Buffer.from(`NATS/1.0\r\nNats-Msg-Id: ${id}\r\n\r\n`).toString('base64'),
      time: '2026-01-01T00:00:00Z',
    },
  });
  const confirmationOf = async (found: object, lastSeq: number): Promise<unknown> => {
    const url = await startScripted((subject, headers) => {
      if (subject === '$JS.API.STREAM.MSG.GET.HOOKS') return found;
      if (subject !== 'hooks.a') return { config: {}, state: { last_seq: lastSeq } };
      return headers.includes('Nats-Msg-Id: own')
        ? { stream: 'HOOKS', seq: 7, duplicate: true }
        : { stream: 'HOOKS', seq: 10 };
    });
    const { error, responseBody } = await open().send(`${url}/hooks.a`, { id: 'own' });
    expect(error).toBeNull();
    return JSON.parse(responseBody);
  };
  const isThere = { stream: 'HOOKS', seq: 7, duplicate: true };
  const isLost = { stream: 'HOOKS', seq: 10, duplicate: false, lostSeq: 7 };
  expect(await confirmationOf(at7('own'), 9)).toEqual(isThere);
  expect(await confirmationOf(at7('another'), 9)).toEqual(isLost);
  expect(await confirmationOf(NONE, 6)).toEqual(isLost);
  // A consumer of a work queue removed it.
  expect(await confirmationOf(NONE, 7)).toEqual(isThere);
});

test('a user that may not read the stream can publish a message twice', async () => {
  const { send } = open();
  const url = urlOf('hooks.a', 'limited:limited');
  expect((await send(url, { id: 'repeated' })).error).toBeNull();
  const again = await send(url, { id: 'repeated' });
  expect(again.error).toBeNull();
  expect(JSON.parse(again.responseBody)).toMatchObject({ duplicate: true });
  expect(again.durationMs).toBeLessThan(1_000);
});

test('messages share one connection, many at a time', async () => {
  const { send } = open();
  const connections = () => nats.servers[0]!.network!.connections;
  await expect.poll(connections).toBe(0);
  const results = await Promise.all(Array.from({ length: 500 }, () => send(urlOf('hooks.many'))));
  expect(results.filter(({ error }) => error !== null)).toEqual([]);
  expect(await count()).toBe(500);
  expect(connections()).toBe(1);
});

test('each rejection says what to do', async () => {
  const { send } = open();
  await manager.streams.add({
    name: 'FULL',
    subjects: ['full', 'small'],
    max_msgs: 1,
    max_msg_size: 2_000,
    discard: DiscardPolicy.New,
  });
  const errorOf = async (subject: string, login?: string, body?: string) =>
    (await send(urlOf(subject, login), body === undefined ? {} : { body })).error;
  expect(await errorOf('hooks.a?stream=HOOKS')).toBeNull();
  expect(await errorOf('full')).toBeNull();
  expect(await errorOf('full')).toMatch(/^the JetStream stream is full: .*code 10077/);
  expect(await errorOf('small', undefined, `{"a":"${'x'.repeat(3_000)}"}`)).toMatch(
    /maximum message size: raise it .*code 10054/,
  );
  expect(await errorOf('hooks.a?stream=FULL')).toMatch(/another JetStream stream .*code 10060/);
  expect(await errorOf('nowhere.a')).toMatch(
    /^no JetStream stream has the subject nowhere\.a: create one \(nats stream add NAME --subjects 'nowhere\.a'\)$/,
  );
  expect(await errorOf('hooks.a', 'root:wrong-password')).toMatch(
    /^the broker rejected the login: .*Correct the user/,
  );
  expect(await errorOf('hooks.a', 'a-token-that-is-unknown')).toMatch(/rejected the login/);
  expect(await errorOf('secret.a', 'limited:limited')).toMatch(
    /^the broker does not permit this: .*Allow the user to publish to secret\.a/,
  );
  expect(await errorOf('hooks.a', undefined, `{"a":"${'x'.repeat(2 ** 20)}"}`)).toMatch(
    /max_payload of 1,048,576 bytes: raise max_payload, or set maxWebhookBytes to at most 1,024,000$/,
  );
});

test('a broker that is down fails attempts at once, and later ones succeed without help', async () => {
  const own = await startNats();
  onTestFinished(own.stop);
  const { send } = open();
  const url = `${own.url}/hooks.a`;
  const jsm = await jetstreamManager(await connect({ servers: own.url }));
  await jsm.streams.add({ name: 'HOOKS', subjects: ['hooks.>'] });
  expect((await send(url)).error).toBeNull();
  await own.servers[0]!.kill();
  const refused = await send(url);
  expect(refused.error).toMatch(/ECONNREFUSED/);
  expect(refused.durationMs).toBeLessThan(2_000);
  await own.servers[0]!.start();
  expect((await send(url)).error).toBeNull();
});

test('a server that is not a broker, or closes connections, is named as the cause', async () => {
  const { send } = open();
  const [server] = nats.servers;
  server!.network!.cut();
  onTestFinished(server!.network!.heal);
  expect((await send(urlOf('hooks.a'))).error).toMatch(/ECONNRESET|closed before the broker/);
  const sink = await startWebhookSink();
  onTestFinished(sink.close);
  const other = await send(`${sink.url.replace('http:', 'nats:')}/hooks.a`, { timeoutMs: 4_000 });
  expect(other.error).toMatch(/^the broker did not accept the connection in time/);
});

test('a broker that is silent fails attempts in time, and its connection is given up', async () => {
  const { send } = open();
  const [server] = nats.servers;
  expect((await send(urlOf('hooks.a'))).error).toBeNull();
  server!.network!.blackHole();
  onTestFinished(server!.network!.heal);
  const late = await send(urlOf('hooks.a'), { timeoutMs: 1_000 });
  expect(late).toMatchObject({ error: 'no confirmation of the message within 1 s' });
  server!.network!.heal();
  // The old connection stays dead. Pings find that out while attempts wait.
  expect((await send(urlOf('hooks.a'), { timeoutMs: 20_000 })).error).toBeNull();
});

test('a message whose connection is cut is published again over a new one, and kept once', async () => {
  const { send } = open();
  const [server] = nats.servers;
  expect((await send(urlOf('hooks.a'))).error).toBeNull();
  await manager.streams.purge('HOOKS');
  const results = [];
  for (let round = 0; round < 10; round++) {
    const sent = Array.from({ length: 50 }, () => send(urlOf('hooks.a')));
    await wait(0);
    server!.network!.cut();
    server!.network!.heal();
    results.push(...(await Promise.all(sent)));
  }
  const lost = 'the connection was lost before the message was confirmed';
  for (const { error } of results) expect([null, lost]).toContain(error);
  const confirmed = results.filter(({ error }) => error === null).length;
  expect(confirmed).toBeGreaterThan(400);
  expect(await count()).toBeGreaterThanOrEqual(confirmed);
  expect(await count()).toBeLessThanOrEqual(results.length);
});

test('after a server of a cluster ended, another one is used if its address is allowed', async () => {
  const cluster = await startNats({ servers: 3 });
  onTestFinished(cluster.stop);
  const jsm = await jetstreamManager(await connect({ servers: cluster.servers[1]!.url }), {
    checkAPI: false,
  });
  await until('the cluster has a stream', () =>
    jsm.streams.add({ name: 'HOOKS', subjects: ['hooks.>'], num_replicas: 3 }).catch(() => false),
  );
  const guard = createAddressGuard({ allowCidrs: ALL_NETWORKS });
  const reported: string[] = [];
  let isAllowed = false;
  const { send } = open({
    guard: {
      ...guard,
      // The URL has a name, and the servers report addresses.
      resolve(host) {
        if (host === 'localhost') return Promise.resolve(['127.0.0.1']);
        reported.push(host);
        return isAllowed ? guard.resolve(host) : Promise.reject(new Error('not allowed'));
      },
    },
  });
  const url = `${cluster.url.replace('127.0.0.1', 'localhost')}/hooks.a`;
  expect((await send(url)).error).toBeNull();
  expect(reported).toEqual([]);
  await cluster.servers[0]!.kill();
  expect((await send(url)).error).toMatch(/ECONNREFUSED/);
  expect(reported.length).toBeGreaterThanOrEqual(2);
  isAllowed = true;
  await until('a message is confirmed', async () => (await send(url)).error === null);
});

test('URLs with TLS need a certificate for the host, and a broker with TLS needs such a URL', async () => {
  const { certify, trust } = startAuthorities();
  const startSecured = async (name: string, more = ''): Promise<string> => {
    const { files } = certify(name);
    const own = await startNats({
      config: `tls { key_file: "${files.key}", cert_file: "${files.cert}", ${more} }`,
    });
    onTestFinished(own.stop);
    return new URL(own.url).port;
  };
  const [port, otherPort] = [await startSecured('localhost'), await startSecured('other.test')];
  trust();
  const jsm = await jetstreamManager(await connect({ servers: `localhost:${port}`, tls: {} }));
  await jsm.streams.add({ name: 'HOOKS', subjects: ['hooks.>'] });
  const { send } = open();
  const errorOf = async (host: string) => (await send(`${host}/hooks.a`)).error;
  expect(await errorOf(`tls://localhost:${port}`)).toBeNull();
  for (const host of [`127.0.0.1:${port}`, `localhost:${otherPort}`]) {
    expect(await errorOf(`tls://${host}`), host).toMatch(/does not match certificate/);
  }
  expect(await errorOf(`nats://localhost:${otherPort}`)).toMatch(/uses TLS: .*with tls:/);
  const plainPort = new URL(nats.url).port;
  expect(await errorOf(`tls://localhost:${plainPort}`)).toMatch(/offer TLS: .*with nats:/);

  const client = certify('client.test');
  const verify = `verify: true, ca_file: "${client.files.cert}"`;
  const strictUrl = `tls://localhost:${await startSecured('localhost', verify)}/hooks.a`;
  trust();
  // The server resets the connection after its alert, which then may not arrive.
  await expect
    .poll(async () => (await send(strictUrl)).error)
    .toMatch(/rejects the client certificate, or requires one: .*--client-cert/);
  const { certified: presented } = client;
  const certified = open({ clientCertificate: { read: () => presented } });
  expect((await certified.send(strictUrl)).error).toMatch(/no JetStream stream has the subject/);
});

test('only allowed addresses and ports are reached', async () => {
  const guard = createAddressGuard({ allowCidrs: [] });
  const { send, destinationOf } = open({ guard });
  const refuse = (url: string) => destinationOf(url).refuse(new URL(url));
  expect(await refuse('nats://8.8.8.8/a')).toBeUndefined();
  expect(await refuse('tls://8.8.8.8:4222/a')).toBeUndefined();
  expect(await refuse('nats://8.8.8.8:5432/a')).toMatch(/port 5432 is not allowed/);
  for (const host of ['127.0.0.1', 'localhost', '0x7f000001', '8.8.8.8,10.0.0.1', '[::1]']) {
    const url = `nats://${host}:4222/hooks.a`;
    expect(await refuse(url), host).toMatch(/loopback or reserved/);
    expect((await send(url)).error, host).toMatch(/loopback or reserved/);
  }
  const tlsOnly = open({ guard: createAddressGuard({ allowCidrs: [], httpsOnly: true }) });
  const refusal = 'nats: is not allowed, because the service was started with --https-only';
  expect((await tlsOnly.send('nats://8.8.8.8/a')).error).toBe(
    `${refusal}: start the URL with tls:`,
  );
  const proxied = open({ egressProxy: 'http://proxy.example' });
  expect((await proxied.send('nats://8.8.8.8/a')).error).toMatch(/through --egress-proxy/);
});

test('errors do not contain the login, even if the broker repeats it', async () => {
  const broker = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('INFO {"headers":true,"max_payload":1048576,"version":"2.9.10","proto":1}\r\n');
    socket.once('data', () =>
      socket.end("-ERR 'Authorization Violation: a-wrong-password for root'\r\n"),
    );
  }).listen(0, '127.0.0.1');
  await once(broker, 'listening');
  onTestFinished(() => void broker.close());
  const { port } = broker.address() as AddressInfo;
  const { error } = await open().send(`nats://root:a-wrong-password@127.0.0.1:${port}/hooks.a`);
  expect(error).toMatch(/rejected the login: authorization violation: \*\*\*/i);
});
