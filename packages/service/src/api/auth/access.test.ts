/** Tests access control of a service: keys, scopes, sessions, secrets and the audit log. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, unwrap } from '@sluice/kit';
import {
  type Route,
  SCOPES,
  SLUICE_ROUTES,
  type Scope,
  signStandardWebhook,
} from '@sluice/kit/contract';
import { eachCall } from '@sluice/kit/calls';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import { type Postgres, type WebhookSink, startPostgres, startWebhookSink } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../service.ts';
import type { ServiceConfig } from '../../config/config.ts';

const API_KEY = 'access-test-key-0123456789';
const SECRET = 'access-test-streams-secret';
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const folder = mkdtempSync(join(tmpdir(), 'sluice-access-'));
const said: string[] = [];
const log = {
  info: (event: string, fields?: object) => void said.push(event + JSON.stringify(fields)),
  warn: (event: string, fields?: object) => void said.push(event + JSON.stringify(fields)),
  error: (event: string, fields?: object) => void said.push(event + JSON.stringify(fields)),
};
const start = (config: Partial<ServiceConfig>): Promise<Service> =>
  startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: join(folder, 'data'),
      apiKey: API_KEY,
      secret: SECRET,
      chains: [],
      aptos: [],
      allowPrivateEndpoints: true,
      allowNodeChanges: true,
      ...config,
    },
    log,
  );
const sluiceOf = (service: Service, apiKey: string): SluiceClient =>
  createSluiceClient({ baseUrl: service.url, apiKey, maxRetries: 0 });

let sink: WebhookSink;
let service: Service;
let admin: SluiceClient;
beforeAll(async () => {
  sink = await startWebhookSink();
  service = await start({});
  admin = sluiceOf(service, API_KEY);
});
afterAll(async () => {
  await service.stop();
  await sink.close();
  rmSync(folder, { recursive: true });
});

const createStream = (to: Service, apiKey = API_KEY): Promise<{ id: string }> =>
  createClient({ baseUrl: to.url, apiKey }).streams.create({
    webhookUrl: `${sink.url}/hook`,
    description: '',
    tag: 'access',
    chainIds: ['0x1'],
  });

const call = (
  { method, path }: Route,
  headers: Record<string, string>,
  body?: object,
): Promise<Response> =>
  fetch(service.url + path.replaceAll(/\{\w+\}/g, UNKNOWN_ID), {
    method,
    headers,
    ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
  });

const everyRoute = eachCall.map(([, call]) => call);

describe('scopes', () => {
  test('a key with one scope can only make the calls that require it', async () => {
    const keys = new Map<Scope, string>();
    for (const scope of SCOPES) {
      keys.set(scope, (await admin.createApiKey({ name: scope, scopes: [scope] })).key);
    }
    let refused = 0;
    for (const route of everyRoute) {
      if (route.scope === 'open') continue;
      for (const [scope, key] of keys) {
        const response = await call(route, { 'x-api-key': key });
        const place = `${route.method} ${route.path} with ${scope}`;
        if (route.scope === 'any' || route.scope === scope) {
          expect([401, 403], place).not.toContain(response.status);
          await response.body?.cancel();
        } else {
          refused++;
          expect(response.status, place).toBe(403);
          const { message } = (await response.json()) as { message: string };
          expect(message).toBe(`This API key lacks the scope ${route.scope}`);
        }
      }
    }
    expect(refused).toBeGreaterThan(100);
  });

  test('caches may not store the response of any route', async () => {
    for (const route of everyRoute) {
      const response = await call(route, { 'x-api-key': API_KEY });
      expect(response.headers.get('cache-control'), `${route.method} ${route.path}`).toContain(
        'no-store',
      );
      await response.body?.cancel();
    }
  });

  test('only signing in and out, and the public keys, require none', () => {
    expect(eachCall.filter(([, { scope }]) => scope === 'open').map(([name]) => name)).toEqual([
      'createSession',
      'deleteSession',
      'listPublicKeys',
    ]);
  });
});

describe('keys', () => {
  test('are returned once, stored as a hash, listed, used and revoked', async () => {
    const created = await admin.createApiKey({ name: 'deploy', scopes: ['streams:read'] });
    expect(created.key).toMatch(new RegExp(`^sluice_${created.id}_[0-9A-Za-z]{43}$`));
    const theirs = sluiceOf(service, created.key);
    expect(await theirs.listStreamSummaries()).toEqual([]);

    const { key: _key, ...listed } = created;
    const found = (await admin.listApiKeys()).find(({ id }) => id === created.id);
    expect(found).toEqual({ ...listed, lastUsedAt: found!.lastUsedAt });
    for (const name of readdirSync(join(folder, 'data'))) {
      if (!name.startsWith('sluice.db')) continue;
      const bytes = readFileSync(join(folder, 'data', name), 'latin1');
      expect(bytes).not.toContain(created.key.split('_')[2]);
      expect(bytes).not.toContain(API_KEY);
    }

    expect((await admin.revokeApiKey(created.id)).revokedAt).not.toBeNull();
    await expect(theirs.listStreamSummaries()).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(admin.revokeApiKey('unknown')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('cannot create keys with more permissions than their own', async () => {
    const expiresAt = Date.now() + 3_600_000;
    const bounds = {
      scopes: ['settings:admin', 'streams:read'] as Scope[],
      cidrs: ['127.0.0.0/8', '10.0.0.0/8'],
      expiresAt,
    };
    const bound = sluiceOf(service, (await admin.createApiKey({ name: 'bound', ...bounds })).key);
    for (const wider of [
      { scopes: ['streams:read', 'replay'] as Scope[] },
      { cidrs: [] },
      { cidrs: ['0.0.0.0/0'] },
      { cidrs: ['127.0.0.1/32', '192.168.0.0/16'] },
      { cidrs: ['8.0.0.0/6'] },
      { expiresAt: expiresAt + 1 },
    ]) {
      await expect(
        bound.createApiKey({ name: 'wider', ...wider }),
        JSON.stringify(wider),
      ).rejects.toMatchObject({
        code: 'forbidden',
        details: { [`requestBody.${Object.keys(wider)[0]}`]: {} },
      });
    }
    expect(await bound.createApiKey({ name: 'the same' })).toMatchObject(bounds);
    const fewer = {
      scopes: ['streams:read'] as Scope[],
      cidrs: ['127.0.0.1/32'],
      expiresAt: expiresAt - 1,
    };
    const narrow = await bound.createApiKey({ name: 'fewer', ...fewer });
    expect(narrow).toMatchObject(fewer);
    // A session has the limits of its key.
    const signedIn = await call(
      SLUICE_ROUTES.createSession,
      {},
      {
        apiKey: (await bound.createApiKey({ name: 'session' })).key,
      },
    );
    const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
    const response = await call(
      SLUICE_ROUTES.createApiKey,
      { cookie, 'sec-fetch-site': 'same-origin' },
      { name: 'wider', cidrs: [] },
    );
    expect(response.status).toBe(403);
    expect((await admin.listApiKeys()).filter(({ name }) => name === 'wider')).toEqual([]);
  });

  test('two are valid at once, so that one can replace the other', async () => {
    const [old, fresh] = [
      await admin.createApiKey({ name: 'old' }),
      await admin.createApiKey({ name: 'new' }),
    ];
    for (const { key } of [old, fresh]) {
      expect(await sluiceOf(service, key).checkSession()).toBe(true);
    }
    await admin.revokeApiKey(old.id);
    expect(await sluiceOf(service, old.key).checkSession()).toBe(false);
    expect(await sluiceOf(service, fresh.key).checkSession()).toBe(true);
  });

  test('expire', async () => {
    const { key } = await admin.createApiKey({ name: 'brief', expiresAt: Date.now() + 1_500 });
    const theirs = sluiceOf(service, key);
    expect(await theirs.checkSession()).toBe(true);
    await expect.poll(() => theirs.checkSession(), { timeout: 10_000 }).toBe(false);
    await expect(admin.createApiKey({ name: 'late', expiresAt: 5 })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });

  test('can be limited to networks', async () => {
    const here = await admin.createApiKey({ name: 'here', cidrs: ['127.0.0.0/8', '::1/128'] });
    const there = await admin.createApiKey({ name: 'there', cidrs: ['10.0.0.0/8'] });
    expect(await sluiceOf(service, here.key).checkSession()).toBe(true);
    await expect(sluiceOf(service, there.key).checkSession()).rejects.toMatchObject({
      code: 'forbidden',
      message: 'This API key is not accepted from 127.0.0.1',
    });
    for (const cidrs of [['10.0.0.0'], ['a/8'], ['10.0.0.0/33']]) {
      await expect(admin.createApiKey({ name: 'x', cidrs })).rejects.toMatchObject({
        details: { 'requestBody.cidrs.0': { value: cidrs[0] } },
      });
    }
  });

  test('similar invalid keys are rejected with the same message', async () => {
    const { key } = await admin.createApiKey({ name: 'near' });
    const changed = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
    for (const wrong of [changed, key.toUpperCase(), `${key}x`, key.replace('sluice', 'other')]) {
      const response = await call(SLUICE_ROUTES.checkSession, { 'x-api-key': wrong });
      const { message } = (await response.json()) as { message: string };
      expect([response.status, message]).toEqual([
        401,
        'Invalid API key: it does not match a valid key of this service',
      ]);
    }
  });
});

describe('sessions', () => {
  const signIn = async (apiKey: string): Promise<string> => {
    const response = await call(SLUICE_ROUTES.createSession, {}, { apiKey });
    expect(response.status).toBe(204);
    return response.headers.get('set-cookie')!.split(';')[0]!;
  };

  test('are new for each sign-in, and end when their key is revoked', async () => {
    const { id, key } = await admin.createApiKey({ name: 'person', scopes: ['streams:read'] });
    const cookie = await signIn(key);
    expect(await signIn(key)).not.toBe(cookie);
    expect((await call(SLUICE_ROUTES.listChains, { cookie })).status).toBe(200);
    expect((await call(SLUICE_ROUTES.listApiKeys, { cookie })).status).toBe(403);
    await admin.revokeApiKey(id);
    expect((await call(SLUICE_ROUTES.listChains, { cookie })).status).toBe(401);
  });

  test('end when their key expires', async () => {
    const { key } = await admin.createApiKey({ name: 'brief', expiresAt: Date.now() + 1_500 });
    const cookie = await signIn(key);
    const read = async () => (await call(SLUICE_ROUTES.listChains, { cookie })).status;
    expect(await read()).toBe(200);
    await expect.poll(read, { timeout: 10_000 }).toBe(401);
  });

  test('end permanently at sign-out, for every copy of the cookie', async () => {
    const [mine, other] = [await signIn(API_KEY), await signIn(API_KEY)];
    const read = async (cookie: string) =>
      (await call(SLUICE_ROUTES.listChains, { cookie })).status;
    expect([await read(mine), await read(other)]).toEqual([200, 200]);
    const out = await call(SLUICE_ROUTES.deleteSession, { cookie: mine });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([
      204,
      expect.stringMatching(/^sluice_session=; Max-Age=0/),
    ]);
    expect([await read(mine), await read(other)]).toEqual([401, 200]);
    // Signing out again, or without a session, is not an error.
    for (const headers of [{ cookie: mine }, {}]) {
      expect((await call(SLUICE_ROUTES.deleteSession, headers)).status).toBe(204);
    }
  });

  test('end when another one replaces them', async () => {
    const before = await signIn(API_KEY);
    const response = await call(
      SLUICE_ROUTES.createSession,
      { cookie: before },
      { apiKey: API_KEY },
    );
    const after = response.headers.get('set-cookie')!.split(';')[0]!;
    expect((await call(SLUICE_ROUTES.listChains, { cookie: before })).status).toBe(401);
    expect((await call(SLUICE_ROUTES.listChains, { cookie: after })).status).toBe(200);
  });

  test('survive a restart with the same --api-key unless ended, but not with another key', async () => {
    const dataFolder = join(folder, 'restarted');
    const signInTo = async ({ url }: Service, apiKey: string): Promise<string> => {
      const body = JSON.stringify({ apiKey });
      const response = await fetch(`${url}/sluice/session`, { method: 'POST', body });
      return response.headers.get('set-cookie')!.split(';')[0]!;
    };
    const statusOf = async ({ url }: Service, cookie: string): Promise<number> =>
      (await fetch(`${url}/sluice/chains`, { headers: { cookie } })).status;
    let restarted = await start({ data: dataFolder });
    const [kept, ended] = [await signInTo(restarted, API_KEY), await signInTo(restarted, API_KEY)];
    await fetch(`${restarted.url}/sluice/session`, {
      method: 'DELETE',
      headers: { cookie: ended },
    });
    await restarted.stop();
    restarted = await start({ data: dataFolder });
    expect([await statusOf(restarted, kept), await statusOf(restarted, ended)]).toEqual([200, 401]);
    await restarted.stop();
    restarted = await start({ data: dataFolder, apiKey: `${API_KEY}-another` });
    expect(await statusOf(restarted, kept)).toBe(401);
    await restarted.stop();
  });

  test('have a name, which the audit log shows for each of their calls', async () => {
    const body = { apiKey: API_KEY, sessionName: ' Zoë 🦫. ' };
    const response = await call(SLUICE_ROUTES.createSession, {}, body);
    const cookie = response.headers.get('set-cookie')!.split(';')[0]!;
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const { status } = await call(SLUICE_ROUTES.createApiKey, headers, { name: 'by Zoë' });
    expect(status).toBe(200);
    await admin.createApiKey({ name: 'by a program' });
    const { result } = await admin.listAudit({ limit: 3 });
    expect(result.map(({ action, keyId, sessionName }) => [action, keyId, sessionName])).toEqual([
      ['createApiKey', 'bootstrap', ''],
      ['createApiKey', 'bootstrap', 'Zoë 🦫.'],
      ['createSession', 'bootstrap', 'Zoë 🦫.'],
    ]);
    const [place, name, signature] = /^(.+)\.(.+)\.(.+)$/.exec(cookie)!.slice(1);
    const other = Buffer.from('Eve').toString('base64url');
    for (const forged of [`${place}.${other}.${signature}`, `${place}..${signature}`, `${place}`]) {
      expect((await call(SLUICE_ROUTES.listChains, { cookie: forged })).status, name).toBe(401);
    }
  });

  test.each([
    ['is long', 'x'.repeat(61), /at most 60 characters/],
    ['has two lines', 'a\nb', /one line of visible characters/],
    ['runs from right to left', '\u202egnp', /one line of visible characters/],
    ['has a NUL', '\0', /NUL/],
    ['is a number', 7, /string/],
    ['has a megabyte', 'x'.repeat(1_000_000), /exceeds 4 KiB/],
  ])('reject a name that %s', async (_, sessionName, message) => {
    const response = await call(SLUICE_ROUTES.createSession, {}, { apiKey: API_KEY, sessionName });
    expect([413, 422]).toContain(response.status);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await response.text()).toMatch(message);
  });

  test('cannot be forged or extended', async () => {
    const cookie = await signIn(API_KEY);
    const [name, value = ''] = cookie.split('=');
    const [keyId, expires, id, session, signature = ''] = value.split('.');
    const forge = (...fields: unknown[]): string => fields.join('.');
    expect((await call(SLUICE_ROUTES.listChains, { cookie })).status).toBe(200);
    for (const forged of [
      forge(keyId, Number(expires) + 1, id, session, signature),
      forge(keyId, expires, `${id}x`, session, signature),
      forge(keyId, expires, id, `${session}x`, signature),
      forge(keyId, expires, id, session, signature.slice(0, -2)),
      forge(keyId, expires, id, session, ''),
      forge('other', expires, id, session, signature),
      forge(keyId, 'Infinity', id, session, signature),
      '',
      '%E0%A4%A',
    ]) {
      const response = await call(SLUICE_ROUTES.listChains, { cookie: `${name}=${forged}` });
      expect([forged, response.status]).toEqual([forged, 401]);
    }
  });

  test('are rejected in a request that also has a key', async () => {
    const cookie = await signIn(API_KEY);
    const response = await call(SLUICE_ROUTES.listChains, { cookie, 'x-api-key': API_KEY });
    expect(response.status).toBe(400);
  });
});

describe('the secret of a stream', () => {
  test('signs its webhooks in addition to the streams secret, and is rotated without a gap', async () => {
    const { id } = await createStream(service);
    const first = await admin.getStreamSecret(id);
    expect(first).toMatchObject({ streamId: id, previous: [] });
    expect(first.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const other = await createStream(service);
    expect((await admin.getStreamSecret(other.id)).secret).not.toBe(first.secret);

    const client = createClient({ baseUrl: service.url, apiKey: API_KEY });
    /** Updates the stream's URL, and returns the `secrets` that signed the test webhook. */
    const signers = async (secrets: string[]): Promise<string[]> => {
      const path = `/${crypto.randomUUID()}`;
      await client.streams.update(id, { webhookUrl: sink.url + path });
      const { body, headers } = await sink.waitFor((request) => request.path === path);
      const texts = { ...headers } as Record<string, string>;
      expect(unwrap({ body, headers: texts, secrets }).isTest).toBe(true);
      const [webhookId, timestamp] = [texts['webhook-id']!, Number(texts['webhook-timestamp'])];
      const given = texts['webhook-signature']!.split(' ');
      const known = secrets.filter((secret) =>
        given.includes(signStandardWebhook({ id: webhookId, timestamp, body, secret })),
      );
      // The tests that call every route have also created key pairs, which sign as `v1a`.
      const hmacs = given.filter((each) => each.startsWith('v1,'));
      expect(hmacs).toHaveLength(known.length);
      return known;
    };
    expect(await signers([first.secret, SECRET])).toEqual([first.secret, SECRET]);

    const second = await admin.rotateStreamSecret(id, { overlapSeconds: 2 });
    expect(second.secret).not.toBe(first.secret);
    expect(second.previous).toMatchObject([{ secret: first.secret }]);
    const all = [second.secret, first.secret, SECRET];
    expect(await signers(all)).toEqual(all);
    await expect
      .poll(() => signers(all), { timeout: 10_000, interval: 200 })
      .toEqual([second.secret, SECRET]);
    expect((await admin.getStreamSecret(id)).previous).toEqual([]);

    const third = await admin.rotateStreamSecret(id);
    const last = await admin.rotateStreamSecret(id, { overlapSeconds: 0 });
    expect(third.previous).toHaveLength(1);
    expect(last.previous).toEqual([]);
    await expect(admin.getStreamSecret(UNKNOWN_ID)).rejects.toMatchObject({ code: 'not_found' });
    await expect(admin.rotateStreamSecret(id, { overlapSeconds: 1e9 })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });

  test('stops signing before the end of the overlap on request', async () => {
    const { id } = await createStream(service);
    const before = await admin.getStreamSecret(id);
    const { key: readKey } = await admin.createApiKey({ name: 'r', scopes: ['streams:read'] });
    const reader = sluiceOf(service, readKey);
    expect((await reader.getStreamSecretTimes(id)).previous).toEqual([]);
    await admin.rotateStreamSecret(id, { overlapSeconds: 3600 });
    const current = await admin.rotateStreamSecret(id, { overlapSeconds: 3600 });
    const times = await reader.getStreamSecretTimes(id);
    expect(times.previous).toHaveLength(2);
    expect(times.previous[1]).toEqual({
      createdAt: before.createdAt,
      endsAt: current.previous[1]!.endsAt,
    });
    expect(JSON.stringify(times)).not.toContain('whsec_');
    await expect(reader.endStreamSecretOverlap(id)).rejects.toMatchObject({ code: 'forbidden' });

    const ended = { streamId: id, createdAt: current.createdAt, previous: [] };
    expect(await admin.endStreamSecretOverlap(id)).toEqual(ended);
    expect(await admin.getStreamSecret(id)).toEqual({ ...ended, secret: current.secret });
    // Ending the overlap again changes nothing.
    expect(await admin.endStreamSecretOverlap(id)).toEqual(ended);
    expect((await admin.listStreamChanges(id)).map(({ kind }) => kind)).toEqual([
      'secret-overlap-ended',
      'secret-rotated',
      'secret-rotated',
    ]);
    const { result } = await admin.listAudit({ limit: 1 });
    expect(result).toMatchObject([{ action: 'endStreamSecretOverlap', target: id }]);
    await expect(admin.endStreamSecretOverlap(UNKNOWN_ID)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('is never stored in plain text, and survives a change of the master key', async () => {
    const dataFolder = join(folder, 'sealed');
    const masterKeyFile = join(folder, 'master-keys');
    const [older, newer] = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string];
    writeFileSync(masterKeyFile, older);
    const withKeys = (): Promise<Service> =>
      start({ data: dataFolder, masterKeyFile, secret: undefined });

    let sealed = await withKeys();
    const streamsSecret = sealed.secret;
    const { id } = await createStream(sealed);
    const { secret } = await sluiceOf(sealed, API_KEY).getStreamSecret(id);
    const token = 'token-that-the-receiver-asks-for';
    const headersOf = async (): Promise<unknown> => {
      const response = await fetch(`${sealed.url}/streams/evm/${id}`, {
        headers: { 'x-api-key': API_KEY },
      });
      return ((await response.json()) as { headers: unknown }).headers;
    };
    /**
     * Updates the stream's URL and any other fields in `change`, and returns the `x-token` header
     * of the test webhook.
     */
    const sentHeaders = async (change: object): Promise<unknown> => {
      const path = `/${crypto.randomUUID()}`;
      const response = await fetch(`${sealed.url}/streams/evm/${id}`, {
        method: 'POST',
        headers: { 'x-api-key': API_KEY },
        body: JSON.stringify({ webhookUrl: sink.url + path, ...change }),
      });
      expect(response.status).toBe(200);
      return (await sink.waitFor((request) => request.path === path)).headers['x-token'];
    };
    const clientSecret = 'client-secret-of-the-receiver';
    sink.respond({ body: '{"access_token":"a","token_type":"Bearer"}' }, { path: '/token' });
    const login = (): string =>
      atob(
        String(
          sink.requests.findLast(({ path }) => path === '/token')?.headers['authorization'],
        ).slice('Basic '.length),
      );
    const oauth2 = { tokenUrl: `${sink.url}/token`, clientId: 'sluice', clientSecret };
    expect(await sentHeaders({ headers: { 'x-token': token }, oauth2 })).toBe(token);
    expect(login()).toBe(`sluice:${clientSecret}`);
    await sealed.stop();
    const files = readdirSync(dataFolder);
    expect(files).not.toContain('master-key');
    for (const name of files) {
      const bytes = readFileSync(join(dataFolder, name), 'latin1');
      for (const text of [
        secret,
        secret.slice('whsec_'.length),
        streamsSecret,
        token,
        clientSecret,
      ]) {
        expect(bytes).not.toContain(text);
      }
    }

    writeFileSync(masterKeyFile, newer);
    await expect(withKeys()).rejects.toThrow(/^The secrets of this ledger are encrypted/);
    writeFileSync(masterKeyFile, `${newer}\n${older}\n`);
    sealed = await withKeys();
    expect(said.join('\n')).toMatch(/re-encrypted secrets with the new master key\{"count":3\}/);
    await sealed.stop();
    writeFileSync(masterKeyFile, newer);
    sealed = await withKeys();
    expect(sealed.secret).toBe(streamsSecret);
    expect((await sluiceOf(sealed, API_KEY).getStreamSecret(id)).secret).toBe(secret);
    expect(await headersOf()).toEqual({ 'x-token': token });
    sink.clear();
    expect(await sentHeaders({})).toBe(token);
    expect(login()).toBe(`sluice:${clientSecret}`);
    await sealed.stop();
    expect(said.join('\n')).not.toContain(secret);
  });
});

