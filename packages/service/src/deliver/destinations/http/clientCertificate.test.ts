/** Tests the client certificate against TLS receivers that require one. */
import { execFileSync, spawn } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { type Server, type ServerResponse, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TLSSocket, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createClient, unwrapAlert } from '@sluice/kit';
import { createCertificate, startWebhookSink } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Log } from '../../../base/log.ts';
import { startService } from '../../../service.ts';
import { type ClientCertificate, openClientCertificate } from './clientCertificate.ts';
import { ALL_NETWORKS, createAddressGuard } from './guard.ts';
import { createIsolation } from '../../send/isolation.ts';
import { createHttpSender } from '../../send/httpSender.test-only.ts';

const DAY_MS = 24 * 3_600_000;
const CHECK_MS = 20;
const at = (days: number): Date => new Date(Date.now() + days * DAY_MS);
const authority = (commonName: string) =>
  createCertificate({ commonName, validFrom: at(-10), expiresAt: at(900), isAuthority: true });
const [servers, clients] = [authority('Authority of servers'), authority('Authority of clients')];
const certified = createCertificate({
  commonName: 'localhost',
  names: ['localhost'],
  issuer: servers,
  validFrom: at(-10),
  expiresAt: at(300),
});
const client = (commonName: string, days = 300) =>
  createCertificate({ commonName, issuer: clients, validFrom: at(-10), expiresAt: at(days) });

const trusted = getCACertificates('default');
const folder = mkdtempSync(join(tmpdir(), 'sluice-client-certificate-'));
const files = {
  clientCert: join(folder, 'cert.pem'),
  clientKey: join(folder, 'key.pem'),
};
const write = ({ cert, key }: { cert: string; key: string }): void => {
  writeFileSync(files.clientKey, key);
  writeFileSync(files.clientCert, cert);
};

let logged: string[];
const log: Log = {
  info: (event) => void logged.push(event),
  warn: (event) => void logged.push(event),
  error() {},
};
const opened: { close(): unknown }[] = [];

beforeAll(() => {
  setDefaultCACertificates([...trusted, servers.cert]);
  const path = join(folder, 'authority.pem');
  writeFileSync(path, servers.cert);
  process.env['NODE_EXTRA_CA_CERTS'] = path;
});
beforeEach(() => {
  logged = [];
  write(client('client 1'));
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});
afterAll(() => {
  setDefaultCACertificates(trusted);
  delete process.env['NODE_EXTRA_CA_CERTS'];
  rmSync(folder, { recursive: true });
});

