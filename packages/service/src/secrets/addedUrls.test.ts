import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@sluice/testkit';
import { expect, test } from 'vitest';
import { withAddedNodes } from '../chains/familyChains.ts';
import { toAptosSettings } from '../families/aptos/chains/settings.ts';
import { toEvmSettings } from '../families/evm/chains/settings.ts';
import { openPostgresStore } from '../store/engine/postgres/postgres.ts';
import { openSqliteStore } from '../store/engine/sqlite/sqlite.ts';
import { openAddedUrls, resealAddedUrls } from './addedUrls.ts';
import { createVault } from './vault.ts';

const log = { info() {}, warn() {}, error() {} };
const URL = 'https://node.example/v2/api-key-of-the-operator';

test('added URLs are encrypted in the ledger, survive a restart, and follow a new master key', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-added-urls-'));
  const [older, newer] = [randomBytes(32), randomBytes(32)];
  let store = await openSqliteStore(folder);
  const urls = await openAddedUrls(store, createVault([older]), log);
  expect(await urls.add('0x1', URL)).toMatchObject({ chain: '0x1', url: URL });
  urls.stop();
  await store.close();
  for (const name of readdirSync(folder)) {
    expect(readFileSync(join(folder, name), 'latin1')).not.toContain('api-key-of');
  }

  store = await openSqliteStore(folder);
  expect(await resealAddedUrls(store, createVault([newer, older]))).toBe(1);
  expect(await resealAddedUrls(store, createVault([newer, older]))).toBe(0);
  const again = await openAddedUrls(store, createVault([newer]), log);
  expect(again.read()).toMatchObject([{ chain: '0x1', url: URL }]);
  again.stop();
  await store.close();
  rmSync(folder, { recursive: true });
});

test('added URLs are bounded and unique per chain in several processes, which follow each other', async () => {
  const postgres = await startPostgres();
  const vault = createVault([randomBytes(32)]);
  const stores = await Promise.all([1, 2].map(() => openPostgresStore(postgres.url)));
  const [one, two] = await Promise.all(stores.map((store) => openAddedUrls(store, vault, log)));
  let changes = 0;
  const forget = two!.onChange(() => changes++);
  const same = await Promise.all([one!, two!].map((each) => each.add('0x1', URL)));
  expect(same.filter((each) => each === 'duplicate')).toHaveLength(1);
  expect(await one!.add('0x2', URL)).toMatchObject({ url: URL });
  const many = await Promise.all(
    Array.from({ length: 16 }, (_, n) => (n % 2 ? one! : two!).add(null, `${URL}${n}`)),
  );
  expect(many.filter((each) => each === 'full')).toHaveLength(6);
  await expect.poll(() => two!.read().length, { timeout: 5_000 }).toBe(12);
  expect(changes).toBeGreaterThan(0);

  const [node] = one!.read();
  expect(await one!.remove('alert', node!.id)).toBeUndefined();
  expect(await one!.remove('node', node!.id)).toEqual(node);
  expect(await two!.remove('node', node!.id)).toBeUndefined();
  await expect.poll(() => two!.read().length, { timeout: 5_000 }).toBe(11);
  forget();
  for (const each of [one!, two!]) each.stop();
  await Promise.all(stores.map((store) => store.close()));
  await postgres.stop();
});

test('added nodes come after the configured nodes, and start chains of their own', () => {
  // Added URLs are normalized, but configured URLs are not.
  const first = URL.replace('node.example', 'NODE.example:443');
  const configured = [{ id: '0x1', urls: [first] }];
  const second = { id: 'b', url: 'https://second.example/' };
  const third = { id: 'c', url: 'wss://third.example/' };
  const fourth = { id: 'd', url: 'https://fourth.example/v1' };
  const added = [
    { id: 'a', chain: '0x1', url: URL },
    { ...second, chain: '0x1' },
    { ...third, chain: '0x89' },
    { ...fourth, chain: 'aptos:testnet' },
    { id: 'e', chain: null, url: 'https://alerts.example/' },
  ];
  expect(withAddedNodes(toEvmSettings(configured), added)).toEqual([
    { id: '0x1', urls: [first], addedNodes: [second] },
    { id: '0x89', urls: [], pollMs: 5_000, addedNodes: [third] },
  ]);
  expect(withAddedNodes(toAptosSettings([]), added)).toEqual([
    { network: 'testnet', urls: [], addedNodes: [fourth], pollMs: 500 },
  ]);
});
