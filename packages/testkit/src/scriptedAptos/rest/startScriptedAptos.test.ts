import type { Hex } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RestTransaction } from '../ledger/restTransaction.ts';
import { scriptedAptos } from '../ledger/scriptedAptos.ts';
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
async function refusalOf(path: string): Promise<[number, { error_code: string; message: string }]> {
  const response = await fetch(`${node.url}${path}`);
  return [response.status, (await response.json()) as { error_code: string; message: string }];
}

const versionsOf = (page: unknown) => (page as RestTransaction[]).map(({ version }) => version);

/** Mines two blocks of three versions each, after the genesis version. */
function mineTwo() {
  node.mine({ transactions: [pay] });
  node.mine({ transactions: [pay] });
}

describe('the node returns', () => {
  test('the ledger info', async () => {
    mineTwo();
    expect(await get('')).toMatchObject({
      chain_id: 4,
      ledger_version: '6',
      oldest_ledger_version: '0',
      ledger_timestamp: '1700000000500000',
      oldest_block_height: '0',
      block_height: '2',
    });
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

  test('a transaction by hash', async () => {
    mineTwo();
    const transaction = node.transactionAt(2n);
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

  test('a resource at every version, in any spelling of its type', async () => {
    node.mine({ transactions: [scriptedAptos.coinTransfer({ from: alice, to: bob, amount: 1n })] });
    node.mine({ transactions: [scriptedAptos.coinTransfer({ from: alice, to: bob, amount: 2n })] });
    const type = '0x0001::coin::CoinStore<0x1::aptos_coin::AptosCoin>';
    const path = `/accounts/0xb0b/resource/${encodeURIComponent(type)}`;
    const coinStore = (value: string) => ({
      type: '0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>',
      data: { coin: { value } },
    });
    expect(await get(path)).toMatchObject(coinStore('2'));
    expect(await get(`${path}?ledger_version=4`)).toMatchObject(coinStore('1'));
    expect(await refusalOf(`${path}?ledger_version=1`)).toMatchObject([
      404,
      { error_code: 'resource_not_found' },
    ]);
  });

  test('calls are counted by route', async () => {
    await get('');
    await get('/transactions');
    await get('/transactions');
    expect(node.calls).toEqual({ ledger: 1, transactions: 2 });
  });
});

describe('refusals', () => {
  test.each([
    [`/transactions/by_hash/0x${'77'.repeat(32)}`, 404, 'transaction_not_found'],
    ['/transactions?start=77', 400, 'invalid_input'],
    ['/transactions?limit=0', 400, 'invalid_input'],
    ['/transactions?start=-1', 400, 'web_framework_error'],
    ['/blocks/by_height/77', 404, 'block_not_found'],
    ['/blocks/by_version/77', 404, 'version_not_found'],
    ['/accounts/0x1/resource/0x1::a::B?ledger_version=77', 404, 'version_not_found'],
    ['/accounts/0x1/resource/0x1::a::B', 404, 'resource_not_found'],
    ['/nothing', 404, 'web_framework_error'],
  ])('the response to %s has status %d and code %s', async (path, status, code) => {
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
});

describe('troubles', () => {
  test('lag: the newest blocks are missing', async () => {
    mineTwo();
    node.trouble({ kind: 'lag', blocks: 1 });
    expect(await get('')).toMatchObject({ ledger_version: '3', block_height: '1' });
    expect(versionsOf(await get('/transactions?start=2&limit=9'))).toEqual(['2', '3']);
    const [start] = await refusalOf('/transactions?start=4');
    const [height] = await refusalOf('/blocks/by_height/2');
    expect([start, height]).toEqual([400, 404]);
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
      ['/accounts/0x1/resource/0x1::a::B?ledger_version=1', 'version_pruned'],
      ['/blocks/by_version/1', 'version_pruned'],
      ['/blocks/by_version/2', 'block_pruned'],
      ['/blocks/by_height/1', 'block_pruned'],
    ] as const) {
      const [status, body] = await refusalOf(path);
      expect([path, status, body.error_code]).toEqual([path, 410, code]);
    }
  });

  test('pruned: the newest block stays', async () => {
    mineTwo();
    node.trouble({ kind: 'pruned', belowVersion: 1_000n });
    expect(await get('')).toMatchObject({ oldest_ledger_version: '4', oldest_block_height: '2' });
  });

  test('affect only the listed routes, or every second request', async () => {
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