describe('a service that hides its secrets', () => {
  test('returns only new ones, and can replace all', async () => {
    const hiding = await start({
      data: join(folder, 'hiding'),
      hideSecrets: true,
      secret: undefined,
    });
    try {
      const sluice = sluiceOf(hiding, API_KEY);
      const { settings } = createClient({ baseUrl: hiding.url, apiKey: API_KEY });
      const { id } = await createStream(hiding);
      await expect(sluice.getStreamSecret(id)).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining('--hide-secrets') as string,
      });
      const first = await sluice.rotateStreamSecret(id);
      const second = await sluice.rotateStreamSecret(id);
      expect(second.secret).toMatch(/^whsec_/);
      expect([first.previous, second.previous]).toEqual([[], []]);
      expect(await settings.read()).toEqual({ region: 'us-east-1' });
      const secretKey = 'another-streams-secret';
      expect(await settings.set({ secretKey })).toEqual({ region: 'us-east-1' });
      expect(hiding.secret).toBe(secretKey);
    } finally {
      await hiding.stop();
    }
  });
});

describe('a service without a key', () => {
  test('creates the first one once, and does not start if all have expired or were revoked', async () => {
    const dataFolder = join(folder, 'first');
    let first = await start({ data: dataFolder, apiKey: undefined });
    const key = first.newApiKey!;
    expect(key).toMatch(/^sluice_[0-9A-Za-z]{13}_[0-9A-Za-z]{43}$/);
    const [listed] = await sluiceOf(first, key).listApiKeys();
    expect(listed).toMatchObject({ name: 'first key', scopes: [...SCOPES] });
    await first.stop();

    first = await start({ data: dataFolder, apiKey: undefined });
    expect(first.newApiKey).toBeUndefined();
    await sluiceOf(first, key).revokeApiKey(listed!.id);
    await first.stop();
    await expect(start({ data: dataFolder, apiKey: undefined })).rejects.toThrow(
      /^--api-key: every key in the ledger has expired or was revoked/,
    );
  });
});

