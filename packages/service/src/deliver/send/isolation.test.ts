import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { unwrapWithPublicKey } from '@sluice/kit';
import { TEST_WEBHOOK } from '@sluice/kit/contract';
import { createKeyPair } from '@sluice/kit/testing';
import { type WebhookSink, startWebhookSink } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { ALL_NETWORKS } from '../destinations/http/guard.ts';
import { type Isolation, type IsolationOptions, createIsolation } from './isolation.ts';
import type { SendRequest } from './send.ts';

let sink: WebhookSink;
let isolation: Isolation;

beforeAll(async () => {
  sink = await startWebhookSink();
});
afterEach(async () => {
  await isolation.close();
  sink.clear();
  sink.respond(200);
});
afterAll(() => sink.close());

async function start(options: Partial<IsolationOptions> = {}): Promise<Isolation> {
  isolation = createIsolation({
    allowCidrs: ALL_NETWORKS,
    secret: () => 'secret',
    region: () => 'us-east-1',
    ...options,
  });
  await isolation.start();
  return isolation;
}

const sendingOf = (body: string, headers: Record<string, string> = {}): SendRequest => ({
  url: `${sink.url}/alone`,
  id: crypto.randomUUID(),
  body: Buffer.from(body),
  headers,
  queueSize: 1,
  recordsCharged: 0,
});

test('the isolated sender sends one delivery after another, and reports when its process has received each', async () => {
  const { send } = await start();
  for (const body of ['{"a":1}', '{"a":"\\ud800 \u{1f600}"}']) {
    const sending = sendingOf(body);
    let taken = false;
    expect(await send(sending, () => (taken = true))).toMatchObject({ status: 200, error: null });
    expect(taken).toBe(true);
    expect(sink.requests.at(-1)).toMatchObject({ id: sending.id, body });
  }
});

test("the isolated sender signs with the keys that are valid by the ledger's clock", async () => {
  const { publicKey, privateKey } = await createKeyPair();
  const times: number[] = [];
  const { send } = await start({
    privateKeys(at) {
      times.push(at);
      return [privateKey];
    },
  });
  const body = JSON.stringify(TEST_WEBHOOK);
  const clockSkewMs = 3_600_000;
  await send({ ...sendingOf(body), clockSkewMs }, () => {});
  const headers = { ...sink.requests.at(-1)!.headers } as Record<string, string>;
  const now = () => Date.now() + clockSkewMs;
  const request = { body, headers, publicKeys: [publicKey], now };
  expect((await unwrapWithPublicKey(request)).isTest).toBe(true);
  expect(Math.abs(times[0]! - now())).toBeLessThan(60_000);
});

test('the isolated sender guards addresses like the service', async () => {
  const { send } = await start({ allowCidrs: [] });
  const { status, error } = await send(sendingOf('{}'), () => {});
  expect(status).toBeNull();
  expect(error).toMatch(/private, loopback or reserved/);
  expect(sink.requests).toEqual([]);
});

test('a receiver that hangs until the timeout of its stream is no fault of the process', async () => {
  sink.respond({ silence: 'hang' });
  const { send } = await start();
  const { status, error } = await send({ ...sendingOf('{}'), timeoutMs: 300 }, () => {});
  expect([status, error]).toEqual([null, expect.stringContaining('0.3 s')]);
});

test('a process that was idle is not ended while it sends again', async () => {
  const { send, start: startAgain } = await start();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  try {
    await send(sendingOf('{}'), () => {});
    await vi.advanceTimersByTimeAsync(59_000);
    await startAgain();
    sink.respond({ silence: 'hang' });
    const hanging = send({ ...sendingOf('{}'), timeoutMs: 1_000 }, () => {});
    await sink.waitFor(2);
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await hanging).error).toContain('1 s');
  } finally {
    vi.useRealTimers();
  }
});

test('a process that does not respond in time is ended', async () => {
  const receiver = createServer().listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  onTestFinished(() => void receiver.close());
  const { port } = receiver.address() as AddressInfo;
  const { send } = await start();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  try {
    const url = `http://127.0.0.1:${port}/`;
    const hanging = send({ ...sendingOf('{}'), url, timeoutMs: 60_000 }, () => {});
    hanging.catch(() => {});
    const [socket] = (await once(receiver, 'connection')) as [Socket];
    const closed = once(socket.resume(), 'close');
    await vi.advanceTimersByTimeAsync(90_000);
    await expect(hanging).rejects.toMatchObject({ code: 'sender_died' });
    await closed;
  } finally {
    vi.useRealTimers();
  }
});

test('a delivery that needs too much memory kills only its process, and the next gets a new one', async () => {
  const { send, start: startAgain } = await start({ heapMib: 24 });
  // Unlike bodies, headers are on the heap.
  const large = '\u{3a9}'.repeat(20_000_000);
  const headers = { 'x-a': large, 'x-b': large, 'x-c': large };
  const poison = send(sendingOf('{}', headers), () => {});
  await expect(poison).rejects.toMatchObject({ code: 'sender_died' });
  await expect(poison).rejects.toThrow(
    /^the isolated process that sent the delivery (was killed by|ended with) /,
  );
  await startAgain();
  expect(await send(sendingOf('{}'), () => {})).toMatchObject({ status: 200 });
});

test('closing does not blame the delivery', async () => {
  sink.respond({ silence: 'hang' });
  const { send, close } = await start();
  const cut = send(sendingOf('{}'), () => {});
  cut.catch(() => {});
  await sink.waitFor(1);
  await close();
  await expect(cut).rejects.not.toMatchObject({ code: 'sender_died' });
});
