/**
 * Tests how the service protects browser users: other origins, host names, cookies behind proxies,
 * and streaming responses.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { createSluiceClient } from '@sluice/kit/sluice';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CallerError } from '../../base/errors.ts';
import type { ServiceConfig } from '../../config/config.ts';
import { createLog } from '../../base/log.ts';
import { type Service, startService } from '../../service.ts';

const API_KEY = 'browsers-test-key-0123456789';
const PAGE = 'https://app.example.com';
const folder = mkdtempSync(join(tmpdir(), 'sluice-browsers-'));

const start = (name: string, config: Partial<ServiceConfig>): Promise<Service> =>
  startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: join(folder, name),
      apiKey: API_KEY,
      chains: [],
      aptos: [],
      allowPrivateEndpoints: true,
      ...config,
    },
    createLog(() => {}),
  );

interface RawResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Sends a request with `node:http`, because `fetch` adds headers. */
function send(
  { url }: Service,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url + path, { method, headers, agent: false }, (response) => {
      readText(response).then(
        (text) => resolve({ status: response.statusCode!, headers: response.headers, text }),
        reject,
      );
    });
    request.on('error', reject);
    request.end(body && JSON.stringify(body));
  });
}

const messageOf = ({ text }: RawResponse): string =>
  (JSON.parse(text) as { message: string }).message;

/**
 * `plain` listens on loopback, the default. `proxied` listens on all addresses, behind a TLS proxy.
 */
let plain: Service;
let proxied: Service;
beforeAll(async () => {
  plain = await start('plain', { corsOrigins: [PAGE, 'http://localhost:3000'] });
  proxied = await start('proxied', {
    host: '0.0.0.0',
    trustProxy: ['1'],
    allowHosts: ['sluice.example.com'],
  });
});
afterAll(async () => {
  await Promise.all([plain?.stop(), proxied?.stop()]);
  rmSync(folder, { recursive: true });
});
const key = { 'x-api-key': API_KEY };

describe('a page of another origin', () => {
  test('can send a preflight and then call with a key, if allowed', async () => {
    for (const origin of [PAGE, 'http://localhost:3000']) {
      const asked = await send(plain, 'OPTIONS', '/streams/evm', {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'content-type,x-api-key',
      });
      expect(asked.status).toBe(204);
      expect(asked.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET,PUT,POST,PATCH,DELETE',
        vary: expect.stringContaining('Origin') as string,
      });
      expect(asked.headers['access-control-allow-headers']).toContain('x-api-key');
      expect(asked.headers['access-control-allow-credentials']).toBeUndefined();

      // Pages of an allowed origin can also read error responses.
      for (const [headers, status] of [
        [key, 200],
        [{}, 401],
      ] as const) {
        const called = await send(plain, 'GET', '/streams/evm', { ...headers, origin });
        expect(called.status).toBe(status);
        expect(called.headers['access-control-allow-origin']).toBe(origin);
        expect(called.headers['access-control-allow-credentials']).toBeUndefined();
        expect(called.headers['access-control-expose-headers']).toContain('retry-after');
        expect(called.headers['vary']).toContain('Origin');
      }
    }
  });

  test('gets no CORS headers if it is not allowed, however similar', async () => {
    for (const origin of [
      'https://evil.example',
      `${PAGE}.evil.example`,
      'http://app.example.com',
      `${PAGE}:8443`,
      PAGE.toUpperCase(),
      'null',
    ]) {
      for (const method of ['OPTIONS', 'GET']) {
        const response = await send(plain, method, '/streams/evm', { ...key, origin });
        expect(response.headers['access-control-allow-origin'], origin).toBeUndefined();
      }
    }
    const asked = await send(proxied, 'OPTIONS', '/streams/evm', { origin: PAGE });
    expect(asked.status).toBe(405);
    expect(asked.headers['access-control-allow-origin']).toBeUndefined();
  });

  test.each(['POST', 'DELETE'])(
    'is rejected at %s /sluice/session before its body is read',
    async (method) => {
      const request = httpRequest(`${plain.url}/sluice/session`, {
        method,
        headers: { origin: 'https://evil.example', 'content-length': 4_096 },
        agent: false,
      });
      // Sends only the headers: the response must not wait for the body.
      request.flushHeaders();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      expect(response.statusCode).toBe(403);
      request.destroy();
    },
  );

  test('cannot use a session of the console', async () => {
    const cookie = await signIn(plain, {});
    const response = await send(plain, 'PUT', '/streams/evm', { cookie, origin: PAGE }, {});
    expect([response.status, messageOf(response)]).toEqual([
      403,
      `Requests from ${PAGE} are not accepted`,
    ]);
  });

  test.each([
    ['--cors-origin', { corsOrigins: ['*'] }],
    ['--cors-origin', { corsOrigins: [`${PAGE}/`] }],
    ['--cors-origin', { corsOrigins: ['app.example.com'] }],
    ['--cors-origin', { corsOrigins: ['null'] }],
    ['--allow-host', { allowHosts: ['https://sluice.example.com'] }],
    ['--allow-host', { allowHosts: ['sluice.example.com:4400'] }],
    ['--allow-host', { allowHosts: ['*.example.com'] }],
  ])('%s %j is rejected', async (flag, config) => {
    const value = Object.values(config)[0]![0]!;
    const refused = start('never', config);
    await expect(refused).rejects.toBeInstanceOf(CallerError);
    await expect(refused).rejects.toThrow(`${flag} ${value}: should be`);
  });
});