describe('the audit log', () => {
  test('records who changed keys, read secrets, deleted streams and signed in', async () => {
    const key = await admin.createApiKey({ name: 'audited' });
    const { id } = await createStream(service, key.key);
    const theirs = sluiceOf(service, key.key);
    await theirs.getStreamSecret(id);
    await theirs.rotateStreamSecret(id);
    const client = createClient({ baseUrl: service.url, apiKey: key.key });
    await client.settings.read();
    await client.streams.delete(id);
    await theirs.createSession(key.key);
    await admin.revokeApiKey(key.id);
    await expect(theirs.getStreamSecret(id)).rejects.toMatchObject({ code: 'unauthorized' });

    const { result } = await admin.listAudit({ limit: 7 });
    expect(
      result
        .toReversed()
        .map(({ action, keyId, target, address }) => [...[action, keyId, target, address]]),
    ).toEqual([
      ['createApiKey', 'bootstrap', key.id, '127.0.0.1'],
      ['getStreamSecret', key.id, id, '127.0.0.1'],
      ['rotateStreamSecret', key.id, id, '127.0.0.1'],
      ['readSettings', key.id, '', '127.0.0.1'],
      ['deleteEvmStream', key.id, id, '127.0.0.1'],
      ['createSession', key.id, '', '127.0.0.1'],
      ['revokeApiKey', 'bootstrap', key.id, '127.0.0.1'],
    ]);
  });

  test('records who created a replay', async () => {
    const { id } = await createStream(service);
    const replay = await admin.createReplay({ name: 'again', filter: { streamId: [id] } });
    expect(replay.createdBy).toBe('bootstrap');
    const { result } = await admin.listAudit({ limit: 1 });
    expect(result).toMatchObject([
      { action: 'createReplay', keyId: 'bootstrap', target: replay.id },
    ]);
    const { key } = await admin.createApiKey({ name: 'on call', scopes: ['replay'] });
    const filter = { streamId: id };
    expect(await sluiceOf(service, key).createReplay({ name: 'once more', filter })).toMatchObject({
      createdBy: 'on call',
    });
  });
});

