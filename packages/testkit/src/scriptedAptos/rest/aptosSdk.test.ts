/**
 * Tests that the official Aptos client can read from the scripted node, and that it derives the
 * same addresses as the scripted ledger.
 */
import {
  AccountAddress,
  Aptos,
  AptosApiError,
  AptosConfig,
  Network,
  createObjectAddress,
  createTokenAddress,
  createUserDerivedObjectAddress,
} from '@aptos-labs/ts-sdk';
import type { Hex } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  aptMetadata,
  namedObjectOf,
  namedTokenOf,
  primaryStoreOf,
} from '../ledger/aptosAddress.ts';
import { scriptedAptos } from '../ledger/scriptedAptos.ts';
import { type RunningScriptedAptos, startScriptedAptos } from './startScriptedAptos.ts';

const alice: Hex = `0x${'a1'.repeat(32)}`;
const bob: Hex = `0x${'b0'.repeat(32)}`;
const pay = scriptedAptos.transfer({ from: alice, to: bob, amount: 5n });

let node: RunningScriptedAptos;
let aptos: Aptos;

beforeEach(async () => {
  node = await startScriptedAptos();
  aptos = new Aptos(new AptosConfig({ network: Network.LOCAL, fullnode: node.url }));
});
afterEach(() => node.stop());

test('the client derives the same addresses', () => {
  const owner = AccountAddress.from(alice);
  const apt = AccountAddress.from(aptMetadata);
  expect(createUserDerivedObjectAddress(owner, apt).toString()).toBe(
    primaryStoreOf(alice, aptMetadata),
  );
  expect(createObjectAddress(owner, 'GLD').toString()).toBe(namedObjectOf(alice, 'GLD'));
  expect(createTokenAddress(owner, 'Cats', 'Tom').toString()).toBe(
    namedTokenOf(alice, 'Cats', 'Tom'),
  );
});

test('the client reads the ledger, transactions and resources', async () => {
  const [, payment] = node.mine({ transactions: [pay] }).transactions;
  node.mine({ end: 'state_checkpoint' });
  expect(await aptos.getLedgerInfo()).toMatchObject({ ledger_version: '5', block_height: '2' });
  expect(await aptos.getTransactions({ options: { offset: 0, limit: 100 } })).toEqual(
    node.blocks().flatMap(({ transactions }) => transactions),
  );
  expect(await aptos.getTransactionByHash({ transactionHash: payment!.hash })).toEqual(payment);
  const object = {
    accountAddress: primaryStoreOf(bob, aptMetadata),
    resourceType: '0x1::object::ObjectCore',
  } as const;
  expect(await aptos.getAccountResource(object)).toMatchObject({ owner: bob });
  await expect(
    aptos.getAccountResource({ ...object, options: { ledgerVersion: 1 } }),
  ).rejects.toThrow('resource_not_found');
});

test('the client reads a block that is larger than a page', async () => {
  node.mine({ transactions: Array(130).fill(pay) });
  const options = { withTransactions: true };
  const byHeight = await aptos.getBlockByHeight({ blockHeight: 1, options });
  expect(byHeight).toMatchObject({ block_hash: node.head.hash, last_version: '132' });
  expect(await aptos.getBlockByVersion({ ledgerVersion: 77, options })).toEqual(byHeight);
});

test('the client reads the code of an error', async () => {
  node.mineMany(3);
  node.trouble({ kind: 'pruned', belowVersion: 4n });
  const refused: unknown = await aptos
    .getBlockByVersion({ ledgerVersion: 1 })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(AptosApiError);
  expect(refused).toMatchObject({ status: 410, data: { error_code: 'version_pruned' } });
});