describe('the Host header', () => {
  const statusOf = async (service: Service, host: string): Promise<number> =>
    (await send(service, 'GET', '/streams/evm', { ...key, host })).status;

  test('on loopback must be a loopback name or an allowed one', async () => {
    for (const host of ['localhost', '127.0.0.1:4400', '[::1]:1', 'LOCALHOST:80']) {
      expect(await statusOf(plain, host), host).toBe(200);
    }
    for (const host of ['sluice.example.com', '10.0.0.1', 'localhost.evil.example', '[::2]']) {
      expect(await statusOf(plain, host), host).toBe(403);
    }
  });

  test('elsewhere must be an allowed name or an IP address', async () => {
    for (const host of [
      ...['sluice.example.com', 'Sluice.Example.com:4400', 'localhost:4400'],
      ...['10.1.2.3:4400', '127.0.0.1', '[2001:db8::1]:4400'],
    ]) {
      expect(await statusOf(proxied, host), host).toBe(200);
    }
    for (const host of [
      ...['evil.example', 'sluice.example.com.evil.example', 'x.sluice.example.com'],
      ...['sluice.example.com:evil', '10.1.2.3.evil.example', 'sluice', '[sluice.example.com]'],
    ]) {
      expect([400, 403], host).toContain(await statusOf(proxied, host));
    }
  });
});

/** The headers that the operator's TLS proxy forwards from a browser. */
const overTls = { host: 'sluice.example.com', 'x-forwarded-proto': 'https' };
const ORIGIN = 'https://sluice.example.com';

async function signIn(
  service: Service,
  headers: Record<string, string>,
  apiKey = API_KEY,
): Promise<string> {
  const response = await send(service, 'POST', '/sluice/session', headers, { apiKey });
  expect(response.status, response.text).toBe(204);
  return response.headers['set-cookie']![0]!.split(';')[0]!;
}