describe('two processes on one ledger', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  test('only the role api needs a key; other roles serve only probes and metrics', async () => {
    const config = { databaseUrl: postgres.url, data: join(folder, 'shared') };
    const reader = await start({ ...config, roles: ['ingest'], apiKey: undefined });
    const api = await start({ ...config, roles: ['api'], apiKey: undefined });
    let sender: Service | undefined;
    try {
      expect(reader.newApiKey).toBeUndefined();
      const headers = { 'x-api-key': api.newApiKey! };
      const read = async (path: string) => (await fetch(reader.url + path, { headers })).status;
      expect(await Promise.all(['/health', '/ready', '/metrics'].map(read))).toEqual([
        ...[200, 200, 200],
      ]);
      const others = ['/', '/console/', '/openapi.json', '/streams/evm?limit=1', '/sluice/keys'];
      expect(new Set(await Promise.all(others.map(read)))).toEqual(new Set([404]));
      expect((await fetch(`${reader.url}/metrics`)).status).toBe(401);

      const [first] = await sluiceOf(api, api.newApiKey!).listApiKeys();
      await sluiceOf(api, api.newApiKey!).revokeApiKey(first!.id);
      sender = await start({ ...config, roles: ['deliver'], apiKey: undefined });
      expect(sender.newApiKey).toBeUndefined();
    } finally {
      await Promise.all([reader.stop(), api.stop(), sender?.stop()]);
    }
  });

  test('a key or session that one ends is rejected by the other within 5 s', async () => {
    const config = { databaseUrl: postgres.url, data: join(folder, 'shared') };
    const [here, there] = [await start(config), await start(config)];
    try {
      const { id, key } = await sluiceOf(here, API_KEY).createApiKey({ name: 'shared' });
      const theirs = sluiceOf(there, key);
      await expect.poll(() => theirs.checkSession(), { timeout: 5_000 }).toBe(true);
      const { response } = await theirs.createSession(key).withResponse();
      const cookie = response.headers.get('set-cookie')!.split(';')[0]!;
      const asSession = async (): Promise<number> =>
        (await fetch(`${here.url}/sluice/chains`, { headers: { cookie } })).status;
      expect(await asSession()).toBe(200);

      const second = await theirs.createSession(key).withResponse();
      const left = second.response.headers.get('set-cookie')!.split(';')[0]!;
      const asLeft = async ({ url }: Service): Promise<number> =>
        (await fetch(`${url}/sluice/chains`, { headers: { cookie: left } })).status;
      expect([await asLeft(here), await asLeft(there)]).toEqual([200, 200]);
      const leftAt = performance.now();
      await fetch(`${there.url}/sluice/session`, { method: 'DELETE', headers: { cookie: left } });
      expect(await asLeft(there)).toBe(401);
      await expect.poll(() => asLeft(here), { timeout: 10_000, interval: 50 }).toBe(401);
      expect(performance.now() - leftAt).toBeLessThan(5_000);
      expect(await asSession()).toBe(200);

      const revokedAt = performance.now();
      await sluiceOf(here, API_KEY).revokeApiKey(id);
      expect(await asSession()).toBe(401);
      await expect.poll(() => theirs.checkSession(), { timeout: 10_000, interval: 50 }).toBe(false);
      expect(performance.now() - revokedAt).toBeLessThan(5_000);
    } finally {
      await Promise.all([here.stop(), there.stop()]);
    }
  });
});