async function listen(server: Server): Promise<number> {
  opened.push({
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a receiver that responds with the common name of the client certificate. */
async function receive({
  requires = true,
  respond = (response: ServerResponse, name: string): void => void response.end(name),
} = {}): Promise<string> {
  const options = { requestCert: requires, rejectUnauthorized: requires, ca: clients.cert };
  const { cert, key } = certified;
  const server = createTlsServer({ cert, key, ...options }, (request, response) => {
    request.resume();
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    respond(response, (subject as { CN?: string } | undefined)?.CN ?? 'no certificate');
  });
  return `https://localhost:${await listen(server)}/`;
}

function open(given: Partial<typeof files> = files): ClientCertificate {
  const certificate = openClientCertificate(given, log, CHECK_MS)!;
  opened.push({ close: certificate.stop });
  return certificate;
}

function createSenderWith(clientCertificate?: ClientCertificate, egressProxy?: string) {
  const guard = createAddressGuard({ allowCidrs: ALL_NETWORKS });
  const sender = createHttpSender({
    guard,
    clientCertificate,
    egressProxy,
    timeoutMs: 5_000,
    secret: () => 'secret',
    region: () => 'us-east-1',
  });
  opened.push(sender);
  return sender;
}

function senderWith(...given: Parameters<typeof createSenderWith>) {
  const sender = createSenderWith(...given);
  return (url: string) => sender.send(sendingTo(url));
}

const sendingTo = (url: string) => ({
  url,
  id: 'x',
  body: Buffer.from('{}'),
  headers: {},
  queueSize: 0,
  recordsCharged: 0,
});

test('the client certificate is presented to receivers that require one', async () => {
  const url = await receive();
  expect(await senderWith(open())(url)).toMatchObject({ status: 200, responseBody: 'client 1' });
  expect(await senderWith()(url)).toMatchObject({ status: null });
});

// Uses openssl, because Node's TLS server closes the connection without an alert. `npm test`
// reports a missing openssl, and fails without it in CI.
test.skipIf(process.env['TESTS_WITHOUT']?.includes('openssl'))(
  'the error names a receiver that rejects or requires a client certificate',
  async () => {
    const path = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const port = await listen(createServer());
    opened.pop()!.close();
    const receiver = spawn('openssl', [
      ...['s_server', '-accept', String(port), '-Verify', '1', '-verify_return_error'],
      ...[
        '-cert',
        path('server.pem', certified.cert),
        '-key',
        path('server-key.pem', certified.key),
      ],
      ...['-CAfile', path('clients.pem', clients.cert)],
    ]);
    opened.push({ close: () => receiver.kill() });
    const url = `https://localhost:${port}/`;
    const [none, unknown] = [senderWith(), senderWith(open())];
    await expect
      .poll(async () => (await none(url)).error)
      .toBe(
        'the receiver requires a client certificate: start the service with --client-cert and --client-key',
      );
    write(certified);
    await expect.poll(() => logged).toContain('client certificate replaced');
    expect((await unknown(url)).error).toBe(
      'the receiver does not trust the issuer of the client certificate',
    );
  },
);

test('the client certificate is not sent to receivers that do not request one, nor without TLS', async () => {
  const send = senderWith(open());
  const url = await receive({ requires: false });
  expect(await send(url)).toMatchObject({ status: 200, responseBody: 'no certificate' });
  const plain = await listen(createServer((_, response) => response.end('plain')));
  expect(await send(`http://localhost:${plain}/`)).toMatchObject({ responseBody: 'plain' });
});

test('the client certificate is presented to the receiver behind an egress proxy', async () => {
  const url = await receive();
  const proxy = createServer().on('connect', (_: unknown, socket: Socket) => {
    const target = connect(Number(new URL(url).port), '127.0.0.1');
    for (const each of [socket, target]) each.on('error', () => {});
    socket.write('HTTP/1.1 200 Connected\r\n\r\n');
    socket.pipe(target).pipe(socket);
  });
  const proxyUrl = `http://127.0.0.1:${await listen(proxy)}`;
  const send = senderWith(open(), proxyUrl);
  expect(await send(url)).toMatchObject({ status: 200, responseBody: 'client 1' });
  write(client('client 2'));
  await expect.poll(async () => (await send(url)).responseBody).toBe('client 2');
});

test('the client certificate is replaced while the service runs, without interrupting attempts', async () => {
  const arrived = Promise.withResolvers<() => void>();
  const url = await receive({
    respond(response, name) {
      if (response.req.url === '/slow') arrived.resolve(() => response.end(name));
      else response.end(name);
    },
  });
  const certificate = open();
  const send = senderWith(certificate);
  expect((await send(url)).responseBody).toBe('client 1');
  const slow = send(`${url}slow`);
  const answer = await arrived.promise;
  write(client('client 2'));
  await expect.poll(() => logged).toContain('client certificate replaced');
  expect((await send(url)).responseBody).toBe('client 2');
  answer();
  expect(await slow).toMatchObject({ status: 200, responseBody: 'client 1' });
});

test('the client certificate is replaced if it is renewed with the same key', async () => {
  const { cert, key } = client('client 2');
  write({ cert, key });
  const certificate = open();
  const send = senderWith(certificate);
  const url = await receive({
    respond: (response) => void response.end(String(response.req.socket.remotePort)),
  });
  const { responseBody: connection } = await send(url);
  write({ cert: cert + clients.cert, key });
  await expect.poll(() => certificate.read()).toEqual({ cert: cert + clients.cert, key });
  const after = await send(url);
  expect(after.status).toBe(200);
  expect(after.responseBody).not.toBe(connection);
});

test('rotations interrupt none of 64 attempts, and a shutdown aborts those that hang', async () => {
  const waiting: (() => void)[] = [];
  const url = await receive({
    respond: (response, name) => void waiting.push(() => response.end(name)),
  });
  const sender = createSenderWith(open());
  const attempts: ReturnType<typeof sender.send>[] = [];
  for (let n = 1; n <= 4; n++) {
    logged.length = 0;
    write(client(`rotated ${n}`));
    await expect.poll(() => logged).toEqual(['client certificate replaced']);
    attempts.push(...Array.from({ length: 16 }, () => sender.send(sendingTo(url))));
    await expect.poll(() => waiting.length).toBe(16 * n);
  }
  const hanging = sender.send(sendingTo(url));
  await expect.poll(() => waiting.length).toBe(65);
  write(client('last'));
  await expect.poll(() => logged).toHaveLength(2);
  // Replaces the connections of `hanging`.
  attempts.push(sender.send(sendingTo(url)));
  await expect.poll(() => waiting.length).toBe(66);
  waiting.splice(64, 1);
  for (const answer of waiting) answer();
  const names = (await Promise.all(attempts)).map(({ responseBody }) => responseBody);
  const expected = [1, 2, 3, 4].flatMap((n) => Array.from({ length: 16 }, () => `rotated ${n}`));
  expect(names).toEqual([...expected, 'last']);

  const closedAt = performance.now();
  await sender.close();
  expect(await hanging).toMatchObject({ status: null });
  expect(performance.now() - closedAt).toBeLessThan(1_000);
});

test('the client certificate stays in use while its files are broken', async () => {
  const certificate = open();
  const before = certificate.read();
  writeFileSync(files.clientKey, client('another').key);
  await expect.poll(() => logged).toEqual(['client certificate not replaced']);
  rmSync(files.clientCert);
  await expect.poll(() => logged).toHaveLength(2);
  await new Promise((resolve) => setTimeout(resolve, 5 * CHECK_MS));
  expect(logged).toHaveLength(2);
  expect(certificate.read()).toBe(before);
  write(client('client 3'));
  await expect.poll(() => logged.at(-1)).toBe('client certificate replaced');
});

test('the client certificate stays in use while its files are empty or incomplete', async () => {
  const certificate = open();
  const before = certificate.read();
  const { cert, key } = client('client 2');
  const half = (text: string): string => text.slice(0, text.length / 2);
  for (const [partCert, partKey] of [
    ['', ''],
    ['', key],
    [cert, ''],
    [half(cert), key],
    [cert, half(key)],
    [before.cert, key],
  ] as const) {
    logged.length = 0;
    // Each state is new to the log, because the one before it was complete.
    write(before);
    await new Promise((resolve) => setTimeout(resolve, 3 * CHECK_MS));
    write({ cert: partCert, key: partKey });
    await expect.poll(() => logged).toEqual(['client certificate not replaced']);
    expect(certificate.read()).toBe(before);
  }
  write({ cert, key });
  await expect.poll(() => logged.at(-1)).toBe('client certificate replaced');
});

test.skipIf(process.platform === 'win32')(
  'the client certificate stays in use while a file is a pipe, a folder or huge',
  async () => {
    const certificate = open();
    const before = certificate.read();
    for (const [replace, reason] of [
      [() => execFileSync('mkfifo', [files.clientKey]), 'regular file'],
      [() => (writeFileSync(files.clientKey, ''), truncateSync(files.clientKey, 1e8)), 'at most'],
      [() => mkdirSync(files.clientKey), 'regular file'],
    ] as const) {
      rmSync(files.clientKey, { recursive: true });
      logged.length = 0;
      replace();
      await expect.poll(() => logged).toEqual(['client certificate not replaced']);
      expect(certificate.read()).toBe(before);
      expect(() => open()).toThrow(new RegExp(`^--client-key .*: cannot be read: .*${reason}`));
    }
    rmSync(files.clientKey, { recursive: true });
    write(client('client 2'));
    await expect.poll(() => logged.at(-1)).toBe('client certificate replaced');
  },
);

test('a file that is cut anywhere is rejected at start', () => {
  const whole = client('client 1');
  for (const part of ['cert', 'key'] as const) {
    const text = whole[part].trimEnd();
    for (let end = 0; end < text.length; end += 7) {
      write({ ...whole, [part]: text.slice(0, end) });
      expect(() => open()).toThrow('--client-cert');
    }
  }
});

test('an encrypted key is rejected at start', () => {
  const { cert, key } = client('client 1');
  const encrypted = createPrivateKey(key).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'word',
  });
  write({ cert, key: encrypted });
  expect(() => open()).toThrow('not encrypted');
});

test('the client certificate is presented from the isolated process, and replaced there', async () => {
  const isolation = createIsolation({
    allowCidrs: ALL_NETWORKS,
    clientCertificate: open(),
    secret: () => 'secret',
    region: () => 'us-east-1',
  });
  opened.push(isolation);
  await isolation.start();
  const url = await receive();
  const send = () => isolation.send(sendingTo(url), () => {});
  expect(await send()).toMatchObject({ status: 200, responseBody: 'client 1' });
  write(client('client 2'));
  await expect.poll(() => logged).toContain('client certificate replaced');
  expect(await send()).toMatchObject({ status: 200, responseBody: 'client 2' });
});

test.each([
  [20, undefined],
  [13, /^the client certificate expires on \d{4}-\d\d-\d\d: replace the files/],
  [-1, /^the client certificate expired on /],
])('with %d days left, expiring() returns %s', (days, expected) => {
  write(client('client 1', days));
  const certificate = open();
  expect(certificate.expiresAt() / DAY_MS).toBeCloseTo(at(days).getTime() / DAY_MS, 1);
  if (expected === undefined) expect(certificate.expiring()).toBeUndefined();
  else expect(certificate.expiring()).toMatch(expected);
});

test('incomplete and unreadable files are rejected, without their content', () => {
  expect(openClientCertificate({}, log)).toBeUndefined();
  const { clientCert, clientKey } = files;
  expect(() => open({ clientCert })).toThrow('--client-cert: needs --client-key');
  expect(() => open({ clientKey })).toThrow('--client-key: needs --client-cert');
  const missing = join(folder, 'missing');
  expect(() => open({ clientCert, clientKey: missing })).toThrow(
    `--client-key ${missing}: cannot be read`,
  );
  writeFileSync(clientKey, client('another').key);
  expect(() => open()).toThrow(`--client-cert ${clientCert}: should be a certificate in PEM`);
  writeFileSync(clientKey, 'word of the file');
  expect(() => open()).toThrow(/^(?!.*word of the file)/);
});

test('a service uses the client certificate for test webhooks, and reports its expiry', async () => {
  write(client('client 1', 5));
  const sink = await startWebhookSink();
  opened.push(sink);
  const apiKey = 'client-certificate-test-key';
  const service = await startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: join(folder, 'data'),
      chains: [],
      aptos: [],
      apiKey,
      secret: 'secret',
      allowPrivateEndpoints: true,
      notifyUrl: sink.url,
      ...files,
    },
    log,
  );
  opened.push({ close: service.stop });
  await createClient({ apiKey, baseUrl: service.url }).streams.create({
    webhookUrl: await receive(),
    description: '',
    chainIds: ['0x1'],
  });
  const { body, headers } = await sink.waitFor(() => true);
  const { alert } = unwrapAlert({ body, headers: { ...headers } as never, secret: 'secret' });
  expect(alert.type).toBe('client-certificate.expiring');
  const metrics = await fetch(`${service.url}/metrics`, { headers: { 'x-api-key': apiKey } });
  const name = 'sluice_client_certificate_expiry_timestamp_seconds';
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics.text())?.[1];
  expect(Number(value)).toBeCloseTo(at(5).getTime() / 1000, -2);
});
