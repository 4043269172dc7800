/** Tests the key pairs that sign webhooks, on a real service. */
import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, isSluiceError, unwrap, unwrapWithPublicKey } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type WebhookSink, startWebhookSink } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Service, startService } from '../service.ts';
import { createLog } from '../base/log.ts';
import { LEDGER_FILE } from '../store/engine/sqlite/sqlite.ts';
import { createSignals } from '../store/live/signals.ts';
import { openKeyPairs } from './keyPairs.ts';
import type { Vault } from './vault.ts';

const API_KEY = 'key-pairs-test-key-0123456789';
const SECRET = 'key-pairs-test-secret';

let folder: string;
let sink: WebhookSink;
let service: Service;
beforeAll(async () => {
  sink = await startWebhookSink();
});
afterAll(() => sink.close());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-key-pairs-'));
  service = await start();
});
afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

const start = (masterKeyFile?: string): Promise<Service> =>
  startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: folder,
      masterKeyFile,
      apiKey: API_KEY,
      secret: SECRET,
      chains: [],
      aptos: [],
      allowPrivateEndpoints: true,
    },
    { info() {}, warn() {}, error() {} },
  );
const admin = () => createSluiceClient({ apiKey: API_KEY, baseUrl: service.url, maxRetries: 0 });

/** Returns the test webhook of a new stream. */
async function receive() {
  const path = `/${crypto.randomUUID()}`;
  await createClient({ apiKey: API_KEY, baseUrl: service.url }).streams.create({
    webhookUrl: sink.url + path,
    description: '',
    chainIds: ['0x1'],
  });
  const { body, headers } = await sink.waitFor((request) => request.path === path);
  return { body, headers: { ...headers } as Record<string, string> };
}

/** Returns the indexes of the public keys that verify a new webhook. */
async function signers(publicKeys: string[]): Promise<number[]> {
  const request = await receive();
  expect(unwrap({ ...request, secret: SECRET }).isTest).toBe(true);
  const verified: number[] = [];
  for (const [n, publicKey] of publicKeys.entries()) {
    try {
      await unwrapWithPublicKey({ ...request, publicKeys: [publicKey] });
      verified.push(n);
    } catch (error) {
      if (!isSluiceError(error, 'invalid_signature')) throw error;
    }
  }
  const count = request.headers['webhook-signature']!.split(' ').length;
  // The secrets of the account and the stream add one signature each.
  expect(count).toBe(2 + verified.length);
  return verified;
}

