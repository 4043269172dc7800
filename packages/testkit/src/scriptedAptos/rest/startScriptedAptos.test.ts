import type { Hex } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { aptMetadata, primaryStoreOf } from '../ledger/aptosAddress.ts';
import type { RestError, RestTransaction } from './restShapes.ts';
import { scriptedAptos } from '../ledger/transactions/scriptedAptos.ts';
import { type RunningScriptedAptos, startScriptedAptos } from './startScriptedAptos.ts';

const alice: Hex = `0x${'a1'.repeat(32)}`;
const bob: Hex = '0xb0b';
const pay = scriptedAptos.transfer({ from: alice, to: bob, amount: 5n });

let node: RunningScriptedAptos;

beforeEach(async () => {
  node = await startScriptedAptos();
});
afterEach(() => node.stop());

async function get(path: string, at = node): Promise<unknown> {
  const response = await fetch(`${at.url}${path}`);
  expect(response.status).toBe(200);
  return response.json();
}

/** Requests a path that the node rejects, and returns the status and the body. */
async function refusalOf(path: string): Promise<[number, RestError]> {
  const response = await fetch(`${node.url}${path}`);
  return [response.status, (await response.json()) as RestError];
}

const view = (call: object, query = '') =>
  fetch(`${node.url}/view${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call),
  });

const viewed = async (name: string, args: unknown[], types: string[] = [], query = '') =>
  (await view({ function: name, type_arguments: types, arguments: args }, query)).json();

const versionsOf = (page: unknown) => (page as RestTransaction[]).map(({ version }) => version);

/** Mines two blocks of three versions each, after the genesis version. */
function mineTwo() {
  node.mine({ transactions: [pay] });
  node.mine({ transactions: [pay] });
}

describe('the node returns', () => {
  test('the ledger info, also in the headers of every response', async () => {
    mineTwo();
    const response = await fetch(node.url);
    expect(await response.json()).toMatchObject({
      chain_id: 4,
      epoch: '1',
      ledger_version: '6',
      oldest_ledger_version: '0',
      ledger_timestamp: '1700000000500000',
      node_role: 'full_node',
      oldest_block_height: '0',
      block_height: '2',
    });
    for (const path of ['', '/transactions', '/blocks/by_height/9', '/nothing', '/-/healthy']) {
      const { headers } = await fetch(`${node.url}${path}`);
      const aptos = [...headers].filter(([name]) => name.startsWith('x-aptos-'));
      expect(Object.fromEntries(aptos)).toEqual({
        'x-aptos-block-height': '2',
        'x-aptos-chain-id': '4',
        'x-aptos-epoch': '1',
        'x-aptos-ledger-oldest-version': '0',
        'x-aptos-ledger-timestampusec': '1700000000500000',
        'x-aptos-ledger-version': '6',
        'x-aptos-oldest-block-height': '0',
      });
    }
  });

  test('pages of 25 transactions by default and 100 at most; the last page without `start`', async () => {
    node.mineMany(80);
    expect(versionsOf(await get('/transactions?start=3&limit=4'))).toEqual(['3', '4', '5', '6']);
    expect(versionsOf(await get('/transactions?start=0&limit=500'))).toHaveLength(100);
    expect(versionsOf(await get('/transactions?start=159'))).toEqual(['159', '160']);
    const last = versionsOf(await get('/transactions'));
    expect([last.length, last[0], last.at(-1)]).toEqual([25, '136', '160']);
    expect(versionsOf(await get('/transactions?limit=2'))).toEqual(['159', '160']);
  });

  test('a transaction by version and by hash', async () => {
    mineTwo();
    const transaction = node.transactionAt(2n);
    expect(await get('/transactions/by_version/2')).toEqual(transaction);
    expect(await get(`/transactions/by_hash/${transaction?.hash}`)).toEqual(transaction);
  });

  test('a block by height and by any of its versions', async () => {
    mineTwo();
    const { hash, transactions } = node.head;
    const head = {
      block_height: '2',
      block_hash: hash,
      block_timestamp: '1700000000500000',
      first_version: '4',
      last_version: '6',
    };
    expect(await get('/blocks/by_height/2')).toEqual({ ...head, transactions: null });
    expect(await get('/blocks/by_version/5?with_transactions=true')).toEqual({
      ...head,
      transactions,
    });
  });

  test('the first 100 transactions of a larger block', async () => {
    node.mine({ transactions: Array(120).fill(pay) });
    const block = (await get('/blocks/by_height/1?with_transactions=true')) as {
      first_version: string;
      last_version: string;
      transactions: RestTransaction[];
    };
    expect([block.first_version, block.last_version]).toEqual(['1', '122']);
    expect(block.transactions.at(-1)?.version).toBe('100');
  });

  test('accounts, their resources and modules, at every version', async () => {
    mineTwo();
    expect(await get(`/accounts/${alice}`)).toEqual({
      sequence_number: '2',
      authentication_key: alice,
    });
    expect(await get(`/accounts/${alice}?ledger_version=3`)).toMatchObject({
      sequence_number: '1',
    });
    expect(await get('/accounts/0x77')).toMatchObject({ sequence_number: '0' });

    const store = primaryStoreOf(bob, aptMetadata);
    const balance = async (query: string) => {
      const path = `/accounts/${store}/resource/0x1::fungible_asset::FungibleStore${query}`;
      return ((await get(path)) as { data: { balance: string } }).data.balance;
    };
    expect([await balance('?ledger_version=2'), await balance('')]).toEqual([
      '1000000000000005',
      '1000000000000010',
    ]);
    expect(await get(`/accounts/${store}/resources`)).toMatchObject([
      { type: '0x1::fungible_asset::FungibleStore' },
      { type: '0x1::object::ObjectCore', data: { owner: '0xb0b' } },
    ]);

    node.mine({
      transactions: [
        scriptedAptos.call({
          sender: alice,
          function: '0x1::code::publish_package_txn',
          effects: [{ kind: 'writeModule', address: alice, name: 'game' }],
        }),
      ],
    });
    expect(await get(`/accounts/${alice}/modules`)).toMatchObject([{ abi: { name: 'game' } }]);
    expect(JSON.stringify(await get(`/accounts/${alice}/resources`))).not.toContain('game');
  });

  test('a generic resource in any spelling of its type', async () => {
    node.mine({ transactions: [scriptedAptos.coinTransfer({ from: alice, to: bob, amount: 1n })] });
    const type = '0x0001::coin::CoinStore<0x1::aptos_coin::AptosCoin>';
    expect(await get(`/accounts/0xb0b/resource/${encodeURIComponent(type)}`)).toMatchObject({
      type: '0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>',
      data: { coin: { value: '1000000000000001' } },
    });
  });

  test('views', async () => {
    const object: Hex = `0x${'0b'.repeat(32)}`;
    node.mine({ transactions: [pay] });
    node.mine({
      transactions: [
        scriptedAptos.call({
          sender: alice,
          function: '0xc0::box::make',
          effects: [{ kind: 'createObject', object, owner: primaryStoreOf(bob, aptMetadata) }],
        }),
      ],
    });
    const apt = ['0x1::aptos_coin::AptosCoin'];
    const store = primaryStoreOf(bob, aptMetadata);
    expect(await viewed('0x1::fungible_asset::name', ['0xa'])).toEqual(['Aptos Coin']);
    expect(await viewed('0x1::fungible_asset::symbol', [{ inner: '0xa' }])).toEqual(['APT']);
    expect(await viewed('0x1::fungible_asset::decimals', [aptMetadata])).toEqual([8]);
    expect(await viewed('0x1::fungible_asset::store_metadata', [store])).toEqual([
      { inner: '0xa' },
    ]);
    expect(await viewed('0x1::coin::name', [], apt)).toEqual(['Aptos Coin']);
    expect(await viewed('0x1::coin::decimals', [], apt)).toEqual([8]);
    expect(await viewed('0x1::coin::paired_metadata', [], apt)).toEqual([
      { vec: [{ inner: '0xa' }] },
    ]);
    expect(await viewed('0x1::object::owner', [store], ['0x1::object::ObjectCore'])).toEqual([
      '0xb0b',
    ]);
    expect(await viewed('0x1::object::root_owner', [object])).toEqual(['0xb0b']);
    expect(await viewed('0x1::primary_fungible_store::balance', [bob, '0xa'])).toEqual([
      '1000000000000005',
    ]);
    expect(
      await viewed('0x1::primary_fungible_store::balance', [bob, '0xa'], [], '?ledger_version=1'),
    ).toEqual(['0']);
    expect(
      await viewed('0x1::primary_fungible_store::primary_store_exists', [alice, '0xa']),
    ).toEqual([true]);
  });

  test('its health; calls are counted by route', async () => {
    expect(await get('/-/healthy')).toEqual({ message: 'aptos-node:ok' });
    await get('/transactions');
    await get('/transactions');
    expect(node.calls).toEqual({ healthy: 1, transactions: 2 });
  });
});

describe('refusals', () => {
  test.each([
    ['/transactions/by_version/77', 404, 'transaction_not_found'],
    [`/transactions/by_hash/0x${'77'.repeat(32)}`, 404, 'transaction_not_found'],
    ['/transactions?start=77', 400, 'invalid_input'],
    ['/transactions?limit=0', 400, 'invalid_input'],
    ['/transactions?start=-1', 400, 'web_framework_error'],
    ['/transactions/by_version/x', 400, 'web_framework_error'],
    ['/blocks/by_height/77', 404, 'block_not_found'],
    ['/blocks/by_version/77', 404, 'version_not_found'],
    ['/accounts/0x1?ledger_version=77', 404, 'version_not_found'],
    ['/accounts/nobody', 400, 'web_framework_error'],
    ['/accounts/%E0%A4%A', 400, 'web_framework_error'],
    ['/accounts/0x1/resource/0x1::a::B', 404, 'resource_not_found'],
    ['/nothing', 404, 'web_framework_error'],
  ])('%s is %d, %s', async (path, status, code) => {
    mineTwo();
    const [answered, body] = await refusalOf(path);
    expect([answered, body.error_code]).toEqual([status, code]);
    expect(body).toEqual({
      message: expect.stringMatching(/./),
      error_code: code,
      vm_error_code: null,
    });
  });

  test('a page beyond the ledger has the message of a fullnode', async () => {
    mineTwo();
    const [, body] = await refusalOf('/transactions?start=1000000');
    expect(body.message).toBe(
      'Given start value (1000000) is higher than the current ledger version, it must be < 6',
    );
  });

  test('views of missing objects, unknown views, and views in BCS', async () => {
    const gone = await view({ function: '0x1::object::owner', arguments: ['0x77'] });
    expect([gone.status, await gone.json()]).toMatchObject([400, { vm_error_code: 4008 }]);
    for (const call of [
      { function: '0x1::a::b' },
      { arguments: [] },
      { function: '0x1::object::owner' },
    ]) {
      expect((await view(call)).status).toBe(400);
    }
    const bcs = await fetch(`${node.url}/view`, {
      method: 'POST',
      headers: { 'content-type': 'application/x.aptos.view_function+bcs' },
      body: 'x',
    });
    expect([bcs.status, await bcs.json()]).toMatchObject([
      415,
      { error_code: 'bcs_not_supported' },
    ]);
  });
});

describe('troubles', () => {
  test('lag: data and headers lack the newest blocks', async () => {
    mineTwo();
    node.trouble({ kind: 'lag', blocks: 1 });
    expect(await get('')).toMatchObject({ ledger_version: '3', block_height: '1' });
    expect(versionsOf(await get('/transactions?start=2&limit=9'))).toEqual(['2', '3']);
    const [status] = await refusalOf('/transactions/by_version/4');
    const [start] = await refusalOf('/transactions?start=4');
    const [height] = await refusalOf('/blocks/by_height/2');
    expect([status, start, height]).toEqual([404, 400, 404]);
    node.heal();
    expect(await get('')).toMatchObject({ ledger_version: '6' });
  });

  test('pruned: older versions and partly pruned blocks are missing', async () => {
    mineTwo();
    node.trouble({ kind: 'pruned', belowVersion: 2n });
    expect(await get('')).toMatchObject({ oldest_ledger_version: '2', oldest_block_height: '2' });
    expect(versionsOf(await get('/transactions?start=2&limit=2'))).toEqual(['2', '3']);
    for (const [path, code] of [
      ['/transactions?start=1', 'version_pruned'],
      ['/transactions/by_version/1', 'version_pruned'],
      ['/accounts/0x1?ledger_version=1', 'version_pruned'],
      ['/blocks/by_version/1', 'version_pruned'],
      ['/blocks/by_version/2', 'block_pruned'],
      ['/blocks/by_height/1', 'block_pruned'],
    ] as const) {
      const [status, body] = await refusalOf(path);
      expect([path, status, body.error_code]).toEqual([path, 410, code]);
    }
  });

  test('pruned: a ledger with `keptBlocks` lacks older blocks', async () => {
    await node.stop();
    node = await startScriptedAptos({ keptBlocks: 2 });
    node.mineMany(5);
    expect(await get('')).toMatchObject({ oldest_ledger_version: '7', oldest_block_height: '4' });
    const [status, body] = await refusalOf('/blocks/by_height/3');
    expect([status, body.error_code]).toEqual([410, 'block_pruned']);
    expect((await refusalOf('/transactions?start=6'))[0]).toBe(410);
    expect(versionsOf(await get('/transactions?start=7'))).toHaveLength(4);
  });

  test('pruned: the newest block stays', async () => {
    mineTwo();
    node.trouble({ kind: 'pruned', belowVersion: 1_000n });
    expect(await get('')).toMatchObject({ oldest_ledger_version: '4', oldest_block_height: '2' });
  });

  test('rateLimit: the response is that of a gateway or of a busy node', async () => {
    node.trouble({ kind: 'rateLimit', retryAfterSeconds: 7, times: 1 });
    node.trouble({ kind: 'rateLimit', status: 503, times: 1 });
    const [gateway, busy, fine] = [
      await fetch(node.url),
      await fetch(node.url),
      await fetch(node.url),
    ];
    expect([gateway.status, gateway.headers.get('retry-after')]).toEqual([429, '7']);
    expect(busy.status).toBe(503);
    expect(await busy.json()).toMatchObject({ error_code: 'internal_error' });
    expect(fine.status).toBe(200);
  });

  test('truncatedPage: pages are half, limited or empty, and not counted if they fit', async () => {
    mineTwo();
    node.trouble({ kind: 'truncatedPage', times: 1 });
    node.trouble({ kind: 'truncatedPage', limit: 5, times: 1 });
    node.trouble({ kind: 'truncatedPage', limit: 0, times: 1 });
    const page = async (limit: number) => {
      return versionsOf(await get(`/transactions?start=0&limit=${limit}`)).length;
    };
    expect(await page(6)).toBe(3);
    expect(await page(5)).toBe(0);
    expect(await page(5)).toBe(5);
    expect(await page(6)).toBe(5);
    expect(await page(6)).toBe(6);
  });

  test('versionGap: a page lacks a version', async () => {
    mineTwo();
    node.trouble({ kind: 'versionGap', times: 1 });
    expect(versionsOf(await get('/transactions?start=0&limit=2'))).toEqual(['0', '1']);
    expect(versionsOf(await get('/transactions?start=0&limit=5'))).toEqual(['0', '1', '3', '4']);
    expect(versionsOf(await get('/transactions?start=0&limit=5'))).toHaveLength(5);
  });

  test('wrongChainId: the response and its headers have it', async () => {
    node.trouble({ kind: 'wrongChainId', chainId: 1 });
    const response = await fetch(node.url);
    expect(await response.json()).toMatchObject({ chain_id: 1 });
    expect(response.headers.get('x-aptos-chain-id')).toBe('1');
  });

  test('httpError, internalError and malformedJson: the responses are those of a proxy and a node', async () => {
    node.trouble({ kind: 'httpError', status: 502, times: 1 });
    const proxy = await fetch(node.url);
    expect([proxy.status, proxy.headers.get('content-type')]).toEqual([502, 'text/html']);
    node.trouble({ kind: 'internalError', times: 1 });
    const broken = await fetch(node.url);
    expect([broken.status, await broken.json()]).toMatchObject([
      500,
      { error_code: 'internal_error' },
    ]);
    node.trouble({ kind: 'malformedJson', times: 1 });
    const cut = await fetch(node.url);
    expect(cut.status).toBe(200);
    await expect(cut.json()).rejects.toThrow(SyntaxError);
  });

  test('routes and every: only these requests are affected', async () => {
    node.trouble({ kind: 'httpError', status: 502, routes: ['transactions'], every: 2 });
    const statuses: number[] = [];
    for (const path of [
      '',
      '/transactions',
      '',
      '/transactions',
      '/transactions',
      '/transactions',
    ]) {
      statuses.push((await fetch(`${node.url}${path}`)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 502, 200, 502]);
  });

  test('a hang lasts until the node stops; a delay ends', async () => {
    node.trouble({ kind: 'hang', times: 1 });
    const hung = fetch(node.url).then(
      () => 'answered',
      () => 'broken',
    );
    node.trouble({ kind: 'delay', delayMs: 50, routes: ['healthy'] });
    const begun = performance.now();
    await get('/-/healthy');
    expect(performance.now() - begun).toBeGreaterThanOrEqual(45);
    await node.stop();
    expect(await hung).toBe('broken');
    node = await startScriptedAptos();
  });

  test('several nodes of one ledger have their own troubles and counts', async () => {
    const other = await startScriptedAptos({ ledger: node });
    try {
      node.trouble({ kind: 'lag', blocks: 1 });
      other.mine({ transactions: [pay] });
      expect(await get('')).toMatchObject({ block_height: '0' });
      expect(await get('', other)).toMatchObject({ block_height: '1' });
      expect([node.calls, other.calls]).toEqual([{ ledger: 1 }, { ledger: 1 }]);
      expect(other.head).toBe(node.head);
    } finally {
      await other.stop();
    }
  });
});
