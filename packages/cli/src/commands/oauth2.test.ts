/** Tests the flags and file keys for OAuth 2.0 client credentials. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type World, startWorld } from './world.test-only.ts';

const CLIENT_SECRET = 'client-secret-4711';
const logins: string[] = [];
const tokenServer = createServer((request, response) => {
  request.resume();
  logins.push(atob(String(request.headers.authorization).slice('Basic '.length)));
  response.end('{"access_token":"a-token","token_type":"Bearer"}');
});
let world: World;
let secretFile: string;
let visible: { tokenUrl: string; clientId: string };
const shown: string[] = [];

beforeAll(async () => {
  world = await startWorld([], { isPlain: true });
  await new Promise<void>((resolve) => {
    tokenServer.listen(0, '127.0.0.1', resolve);
  });
  secretFile = join(world.folder, 'client-secret');
  writeFileSync(secretFile, `${CLIENT_SECRET}\n`);
  const { port } = tokenServer.address() as AddressInfo;
  visible = { tokenUrl: `http://127.0.0.1:${port}/token`, clientId: 'sluice' };
});
afterAll(async () => {
  tokenServer.close();
  tokenServer.closeAllConnections();
  await world.stop();
});

async function run(...args: string[]) {
  const result = await world.sluice(args);
  shown.push(result.stdout, result.stderr);
  return result;
}
const readStream = async (): Promise<object> =>
  JSON.parse((await run('streams', 'get', 'guarded', '--json')).stdout) as object;
const clientFlags = () => [
  ...['--oauth2-token-url', visible.tokenUrl, '--oauth2-client-id', visible.clientId],
];

test('streams are created and updated with the secret from a file', async () => {
  const stream = ['--url', world.sink.url, '--tag', 'guarded', '--chain', '0x7a69', '--native'];
  const flags = [...clientFlags(), '--oauth2-client-secret-file', secretFile];
  const created = await run('streams', 'create', ...stream, ...flags);
  expect([created.code, created.stderr]).toEqual([0, '']);
  expect(await readStream()).toMatchObject({ oauth2: visible });
  expect(logins).toEqual([`sluice:${CLIENT_SECRET}`]);
  expect(world.sink.requests.at(-1)!.headers['authorization']).toBe('Bearer a-token');

  const scoped = ['--oauth2-scope', 'a b', '--oauth2-audience', 'api'];
  expect((await run('streams', 'update', 'guarded', ...flags, ...scoped)).code).toBe(0);
  expect(await readStream()).toMatchObject({ oauth2: { ...visible, scope: 'a b' } });
  // The secret may also be in the environment.
  const env = { SLUICE_OAUTH2_CLIENT_SECRET: 'from-the-environment' };
  await world.sluice(['streams', 'update', 'guarded', ...clientFlags(), ...scoped], { env });
  expect(logins.at(-1)).toBe('sluice:from-the-environment');
  // Other changes leave the credentials as they are.
  expect((await run('streams', 'update', 'guarded', '--logs')).code).toBe(0);
  expect(await readStream()).toMatchObject({ oauth2: { ...visible, audience: 'api' } });
});

test('incomplete flags name what is missing', async () => {
  const missing = await run('streams', 'update', 'guarded', ...clientFlags());
  expect([missing.code, missing.stderr]).toEqual([
    2,
    expect.stringMatching(/--oauth2-client-secret-file[^]*SLUICE_OAUTH2_CLIENT_SECRET/),
  ]);
  const both = await run('streams', 'update', 'guarded', ...clientFlags(), '--no-oauth2');
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--no-oauth2')]);
  const empty = join(world.folder, 'empty');
  writeFileSync(empty, '\n');
  const flags = [...clientFlags(), '--oauth2-client-secret-file', empty];
  const refused = await run('streams', 'update', 'guarded', ...flags);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is empty')]);
});

test('exported streams contain no secret, and apply needs it only for changed credentials', async () => {
  const file = join(world.folder, 'exported.yaml');
  await run('export', '-o', file);
  const exported = readFileSync(file, 'utf8');
  expect(exported).toContain('clientId: sluice');
  shown.push(exported);
  expect((await run('apply', '-f', file)).stdout).toBe('= guarded\n');

  const changed = exported.replace('clientId: sluice', 'clientId: other');
  writeFileSync(file, changed);
  const refused = await run('apply', '-f', file, '--dry-run');
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('no client secret')]);
  writeFileSync(file, exported.replace('tag: guarded', 'tag: another'));
  expect((await run('apply', '-f', file)).stderr).toContain('no client secret');

  const secret = 'clientId: other\n      clientSecretFile: client-secret';
  writeFileSync(file, changed.replace('clientId: other', secret));
  for (const json of [['--json', '--dry-run'], ['--dry-run'], []]) {
    const applied = await run('apply', '-f', file, ...json);
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining('oauth2')]);
  }
  expect(logins.at(-1)).toBe(`other:${CLIENT_SECRET}`);
  expect((await run('apply', '-f', file)).stdout).toBe('= guarded\n');
});

test('--no-oauth2 removes the credentials, and no output contains the secret', async () => {
  expect((await run('streams', 'update', 'guarded', '--no-oauth2')).code).toBe(0);
  expect(await readStream()).toMatchObject({ oauth2: null });
  for (const text of shown) expect(text).not.toContain(CLIENT_SECRET);
});
