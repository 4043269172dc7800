import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test, vi } from 'vitest';
import { startDeadline } from './deadline.ts';
import { ALL_NETWORKS, createAddressGuard } from '../destinations/http/guard.ts';
import { createHttpSender } from './httpSender.test-only.ts';

const TIMEOUT_MS = 300;

/** Blocks this thread like SIGSTOP, while the thread of the receiver continues. */
const stall = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

// A receiver in a separate thread, which responds while this thread is blocked.
const receiver = new Worker(
  `const { createServer } = require('node:http');
   const { parentPort } = require('node:worker_threads');
   const server = createServer((request, response) => {
     parentPort.postMessage('asked');
     if (request.url === '/answers') setTimeout(() => response.end('late?'), 50);
     if (request.url === '/begins') response.write('begun');
     if (request.url === '/starts') response.socket.write('HTTP/1.1 202 OK\\r\\nContent-Le');
   }).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
  { eval: true },
);
const [port] = (await once(receiver, 'message')) as [number];
const sender = createHttpSender({
  guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
  secret: () => 'secret',
  region: () => 'us-east-1',
  timeoutMs: TIMEOUT_MS,
});
afterAll(async () => {
  await sender.close();
  await receiver.terminate();
});

const sendThroughStall = async (path: string) => {
  const asked = once(receiver, 'message');
  const url = `http://127.0.0.1:${port}${path}`;
  const sending = { url, id: 'x', body: Buffer.from('{}'), headers: {} };
  const sent = sender.send({ ...sending, queueSize: 0, recordsCharged: 0 });
  await asked;
  stall(2 * TIMEOUT_MS);
  return sent;
};

test('a response that arrived while this process was stopped is still read', async () => {
  expect(await sendThroughStall('/answers')).toMatchObject({
    status: 200,
    error: null,
    responseBody: 'late?',
    localFailure: undefined,
  });
});

test('a 2xx whose end is missing after a stall is a success', async () => {
  expect(await sendThroughStall('/begins')).toMatchObject({
    status: 200,
    error: null,
    responseBody: 'begun',
    localFailure: undefined,
  });
});

test('a status line that arrived before a stall completes the delivery', async () => {
  expect(await sendThroughStall('/starts')).toMatchObject({
    status: 202,
    error: null,
    localFailure: undefined,
  });
});

test('a missing response after a stall is a local failure, not the receiver’s', async () => {
  expect(await sendThroughStall('/hangs')).toMatchObject({
    status: null,
    error: 'no complete response within 0.3 s, during which this process was suspended',
    localFailure: { cause: 'STALLED', isSent: true },
  });
});

test('a request whose connection opens only after a stall is not sent', async () => {
  let requests = 0;
  receiver.on('message', () => requests++);
  const url = `http://localhost:${port}/answers`;
  const sending = { url, id: 'x', body: Buffer.from('{}'), headers: {} };
  const sent = sender.send({ ...sending, queueSize: 0, recordsCharged: 0 });
  stall(2 * TIMEOUT_MS);
  expect(await sent).toMatchObject({
    status: null,
    localFailure: { cause: 'STALLED', isSent: false },
  });
  // A later request arrives, so the earlier one would have arrived too.
  expect(await sender.send({ ...sending, queueSize: 0, recordsCharged: 0 })).toMatchObject({
    status: 200,
  });
  expect(requests).toBe(1);
});

test('without a stall, the deadline passes once unless it is canceled', async () => {
  const passed: string[] = [];
  const end = startDeadline(10, () => passed.push('ended'));
  end();
  await new Promise<void>((resolve) => {
    startDeadline(20, (stalled) => {
      passed.push(`stalled: ${stalled}`);
      resolve();
    });
  });
  expect(passed).toEqual(['stalled: false']);
});

test('after a stall, the deadline leaves three seconds to read what has arrived', () => {
  vi.useFakeTimers();
  try {
    const passed = vi.fn();
    startDeadline(1_000, passed);
    const stalledUntil = performance.now() + 60_000;
    vi.spyOn(performance, 'now')
      .mockReturnValueOnce(stalledUntil)
      .mockReturnValueOnce(stalledUntil);
    vi.advanceTimersByTime(1_000 + 2_999);
    expect(passed).not.toHaveBeenCalled();
    vi.mocked(performance.now).mockReturnValue(stalledUntil + 3_000);
    vi.advanceTimersByTime(1);
    expect(passed.mock.calls).toEqual([[true]]);
  } finally {
    vi.restoreAllMocks();
    vi.useRealTimers();
  }
});
