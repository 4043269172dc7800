import { createServer, type RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type CertifiedKey, createCertificate } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ALL_NETWORKS, createAddressGuard } from './guard.ts';
import { createHttpSender } from '../../send/httpSender.test-only.ts';
import type { Sender } from '../../send/send.ts';

const DAY_MS = 24 * 3_600_000;
const NOW = Math.floor(Date.now() / 1000) * 1000;
const at = (days: number): Date => new Date(NOW + days * DAY_MS);
const HOST = 'receiver.test';
const LOOKUP_MS = 30;

const authority = createCertificate({
  commonName: 'Test authority',
  validFrom: at(-10),
  expiresAt: at(1_000),
  isAuthority: true,
});
const certificate = (days: number, names = [HOST]): CertifiedKey =>
  createCertificate({
    commonName: names[0]!,
    names,
    validFrom: at(-10),
    expiresAt: at(days),
    issuer: authority,
  });

const day = (days: number): string => at(days).toISOString().slice(0, 10);

const trusted = getCACertificates('default');
let sender: Sender;
const servers: Server[] = [];

beforeAll(() => {
  setDefaultCACertificates([...trusted, authority.cert]);
  const resolve = async (hostname: string) => {
    await delay(LOOKUP_MS);
    if (hostname === HOST) return [{ address: '127.0.0.1', family: 4 }];
    throw Object.assign(new Error(`ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' });
  };
  sender = createHttpSender({
    guard: createAddressGuard({ allowCidrs: ALL_NETWORKS, resolve }),
    secret: () => 'secret',
    region: () => 'us-east-1',
    timeoutMs: 5_000,
  });
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
afterAll(async () => {
  setDefaultCACertificates(trusted);
  await sender.close();
});

const listen = async (server: Server): Promise<number> => {
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
};

const send = async (url: string, by = sender) => {
  const sending = {
    url,
    id: 'x',
    body: Buffer.from('{}'),
    headers: {},
    queueSize: 0,
    recordsCharged: 0,
  };
  const result = await by.send(sending);
  // Waits until the connection is free again, shortly after the response.
  await nextTurn();
  return result;
};

const ms = (from: number) =>
  expect.toSatisfy((value: number) => value >= from - 1 && value < 3_000);

describe('the timing of an attempt', () => {
  test('covers a new connection, then a reused one', async () => {
    const WAIT_MS = 40;
    const BODY_MS = 80;
    const port = await listen(
      createServer((_, response) => {
        setTimeout(() => {
          response.writeHead(200).write('begins');
          setTimeout(() => response.end('ends'), BODY_MS);
        }, WAIT_MS);
      }),
    );
    const first = await send(`http://${HOST}:${port}/`);
    expect(first).toMatchObject({ error: null, responseBody: 'beginsends' });
    expect(first.transport).toEqual({
      parts: {
        dnsMs: ms(LOOKUP_MS),
        connectMs: ms(0),
        tlsMs: null,
        waitMs: ms(WAIT_MS),
        bodyMs: ms(1),
      },
      address: `127.0.0.1:${port}`,
      certificate: null,
    });
    const { dnsMs, connectMs, waitMs, bodyMs } = first.transport!.parts;
    // The receiver's second delay begins before its first byte arrives here, so only the sum is
    // certain.
    expect(waitMs! + bodyMs!).toBeGreaterThanOrEqual(WAIT_MS + BODY_MS - 3);
    // The parts exclude the time before the connection was requested. Each part is rounded.
    expect(dnsMs! + connectMs! + waitMs! + bodyMs!).toBeLessThanOrEqual(first.durationMs + 3);

    const second = await send(`http://${HOST}:${port}/`);
    expect(second.transport).toEqual({
      parts: {
        dnsMs: null,
        connectMs: null,
        tlsMs: null,
        waitMs: ms(WAIT_MS),
        bodyMs: ms(1),
      },
      address: null,
      certificate: null,
    });
  });

  const atOnce: RequestListener = (_, response) => response.end('ok');

  test('is omitted for an immediate response on a reused connection', async () => {
    const port = await listen(createServer(atOnce));
    const url = `http://127.0.0.1:${port}/`;
    expect((await send(url)).transport).toMatchObject({
      parts: { dnsMs: null, connectMs: ms(0), tlsMs: null, waitMs: ms(0), bodyMs: ms(0) },
    });
    await expect.poll(async () => (await send(url)).transport).toBeNull();
  });

  test.each(['HTTP/1.1', 'HTTP/2'])(
    'covers TLS with %s, and includes the certificate',
    async (protocol) => {
      const expiring = certificate(100);
      const { cert, key } = expiring;
      const server =
        protocol === 'HTTP/2'
          ? createSecureServer({ cert, key }, (_, response) => response.end('ok'))
          : createTlsServer({ cert, key }, atOnce);
      const port = await listen(server);
      const url = `https://${HOST}:${port}/`;
      const first = await send(url);
      expect(first).toMatchObject({ status: 200, error: null });
      expect(first.transport).toEqual({
        parts: {
          dnsMs: ms(LOOKUP_MS),
          connectMs: ms(0),
          tlsMs: ms(0),
          waitMs: ms(0),
          bodyMs: ms(0),
        },
        address: `127.0.0.1:${port}`,
        certificate: {
          subject: `CN=${HOST}`,
          issuer: 'CN=Test authority',
          names: [HOST],
          validFrom: at(-10).getTime(),
          expiresAt: at(100).getTime(),
          expiresSoon: false,
        },
      });
      await expect.poll(async () => (await send(url)).transport).toBeNull();
    },
  );

  test('covers a tunnel: everything the proxy does, then TLS inside it', async () => {
    const TUNNEL_MS = 60;
    const TLS_MS = 90;
    const { cert, key } = certificate(100);
    const to = await listen(createTlsServer({ cert, key }, atOnce));
    const proxy = createServer().on('connect', (_: unknown, client: Socket) => {
      const target = connect(to, '127.0.0.1');
      for (const socket of [client, target]) socket.on('error', () => {});
      setTimeout(() => client.write('HTTP/1.1 200 Connected\r\n\r\n'), TUNNEL_MS);
      client.once('data', (hello) => setTimeout(() => target.write(hello), TLS_MS));
      client.once('data', () => client.pipe(target));
      target.pipe(client);
    });
    const tunnelled = createHttpSender({
      guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
      secret: () => 'secret',
      region: () => 'us-east-1',
      egressProxy: `http://127.0.0.1:${await listen(proxy)}`,
    });
    const parts = { dnsMs: null, connectMs: ms(TUNNEL_MS), tlsMs: ms(TLS_MS) };
    const first = await send(`https://${HOST}/`, tunnelled);
    expect(first).toMatchObject({
      status: 200,
      transport: {
        parts: { ...parts, waitMs: ms(0), bodyMs: ms(0) },
        address: null,
        certificate: { subject: `CN=${HOST}` },
      },
    });
    const { connectMs, tlsMs } = first.transport!.parts;
    expect(connectMs! + tlsMs!).toBeLessThanOrEqual(first.durationMs + 3);
    // The certificate of the receiver behind the tunnel is for a different name.
    expect(await send('https://other.test/', tunnelled)).toMatchObject({
      status: null,
      error: expect.stringContaining('certificate') as string,
      transport: { parts: { ...parts, waitMs: null, bodyMs: null } },
    });
    await tunnelled.close();
  });

  test('ends where the attempt failed: in the lookup, in connecting, or before the response', async () => {
    expect(await send('http://nowhere.test/')).toMatchObject({
      error: 'ENOTFOUND nowhere.test',
      transport: {
        parts: { dnsMs: ms(LOOKUP_MS), connectMs: null, tlsMs: null, waitMs: null, bodyMs: null },
        address: null,
      },
    });
    expect(await send('http://127.0.0.1:1024/')).toMatchObject({
      error: expect.stringContaining('ECONNREFUSED') as string,
      transport: {
        parts: { dnsMs: null, connectMs: ms(0), tlsMs: null, waitMs: null, bodyMs: null },
        address: '127.0.0.1:1024',
      },
    });
    const port = await listen(createServer((request) => setTimeout(() => request.destroy(), 40)));
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({
      status: null,
      transport: { parts: { connectMs: ms(0), waitMs: ms(40), bodyMs: null } },
    });
  });
});

describe('the certificate of a receiver', () => {
  const listenWith = async ({ cert, key }: CertifiedKey): Promise<number> =>
    listen(createTlsServer({ cert, key }, (_, response) => response.end('ok')));

  test.each([
    [
      'has expired',
      () => certificate(-1),
      `the certificate has expired, or one in its chain has: CN=${HOST}; for ${HOST}; ` +
        `valid from ${day(-10)} to ${day(-1)}; signed by CN=Test authority`,
    ],
    [
      'is for another name',
      () => certificate(100, ['other.test', '*.others.test']),
      `the certificate is not for ${HOST}: CN=other.test; for other.test, *.others.test; `,
    ],
    [
      'is self-signed',
      () =>
        createCertificate({
          commonName: HOST,
          names: [HOST],
          validFrom: at(-10),
          expiresAt: at(100),
        }),
      `the certificate is self-signed: CN=${HOST}`,
    ],
    [
      'has an unknown issuer',
      () =>
        createCertificate({
          commonName: HOST,
          names: [HOST],
          validFrom: at(-10),
          expiresAt: at(100),
          issuer: { ...authority, commonName: 'Somebody' },
        }),
      'the certificate has an incomplete chain or an issuer that is not trusted here',
    ],
  ])('that %s is described in the error', async (_, made, said) => {
    const port = await listenWith(made());
    const result = await send(`https://${HOST}:${port}/`);
    expect(result).toMatchObject({
      status: null,
      error: expect.stringContaining(said) as string,
      transport: {
        parts: { dnsMs: ms(LOOKUP_MS), connectMs: ms(0), tlsMs: ms(0), waitMs: null, bodyMs: null },
        address: `127.0.0.1:${port}`,
        certificate: { subject: expect.stringContaining('CN=') as string },
      },
    });
    expect(result.error).toContain(`at 127.0.0.1:${port}`);
  });

  test('is reported with each attempt if it expires soon, on reused connections too', async () => {
    const soon = certificate(13);
    const port = await listenWith(soon);
    const url = `https://${HOST}:${port}/`;
    const expiresAt = at(13).getTime();
    expect((await send(url)).transport?.certificate).toMatchObject({
      expiresAt,
      expiresSoon: true,
    });
    expect((await send(url)).transport).toMatchObject({
      parts: { connectMs: null },
      address: null,
      certificate: { expiresAt, expiresSoon: true },
    });
  });

  test('is not blamed when the receiver does not speak TLS', async () => {
    const port = await listen(createServer((_, response) => response.end('ok')));
    expect(await send(`https://${HOST}:${port}/`)).toMatchObject({
      status: null,
      error: expect.not.stringContaining('certificate') as string,
      transport: { parts: { tlsMs: ms(0), waitMs: null }, certificate: null },
    });
  });
});
