/** Tests the rate limits of a service, and its responses to calls that exceed them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, isSluiceError } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../base/log.ts';
import { type Service, startService } from '../../service.ts';

const API_KEY = 'limits-test-key-0123456789';
const folder = mkdtempSync(join(tmpdir(), 'sluice-limits-'));
afterAll(() => rmSync(folder, { recursive: true }));

const start = (name: string, rateLimit: number): Promise<Service> =>
  startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: join(folder, name),
      apiKey: API_KEY,
      chains: [],
      aptos: [],
      allowPrivateEndpoints: true,
      // Lets the tests choose the address of a caller, in `x-forwarded-for`.
      trustProxy: ['127.0.0.0/8'],
      rateLimit,
    },
    createLog(() => {}),
  );

let service: Service;
beforeAll(async () => {
  // Allows bursts of 20 calls with a key, and of 4 calls without one.
  service = await start('strict', 2);
});
afterAll(() => service.stop());

const get = (path: string, headers: Record<string, string>): Promise<Response> =>
  fetch(service.url + path, { headers });

/** Makes `count` calls in sequence and returns their statuses. */
async function statuses(count: number, call: () => Promise<Response>): Promise<number[]> {
  const all: number[] = [];
  for (let n = 0; n < count; n++) {
    const response = await call();
    await response.body?.cancel();
    all.push(response.status);
  }
  return all;
}

/** Calls until it gets a 429, and returns that response. */
async function untilRefused(call: () => Promise<Response>): Promise<Response> {
  for (let n = 0; n < 200; n++) {
    const response = await call();
    if (response.status === 429) return response;
    await response.body?.cancel();
  }
  throw new Error('never refused');
}

const keyOf = async (name: string): Promise<{ id: string; key: string }> =>
  createSluiceClient({ baseUrl: service.url, apiKey: API_KEY }).createApiKey({ name });

describe('calls', () => {
  test('are counted by key, regardless of their address', async () => {
    const [one, other] = [await keyOf('one'), await keyOf('other')];
    let from = 0;
    const call = (key: string) => (): Promise<Response> =>
      get('/streams/evm', { 'x-api-key': key, 'x-forwarded-for': `10.1.0.${from++}` });
    expect(await statuses(19, call(one.key))).toEqual(Array(19).fill(200));

    const last = await call(one.key)();
    expect(last.headers.get('ratelimit-policy')).toBe('"key";q=20;w=10');
    expect(last.headers.get('ratelimit')).toMatch(/^"key";r=\d;t=(9|10)$/);
    const response = await untilRefused(call(one.key));
    expect(await statuses(3, call(other.key))).toEqual([200, 200, 200]);
    const waitSeconds = Number(response.headers.get('retry-after'));
    expect(waitSeconds).toBeGreaterThanOrEqual(1);
    expect(await response.json()).toEqual({
      message: `Too many calls with this API key: try again in ${waitSeconds} s`,
      requestId: response.headers.get('x-request-id'),
    });

    // The kit waits for the requested time, and then the call succeeds.
    const patient = createClient({ baseUrl: service.url, apiKey: one.key });
    expect((await patient.streams.list()).result).toEqual([]);
    const impatient = createClient({ baseUrl: service.url, apiKey: one.key, maxRetries: 0 });
    await expect(
      (async () => {
        for (;;) await impatient.streams.list();
      })(),
    ).rejects.toSatisfy(
      (error) => isSluiceError(error, 'rate_limited') && Number(error.retryAfterMs) >= 1_000,
    );
  });

  test('without a key are counted by address, or by network for IPv6', async () => {
    const headers = { 'x-forwarded-for': '10.2.0.1' };
    const first = await get('/openapi.json', headers);
    expect(first.headers.get('ratelimit-policy')).toBe('"address";q=4;w=10');
    await first.body?.cancel();
    expect(await statuses(4, () => get('/streams/evm', headers))).toEqual([401, 401, 401, 429]);
    for (const path of ['/console/', '/no/such/path', '/openapi.json']) {
      expect(await statuses(1, () => get(path, headers))).toEqual([429]);
    }
    expect(await statuses(1, () => get('/streams/evm', { 'x-forwarded-for': '10.2.0.2' }))).toEqual(
      [401],
    );
    // Probes are not limited, and neither are calls with a key from the same address.
    expect(await statuses(20, () => get('/health', headers))).toEqual(Array(20).fill(200));
    const { key } = await keyOf('beside');
    expect((await get('/streams/evm', { ...headers, 'x-api-key': key })).status).toBe(200);

    let host = 0;
    const inOneNetwork = (): Promise<Response> =>
      get('/', { 'x-forwarded-for': `2001:db8:1:2::${(host++).toString(16)}` });
    expect((await statuses(6, inOneNetwork)).slice(0, 5)).toEqual([200, 200, 200, 200, 429]);
  });
});