describe('a session', () => {
  test('over TLS has a cookie that only this host can set', async () => {
    const response = await send(proxied, 'POST', '/sluice/session', overTls, { apiKey: API_KEY });
    const [cookie = ''] = response.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^__Host-sluice_session=[\w.-]+; /);
    const attributes = cookie.split('; ').slice(1);
    expect(new Set(attributes)).toEqual(
      new Set(['Max-Age=604800', 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Strict']),
    );
    const value = cookie.split(';')[0]!;
    const read = (headers: Record<string, string>): Promise<RawResponse> =>
      send(proxied, 'GET', '/sluice/chains', headers);
    expect((await read({ ...overTls, cookie: value })).status).toBe(200);
    // Anyone on the network could have set a cookie without the prefix.
    expect((await read({ ...overTls, cookie: value.replace('__Host-', '') })).status).toBe(401);
    expect((await read({ host: overTls.host, cookie: value })).status).toBe(401);
  });

  test('requires TLS off loopback, as reported by a trusted proxy', async () => {
    for (const headers of [
      { host: overTls.host },
      { host: overTls.host, 'x-forwarded-proto': 'http' },
      { host: overTls.host, 'x-forwarded-proto': 'https, http' },
    ]) {
      const response = await send(proxied, 'POST', '/sluice/session', headers, { apiKey: API_KEY });
      expect([response.status, messageOf(response)]).toEqual([
        403,
        'Signing in requires TLS: use a TLS proxy that sets X-Forwarded-Proto, and start the service with --trust-proxy',
      ]);
    }
  });

  test('ignores forwarded headers if no proxy is trusted', async () => {
    const { key: bound } = await createSluiceClient({
      baseUrl: plain.url,
      apiKey: API_KEY,
    }).createApiKey({ name: 'bound', cidrs: ['10.0.0.0/8'] });
    const forged = { 'x-forwarded-for': '10.0.0.1', 'x-forwarded-proto': 'https' };
    const response = await send(plain, 'GET', '/streams/evm', { ...forged, 'x-api-key': bound });
    expect([response.status, messageOf(response)]).toEqual([
      403,
      'This API key is not accepted from 127.0.0.1',
    ]);
    expect(await signIn(plain, forged)).toMatch(/^sluice_session=/);
  });

  test('behind a trusted proxy, only the address that it adds counts', async () => {
    const { key: bound } = await createSluiceClient({
      baseUrl: proxied.url.replace('0.0.0.0', '127.0.0.1'),
      apiKey: API_KEY,
    }).createApiKey({ name: 'bound', cidrs: ['10.0.0.0/8'] });
    const from = async (addresses: string): Promise<number> =>
      (
        await send(proxied, 'GET', '/streams/evm', {
          'x-forwarded-for': addresses,
          'x-api-key': bound,
        })
      ).status;
    expect(await from('10.0.0.1')).toBe(200);
    expect(await from('192.0.2.1, 10.0.0.1')).toBe(200);
    expect(await from('10.0.0.1, 192.0.2.1')).toBe(403);
    expect(await from('10.0.0.1, not an address')).toBe(403);
  });

  test('can make changes only from the console', async () => {
    const cookie = await signIn(proxied, { ...overTls, origin: ORIGIN });
    const write = (headers: Record<string, string>): Promise<RawResponse> =>
      send(proxied, 'POST', '/sluice/keys', { ...overTls, cookie, ...headers }, { name: 'page' });
    for (const headers of [{ origin: ORIGIN }, { 'sec-fetch-site': 'same-origin' }]) {
      expect((await write(headers)).status).toBe(200);
    }
    for (const headers of [
      {},
      { origin: 'null' },
      { origin: 'http://sluice.example.com' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
      ...['cross-site', 'same-site', 'none', ''].map((site) => ({ 'sec-fetch-site': site })),
    ] as Record<string, string>[]) {
      expect((await write(headers)).status, JSON.stringify(headers)).toBe(403);
    }
    // Requests with a key need no `Origin`, because browsers do not add keys on their own.
    const { status } = await send(
      proxied,
      'POST',
      '/sluice/keys',
      { ...overTls, ...key },
      { name: 'program' },
    );
    expect(status).toBe(200);
  });

  test('cannot be started or ended by another page', async () => {
    const cookie = await signIn(proxied, overTls);
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      const all = { ...overTls, cookie, ...headers };
      const out = await send(proxied, 'DELETE', '/sluice/session', all);
      expect([out.status, out.headers['set-cookie']]).toEqual([403, undefined]);
      const begun = await send(proxied, 'POST', '/sluice/session', all, { apiKey: API_KEY });
      expect([begun.status, begun.headers['set-cookie']]).toEqual([403, undefined]);
    }
  });

  test('is rejected together with a key, over TLS too', async () => {
    const cookie = await signIn(proxied, overTls);
    for (const both of [key, { authorization: `Bearer ${API_KEY}` }, { 'x-api-key': 'wrong' }]) {
      const response = await send(proxied, 'GET', '/streams/evm', { ...overTls, cookie, ...both });
      expect([response.status, messageOf(response)]).toEqual([
        400,
        'The request has both an API key and a session cookie: send only one',
      ]);
    }
  });
});

describe('a streaming response', () => {
  test('ends with its key or session', { timeout: 30_000 }, async () => {
    const admin = createSluiceClient({ baseUrl: plain.url, apiKey: API_KEY });
    const { id, key: theirs } = await admin.createApiKey({ name: 'reader' });
    const cookie = await signIn(plain, {}, theirs);
    const open = async (headers: Record<string, string>): Promise<ReadableStreamDefaultReader> => {
      const reader = (await fetch(`${plain.url}/sluice/events`, { headers })).body!.getReader();
      expect((await reader.read()).done).toBe(false);
      return reader;
    };
    const leaving = await signIn(plain, {});
    const [byKey, bySession, signedOut, others] = await Promise.all([
      open({ 'x-api-key': theirs }),
      open({ cookie }),
      open({ cookie: leaving }),
      open(key),
    ]);
    const endOf = async (reader: ReadableStreamDefaultReader): Promise<number> => {
      for (;;) if ((await reader.read()).done) return performance.now();
    };
    const ends = Promise.all([endOf(byKey), endOf(bySession), endOf(signedOut)]);
    const revokedAt = performance.now();
    await send(plain, 'DELETE', '/sluice/session', { cookie: leaving });
    await admin.revokeApiKey(id);
    for (const endedAt of await ends) expect(endedAt - revokedAt).toBeLessThan(5_000);

    // The response that was opened with the valid key still receives events.
    const next = others.read();
    await createSluiceClient({ baseUrl: plain.url, apiKey: API_KEY }).setInbox('here', {
      status: 200,
    });
    const { id: streamId } = JSON.parse(
      (
        await send(plain, 'PUT', '/streams/evm', key, {
          webhookUrl: 'sluice://inbox/here',
          description: '',
          tag: 'live',
          chainIds: ['0x1'],
        })
      ).text,
    ) as { id: string };
    const { done, value } = (await next) as { done: boolean; value?: Uint8Array };
    expect(done).toBe(false);
    expect(new TextDecoder().decode(value)).toMatch(/inbox|stream/);
    expect(streamId).toBeDefined();
    await others.cancel();
  });
});

test('every response forbids content sniffing', async () => {
  for (const path of ['/health', '/streams/evm', '/no/such', '/console/', '/openapi.json', '/']) {
    expect((await send(plain, 'GET', path)).headers['x-content-type-options'], path).toBe(
      'nosniff',
    );
  }
});

test('pages of the documentation are served as text, and no other file is', async () => {
  const docsFolder = join(folder, 'documentation');
  mkdirSync(join(docsFolder, 'kit'), { recursive: true });
  writeFileSync(join(docsFolder, 'kit', 'verify.md'), '# Verify <b>');
  writeFileSync(join(docsFolder, 'picture.png'), 'png');
  writeFileSync(join(folder, 'other.md'), 'outside');
  const service = await start('docs', { docsFolder });
  try {
    const page = await send(service, 'GET', '/docs/kit/verify.md');
    expect(page).toMatchObject({ status: 200, text: '# Verify <b>' });
    expect(page.headers['content-type']).toBe('text/plain; charset=utf-8');
    for (const path of ['picture.png', 'kit', '', 'none.md', '../other.md', '..%2fother.md']) {
      expect((await send(service, 'GET', `/docs/${path}`)).status, path).toBe(404);
    }
    expect((await send(plain, 'GET', '/docs/kit/verify.md')).status).toBe(404);
  } finally {
    await service.stop();
  }
});
