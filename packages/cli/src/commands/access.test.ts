/**
 * Tests the output and exit codes of `keys`, `secret`, `public-keys` and `audit` on a real service.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import type {
  ApiKey,
  AuditRecord,
  IssuedApiKey,
  PublicKey,
  StreamSecret,
} from '@sluice/kit/sluice';
import {
  createKeyPair,
  sampleWebhook,
  signWithPrivateKey,
  signedRequest,
} from '@sluice/kit/testing';
import { type World, startWorld } from './world.test-only.ts';

let world: World;
let sluice: World['sluice'];
let streamId: string;

beforeAll(async () => {
  world = await startWorld();
  ({ sluice } = world);
  ({ id: streamId } = await world.api.streams.create({
    webhookUrl: world.sink.url,
    description: '',
    tag: 'guarded',
    chainIds: ['0x7a69'],
  }));
});
afterAll(() => world.stop());

const json = async <T>(...args: string[]): Promise<T> => {
  const { code, stdout, stderr } = await sluice([...args, '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
};
const isTaken = async (key: string): Promise<boolean> =>
  (await sluice(['streams', 'list'], { env: { SLUICE_API_KEY: key } })).code === 0;

describe('keys', () => {
  test('are created, printed once, used, listed and revoked', async () => {
    const made = await sluice([
      ...['keys', 'create', 'deploy', '--scope', 'streams:read', '--expires', '90d'],
      ...['--cidr', '127.0.0.0/8'],
    ]);
    expect(made.code).toBe(0);
    // Standard output contains only the key, so that `KEY=$(sluice keys create …)` works.
    const key = made.stdout.trimEnd();
    expect(key).toMatch(/^sluice_[0-9A-Za-z]{13}_[0-9A-Za-z]{43}$/);
    expect(made.stderr).toContain('API key, shown only once:');
    expect(made.stderr).not.toContain(key);
    expect(await isTaken(key)).toBe(true);

    const id = key.split('_')[1]!;
    const listed = await sluice(['keys', 'list']);
    expect(listed.stdout).toMatch(
      new RegExp(
        `^${id}  deploy  streams:read  from 127\\.0\\.0\\.0/8  (last used|never used)[^]*\\sexpires\\s+\\d{4}-`,
        'm',
      ),
    );
    expect(listed.stdout).not.toContain(key);

    const revoked = await sluice(['keys', 'revoke', id]);
    expect([revoked.code, revoked.stderr]).toEqual([0, '']);
    expect(revoked.stdout).toMatch(new RegExp(`^${id}  deploy  [^]*\\srevoked\\s+\\d{4}-`));
    const refused = await sluice(['streams', 'list'], { env: { SLUICE_API_KEY: key } });
    expect([refused.code, refused.stdout]).toEqual([3, '']);
    expect(refused.stderr).toContain('error[unauthorized]: Invalid API key');
  });

  test('are printed as JSON', async () => {
    const made = await json<IssuedApiKey>('keys', 'create', 'machine');
    expect(made).toMatchObject({ name: 'machine', cidrs: [], expiresAt: null, revokedAt: null });
    const { key, ...rest } = made;
    const listed = await json<ApiKey[]>('keys', 'list');
    expect(listed).toContainEqual(rest);
    expect(JSON.stringify(listed)).not.toContain(key);
    const revoked = await json<ApiKey>('keys', 'revoke', made.id);
    expect(revoked.revokedAt).toEqual(expect.any(Number));
    expect(await isTaken(key)).toBe(false);
  });

  test('invalid arguments are rejected with a fix', async () => {
    for (const [args, code, message] of [
      [['create', 'x', '--scope', 'everything'], 5, /scopes\.0 .*streams:read/],
      [['create', 'x', '--cidr', '10.0.0.0'], 5, /cidrs\.0 .*10\.0\.0\.0\/8/],
      [['create', 'x', '--expires', 'soon'], 2, /--expires soon/],
      [['create', ''], 5, /name /],
      [['create'], 2, /name/],
      [['revoke', 'nobody'], 4, /error\[not_found\]: There is no API key nobody/],
    ] as const) {
      const run = await sluice(['keys', ...args]);
      expect([run.code, run.stdout], args.join(' ')).toEqual([code, '']);
      expect(run.stderr).toMatch(message);
    }
  });
});

describe('secret', () => {
  test('is shown and rotated; the old one stays valid for the overlap', async () => {
    const shown = await sluice(['secret', 'show', streamId]);
    expect([shown.code, shown.stderr]).toEqual([0, '']);
    const first = shown.stdout.trimEnd();
    expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await json<StreamSecret>('secret', 'show', 'guarded')).toMatchObject({
      streamId,
      secret: first,
      previous: [],
    });

    const rotated = await sluice(['secret', 'rotate', streamId, '--overlap', '1h']);
    expect(rotated.code).toBe(0);
    const second = rotated.stdout.trimEnd();
    expect(second).not.toBe(first);
    const [, until = ''] = /^A previous secret also signs until (\S+)$/m.exec(rotated.stderr) ?? [];
    expect(Date.parse(until) - Date.now()).toBeGreaterThan(59 * 60_000);
    expect(Date.parse(until) - Date.now()).toBeLessThanOrEqual(60 * 60_000);

    expect(await sluice(['secret', 'end-overlap', 'guarded'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Only the current secret signs now\n',
    });
    expect(await json<StreamSecret>('secret', 'show', 'guarded')).toMatchObject({
      secret: second,
      previous: [],
    });

    const last = await json<StreamSecret>('secret', 'rotate', streamId, '--overlap', '0');
    expect(last.previous).toEqual([]);
    expect([first, second]).not.toContain(last.secret);
  });

  test('rejects an unknown stream and an overlap that is too long', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000';
    for (const [args, code] of [
      [['show', unknown], 4],
      [['rotate', unknown], 4],
      [['end-overlap', unknown], 4],
      [['rotate', streamId, '--overlap', '400d'], 5],
      [['rotate', streamId, '--overlap', 'a while'], 2],
    ] as const) {
      const run = await sluice(['secret', ...args]);
      expect([run.code, run.stdout], args.join(' ')).toEqual([code, '']);
      expect(run.stderr).toMatch(/^error\[/);
    }
  });
});

describe('public-keys', () => {
  test('are created, listed and removed', async () => {
    const empty = await sluice(['public-keys', 'list']);
    expect([empty.code, empty.stdout]).toEqual([0, '']);
    expect(empty.stderr).toContain('No key pairs yet');
    const made = await sluice(['public-keys', 'create']);
    expect([made.code, made.stderr]).toEqual([0, '']);
    const first = made.stdout.trimEnd();
    expect(first).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
    const second = await json<PublicKey>('public-keys', 'create', '--overlap', '1h');
    const listed = await sluice(['public-keys', 'list']);
    expect(listed.stdout.split('\n')[0]).toBe(`${second.publicKey}  ${second.id.slice(0, 8)}`);
    expect(listed.stdout.replaceAll(/\s+/g, ' ')).toMatch(
      new RegExp(`${first.slice(5).replaceAll('+', '\\+')} [0-9a-f]{8} signs until \\d{4}-`),
    );

    const removed = await sluice(['public-keys', 'remove', second.id.slice(0, 8)]);
    expect([removed.code, removed.stderr]).toEqual([0, '']);
    expect(await json<PublicKey[]>('public-keys', 'list')).toMatchObject([{ publicKey: first }]);
    const unknown = await sluice(['public-keys', 'remove', 'unknown']);
    expect([unknown.code, unknown.stdout]).toEqual([4, '']);
    expect((await sluice(['public-keys', 'create', '--overlap', '400d'])).code).toBe(5);
  });
});

test('verify takes public keys instead of a secret', async () => {
  const { publicKey, privateKey } = await createKeyPair();
  const hmac = signedRequest({ webhook: sampleWebhook('erc20-transfer'), secret: 'x' });
  const request = await signWithPrivateKey(hmac, privateKey);
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const given = names.flatMap((name) => ['--header', `${name}: ${request.headers.get(name)}`]);
  const input = await request.text();
  const verify = (...args: string[]) => sluice(['verify', ...given, ...args], { input });
  const other = `whpk_${'A'.repeat(43)}=`;
  expect(await verify('--public-key', other, publicKey)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('✓ genuine  sample 0x1 #16225662') as string,
  });
  const wrong = await verify('--public-key', other, '--json');
  expect([wrong.code, JSON.parse(wrong.stdout)]).toEqual([
    9,
    expect.objectContaining({ valid: false, problem: 'wrong-public-key' }),
  ]);
  const malformed = await verify('--public-key', privateKey);
  expect(malformed.code).toBe(2);
  expect(malformed.stderr).toContain('publicKeys[0] must be whpk_ and 32 bytes in base64');
  const both = await verify('--public-key', publicKey, '--secret', 'x');
  expect(both.code).toBe(2);
  expect(both.stderr).toContain('--public-key cannot be combined with --secret');
});

describe('audit', () => {
  test('lists records, newest first', async () => {
    const { id, key } = await json<IssuedApiKey>('keys', 'create', 'auditor');
    const env = { SLUICE_API_KEY: key };
    expect((await sluice(['secret', 'show', streamId], { env })).code).toBe(0);

    const text = await sluice(['audit', 'list', '--limit', '2'], { env });
    expect([text.code, text.stderr]).toEqual([0, '']);
    const lines = text.stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    const time = String.raw`\d{4}-\d\d-\d\dT[\d:]+Z`;
    const target = String.raw`[\da-f-]+…[\da-f-]+`;
    expect(lines[0]).toMatch(
      new RegExp(String.raw`^\d+  ${time}  getStreamSecret  ${target}  ${id}  127\.0\.0\.1$`),
    );
    expect(lines[1]).toMatch(
      new RegExp(String.raw`^\d+  ${time}  createApiKey  ${id}  bootstrap  127\.0\.0\.1$`),
    );

    // The JSON output has one record per line, so that it can be piped.
    const asJson = await sluice(['audit', 'list', '--limit', '2', '--json'], { env });
    const records = asJson.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditRecord);
    expect(records).toMatchObject([
      { action: 'getStreamSecret', keyId: id, target: streamId },
      { action: 'createApiKey', keyId: 'bootstrap', target: id },
    ]);
    expect(asJson.stdout).not.toContain(key);
    expect((await sluice(['audit', 'list', '--limit', '0'])).code).toBe(2);
    const narrow = await json<IssuedApiKey>('keys', 'create', 'narrow', '--scope', 'streams:read');
    const refused = await sluice(['audit', 'list'], { env: { SLUICE_API_KEY: narrow.key } });
    expect([refused.code, refused.stdout]).toEqual([3, '']);
    expect(refused.stderr).toContain('lacks the scope settings:admin');
  });

  test('verify reports where the log was changed', async () => {
    const whole = await json<{ records: number; head: string }>('audit', 'verify');
    expect(whole.records).toBeGreaterThan(3);
    const good = await sluice(['audit', 'verify', '--head', whole.head]);
    expect([good.code, good.stderr]).toEqual([0, '']);
    expect(good.stdout).toBe(
      `${whole.records} records, intact; hash of the newest:\n  ${whole.head}\n`,
    );
    const unknown = await sluice(['audit', 'verify', '--head', '0xabc']);
    expect(unknown.code).toBe(9);
    expect(unknown.stderr).toContain('error[check_failed]: No audit record has the hash');

    const ledger = new DatabaseSync(join(world.folder, 'data', 'sluice.db'), { timeout: 5_000 });
    try {
      const { address } = ledger.prepare('select address from audit where seq = 2').get() as {
        address: string;
      };
      const set = ledger.prepare('update audit set address = ? where seq = 2');
      set.run('10.6.6.6');
      const changed = await sluice(['audit', 'verify']);
      expect([changed.code, changed.stdout]).toEqual([9, '']);
      expect(changed.stderr).toContain('The audit log was changed at or right after record 2');
      set.run(address);
      expect((await sluice(['audit', 'verify'])).code).toBe(0);
      ledger.exec('delete from audit where seq = 1');
      const cut = await sluice(['audit', 'verify']);
      expect(cut.code).toBe(9);
      expect(cut.stderr).toContain('The audit log starts at record 2');
    } finally {
      ledger.close();
    }
  });
});
