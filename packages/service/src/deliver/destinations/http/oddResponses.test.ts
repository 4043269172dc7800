/** Tests what counts as a response: a status line decides, whatever follows it. */
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ALL_NETWORKS, createAddressGuard } from './guard.ts';
import { createHttpSender } from '../../send/httpSender.test-only.ts';
import type { Sender } from '../../send/send.ts';

let server: Server;
let sender: Sender;
let respond: (socket: Socket) => void;
const open = new Set<Socket>();

beforeEach(async () => {
  server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {});
    // One request is one chunk, or two: headers and body.
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString();
      if (!received.endsWith('{"a":1}')) return;
      received = '';
      respond(socket);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  sender = createHttpSender({
    guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
    secret: () => 'a streams secret',
    region: () => 'us-east-1',
    timeoutMs: 1_500,
  });
});
afterEach(async () => {
  await sender.close();
  for (const socket of open) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const send = () =>
  sender.send({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    id: 'id-1',
    body: Buffer.from('{"a":1}'),
    headers: {},
    queueSize: 0,
    recordsCharged: 0,
  });

describe('a 2xx completes the delivery', () => {
  test.each<[string, string, boolean]>([
    [
      'with a body that never ends',
      '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n',
      false,
    ],
    ['with a body that is cut', '200 OK\r\nContent-Length: 10\r\n\r\nok', true],
    [
      'with a chunked body that is cut',
      '202 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok',
      true,
    ],
    ['without a reason phrase', '200\r\nContent-Length: 2\r\n\r\nok', false],
    [
      'with an invalid chunk',
      '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n',
      false,
    ],
    ['with garbage after it', '201 OK\r\nContent-Length: 2\r\n\r\nok\r\n\0garbage', false],
    [
      'with headers above 16 KiB',
      `200 OK\r\nSet-Cookie: ${'c'.repeat(17_000)}\r\nContent-Length: 2\r\n\r\nok`,
      false,
    ],
    ['with 2 MB of headers', `200 OK\r\nSet-Cookie: ${'c'.repeat(2_000_000)}\r\n\r\n`, false],
    ['with headers that never end', '200 OK\r\nContent-Length: 0\r\n', false],
    ['with headers that are cut', '200 OK\r\nContent-Le', true],
    ['with an invalid header', '200 OK\r\nno header\r\n\r\n', true],
    ['with nothing but a status', '204\n', true],
  ])('%s', async (_, response, isClosed) => {
    respond = (socket) => {
      socket.write(`HTTP/1.1 ${response}`);
      if (isClosed) socket.end();
    };
    expect(await send()).toMatchObject({
      status: Number(response.slice(0, 3)),
      error: null,
      localFailure: undefined,
    });
    // The connection of an odd response is not used for the next one.
    respond = (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    expect(await send()).toMatchObject({ status: 200, error: null });
  });

  test('on a connection that was used before', async () => {
    let connections = 0;
    server.on('connection', () => connections++);
    respond = (socket) => void socket.write('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n');
    expect(await send()).toMatchObject({ status: 500 });
    // The connection is free again in the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    respond = (socket) => socket.end('HTTP/1.1 201 OK\r\nContent-Le');
    expect(await send()).toMatchObject({ status: 201, error: null });
    expect(connections).toBe(1);
  });

  test('of HTTP 1.0', async () => {
    respond = (socket) => socket.end('HTTP/1.0 202 OK\r\nContent-Le');
    expect(await send()).toMatchObject({ status: 202, error: null });
  });

  test('after interim responses', async () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
    respond = (socket) => socket.end(`${interim}${interim}HTTP/1.1 201 OK\r\nContent-Le`);
    expect(await send()).toMatchObject({ status: 201, error: null });
    respond = (socket) => socket.end(interim);
    expect(await send()).toMatchObject({ status: null });
  });

  test('property: whatever follows its status line', async () => {
    const bytes = fc.uint8Array({ maxLength: 40 }).map((given) => Buffer.from(given));
    const framing = fc.constantFrom(
      '',
      'X-A: b\r\n',
      'Transfer-Encoding: chunked\r\n\r\n',
      'Content-Length: 30\r\n\r\n',
    );
    const codes = fc.integer({ min: 200, max: 299 });
    await fc.assert(
      fc.asyncProperty(codes, framing, bytes, fc.boolean(), async (code, how, rest, isSplit) => {
        respond = (socket) => {
          const line = `HTTP/1.1 ${code} OK\r\n${how}`;
          socket.write(isSplit ? line.slice(0, 5) : '');
          const end = (): void => {
            socket.write(isSplit ? line.slice(5) : line);
            socket.end(rest);
          };
          // The sender reads the first piece between two turns of the event loop.
          setImmediate(() => setImmediate(end));
        };
        expect(await send()).toMatchObject({ status: code, error: null });
      }),
      { numRuns: 100 },
    );
  });
});

test('a connection without a status line has no status', async () => {
  for (const response of [
    '',
    'HTTP/1.1 20',
    'HTTP/1.1 200 OK',
    'HTTP/1.1 99 No\r\n\r\n',
    '200 OK\r\n',
  ]) {
    respond = (socket) => socket.end(response);
    const result = await send();
    expect(result.status).toBeNull();
    expect(result.error).toMatch(/\w/);
  }
});

test('the status of one response is not taken for the next on its connection', async () => {
  const ports: unknown[] = [];
  respond = (socket) => {
    ports.push(socket.remotePort);
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  };
  expect(await send()).toMatchObject({ status: 200 });
  // The connection is free once the turn in which the response ended is over.
  await new Promise((resolve) => void setImmediate(resolve));
  respond = (socket) => {
    ports.push(socket.remotePort);
    socket.end();
  };
  expect(await send()).toMatchObject({ status: null });
  expect(ports[1]).toBe(ports[0]);
});

test('another status fails the attempt, even if its body is cut', async () => {
  respond = (socket) => socket.end('HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\nbroken');
  expect(await send()).toMatchObject({ status: 500, error: 'HTTP 500', responseBody: 'broken' });
});