test('the service signs only with HMAC until a key pair is created', async () => {
  expect(await admin().listPublicKeys()).toEqual([]);
  const request = await receive();
  expect(request.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
});

test('the service signs as Standard Webhooks require: verified by node:crypto and by the kit', async () => {
  const { publicKey, endsAt } = await admin().createPublicKey();
  expect(endsAt).toBeNull();
  expect(publicKey).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
  const { body, headers } = await receive();
  const signature = /v1a,(\S+)$/.exec(headers['webhook-signature']!)?.[1] ?? '';
  const key = createPublicKey({
    key: {
      kty: 'OKP',
      crv: 'Ed25519',
      x: Buffer.from(publicKey.slice(5), 'base64').toString('base64url'),
    },
    format: 'jwk',
  });
  const message = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  expect(verify(null, Buffer.from(message), key, Buffer.from(signature, 'base64'))).toBe(true);
  expect((await unwrapWithPublicKey({ body, headers, publicKeys: [publicKey] })).isTest).toBe(true);
});

test('the service publishes the public keys without an API key, and no private key anywhere', async () => {
  const created = await admin().createPublicKey();
  const answer = await fetch(`${service.url}/sluice/public-keys`);
  expect([answer.status, await answer.json()]).toEqual([200, { result: [created] }]);
  expect(JSON.stringify(created)).not.toContain('sealed');
  const db = new DatabaseSync(join(folder, LEDGER_FILE), { readOnly: true });
  const rows = JSON.stringify(db.prepare('select * from setting').all());
  db.close();
  expect(rows).toContain(created.publicKey);
  expect(rows).not.toContain('whsk_');
});

test('keys rotate without a gap, and the overlap ends on time', async () => {
  const first = await admin().createPublicKey();
  const second = await admin().createPublicKey({ overlapSeconds: 2 });
  const keys = [first.publicKey, second.publicKey];
  expect(await signers(keys)).toEqual([0, 1]);
  const [newest, older] = await admin().listPublicKeys();
  expect(newest).toEqual(second);
  expect(older).toEqual({ ...first, endsAt: second.createdAt + 2_000 });
  await expect.poll(() => signers(keys), { timeout: 10_000, interval: 200 }).toEqual([1]);
  expect(await admin().listPublicKeys()).toEqual([second]);

  keys.push((await admin().createPublicKey({ overlapSeconds: 0 })).publicKey);
  expect(await signers(keys)).toEqual([2]);
  for (let n = 0; n < 6; n++) await admin().createPublicKey();
  expect(await admin().listPublicKeys()).toHaveLength(5);
});

/** Opens key pairs on a ledger in memory, whose time is 1,000 ms. */
async function openInMemory() {
  let text: string | undefined;
  const store: Parameters<typeof openKeyPairs>[0] = {
    readSetting: () => Promise.resolve(text),
    replaceSetting(_name, _before, after) {
      text = after;
      return Promise.resolve(true);
    },
    readLedgerTime: () => Promise.resolve(1_000),
    signals: createSignals(),
  };
  const vault: Pick<Vault, 'seal' | 'open'> = { seal: (text) => text, open: (text) => text };
  return {
    store,
    keyPairs: await openKeyPairs(
      store,
      vault as Vault,
      createLog(() => {}),
    ),
  };
}

test('a key pair signs until exactly its end', async () => {
  const { keyPairs } = await openInMemory();
  await keyPairs.create(0);
  await keyPairs.create(500);
  expect([1_499, 1_500].map((at) => keyPairs.privateKeys(at).length)).toEqual([2, 1]);
  keyPairs.stop();
});

test('a slow read does not replace a newer one', async () => {
  const { store, keyPairs } = await openInMemory();
  const { readSetting } = store;
  const slow = Promise.withResolvers<undefined>();
  store.readSetting = () => slow.promise;
  store.signals.send(['settings']);
  store.readSetting = readSetting;
  await keyPairs.create(0);
  slow.resolve(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(keyPairs.privateKeys(1_000)).toHaveLength(1);
  keyPairs.stop();
});

test('a later rotation does not prolong an earlier overlap', async () => {
  const first = await admin().createPublicKey();
  const second = await admin().createPublicKey({ overlapSeconds: 60 });
  await admin().createPublicKey({ overlapSeconds: 3_600 });
  const oldest = (await admin().listPublicKeys()).at(-1);
  expect(oldest).toEqual({ ...first, endsAt: second.createdAt + 60_000 });
});

test('concurrent creations keep each other', async () => {
  const created = await Promise.all([1, 2, 3].map(() => admin().createPublicKey()));
  const ids = (await admin().listPublicKeys()).map(({ id }) => id);
  expect(ids.toSorted()).toEqual(created.map(({ id }) => id).toSorted());
});

test('a removed key pair no longer signs', async () => {
  const { id, publicKey } = await admin().createPublicKey();
  await admin().removePublicKey(id);
  expect(await admin().listPublicKeys()).toEqual([]);
  expect(await signers([publicKey])).toEqual([]);
  await expect(admin().removePublicKey(id)).rejects.toMatchObject({ code: 'not_found' });
  const { result } = await admin().listAudit({ limit: 2 });
  expect(result).toMatchObject([
    { action: 'removePublicKey', target: id },
    { action: 'createPublicKey', target: id },
  ]);
});

test('only keys with settings:admin create and remove key pairs', async () => {
  const { id } = await admin().createPublicKey();
  const { key } = await admin().createApiKey({ name: 'w', scopes: ['streams:write', 'replay'] });
  const writer = createSluiceClient({ apiKey: key, baseUrl: service.url });
  await expect(writer.createPublicKey()).rejects.toMatchObject({ code: 'forbidden' });
  await expect(writer.removePublicKey(id)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(admin().createPublicKey({ overlapSeconds: 1e9 })).rejects.toMatchObject({
    code: 'validation_failed',
  });
});

test('key pairs stay the same after a restart and after a rotation of the master key', async () => {
  const { publicKey } = await admin().createPublicKey();
  const keyFile = join(folder, 'keys');
  const restart = async (...keys: string[]) => {
    writeFileSync(keyFile, keys.join('\n'));
    await service.stop();
    service = await start(keyFile);
  };
  const [old, fresh] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
  const made = readFileSync(join(folder, 'master-key'), 'utf8').trim();
  await restart(old, made);
  await restart(old);
  expect(await signers([publicKey])).toEqual([0]);
  await restart(fresh, old);
  await restart(fresh);
  expect(await signers([publicKey])).toEqual([0]);
});