describe('invalid keys', () => {
  let roomy: Service;
  beforeAll(async () => {
    roomy = await start('roomy', 500);
  });
  afterAll(() => roomy.stop());
  const withKey = (key: string, from: string): Promise<Response> =>
    fetch(`${roomy.url}/streams/evm`, { headers: { 'x-api-key': key, 'x-forwarded-for': from } });

  test('are limited, reported once, and do not affect other callers', async () => {
    const admin = createSluiceClient({ baseUrl: roomy.url, apiKey: API_KEY });
    const { key } = await admin.createApiKey({ name: 'of somebody there' });
    const before = Date.now();
    let n = 0;
    const tried = await statuses(80, () => withKey(`wrong-key-of-16-${n++}`, '10.3.0.1'));
    expect(tried.slice(0, 50)).toEqual(Array(50).fill(401));
    const allowedSince = Math.ceil((Date.now() - before) / 1000);
    const later = tried.slice(50);
    expect(later.filter((status) => status === 401).length).toBeLessThanOrEqual(allowedSince);
    expect(later.filter((status) => status === 429).length).toBeGreaterThan(0);

    // After too many invalid keys, even the operator's key is rejected from that address, so that
    // the key cannot be guessed.
    let place = 0;
    await expect
      .poll(
        async () => {
          const from = `10.3.1.${place++}`;
          await (
            await untilRefused(() => withKey('wrong-key-of-16-characters', from))
          ).body?.cancel();
          return (await withKey(API_KEY, from)).status;
        },
        // Repeats the round, because a round that takes more than a second allows another attempt.
        { timeout: 10_000 },
      )
      .toBe(429);
    // Random keys cannot be guessed, so they are still accepted from that address.
    expect((await withKey(key, '10.3.0.1')).status).toBe(200);
    expect((await withKey(API_KEY, '10.3.0.2')).status).toBe(200);
    const signIn = (): Promise<Response> =>
      fetch(`${roomy.url}/sluice/session`, {
        method: 'POST',
        headers: { 'x-forwarded-for': '10.3.2.1' },
        body: JSON.stringify({ apiKey: 'wrong-key-of-16-characters' }),
      });
    expect(await (await untilRefused(signIn)).json()).toMatchObject({
      message: expect.stringMatching(/^Too many invalid API keys: try again in \d+ s$/) as string,
    });

    await expect
      .poll(async () =>
        (await admin.listAudit({ limit: 20 })).result.filter(
          ({ action }) => action === 'authFailures',
        ),
      )
      .toContainEqual(expect.objectContaining({ keyId: '', address: '10.3.0.1', target: '' }));
    const bursts = (await admin.listAudit({ limit: 20 })).result.filter(
      ({ action, address }) => action === 'authFailures' && address === '10.3.0.1',
    );
    expect(bursts).toHaveLength(1);
  });

  test('do not lock out the valid key where it is in use', async () => {
    const from = '10.4.0.1';
    expect((await withKey(API_KEY, from)).status).toBe(200);
    await statuses(60, () => withKey('wrong-key-of-16-characters', from));
    expect((await withKey(API_KEY, from)).status).toBe(200);
  });
});

test('0 disables the limits', async () => {
  const free = await start('free', 0);
  try {
    const call = (): Promise<Response> =>
      fetch(`${free.url}/streams/evm`, { headers: { 'x-api-key': 'wrong-key-of-16-characters' } });
    expect(new Set(await statuses(120, call))).toEqual(new Set([401]));
    expect((await call()).headers.get('ratelimit')).toBeNull();
  } finally {
    await free.stop();
  }
});
