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
  type TransactionResponse,
  createObjectAddress,
  createTokenAddress,
  createUserDerivedObjectAddress,
  isBlockEpilogueTransactionResponse,
  isBlockMetadataTransactionResponse,
  isFeePayerSignature,
  isMultiAgentSignature,
  isUserTransactionResponse,
} from '@aptos-labs/ts-sdk';
import type { Hex } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  aptMetadata,
  namedObjectOf,
  namedTokenOf,
  primaryStoreOf,
} from '../ledger/aptosAddress.ts';
import { scriptedAptos } from '../ledger/transactions/scriptedAptos.ts';
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

const plain = (transactions: readonly TransactionResponse[]) =>
  transactions.map((each) => ('version' in each ? `${each.version} ${each.type}` : each.type));

describe('the client derives the same addresses', () => {
  const owner = AccountAddress.from(alice);

  test('for primary stores, named objects and tokens', () => {
    const apt = AccountAddress.from(aptMetadata);
    expect(createUserDerivedObjectAddress(owner, apt).toString()).toBe(
      primaryStoreOf(alice, aptMetadata),
    );
    expect(createObjectAddress(owner, 'GLD').toString()).toBe(namedObjectOf(alice, 'GLD'));
    expect(createTokenAddress(owner, 'Cats', 'Tom').toString()).toBe(
      namedTokenOf(alice, 'Cats', 'Tom'),
    );
  });
});

describe('the client reads', () => {
  test('the ledger', async () => {
    node.mine();
    expect(await aptos.getLedgerInfo()).toMatchObject({ ledger_version: '2', block_height: '1' });
    expect(await aptos.getChainId()).toBe(4);
  });

  test('transactions of every kind', async () => {
    const executor = AccountAddress.from('0xe').toString();
    node.mine({
      transactions: [
        pay,
        scriptedAptos.coinTransfer({ from: alice, to: bob, amount: 5n }),
        scriptedAptos.sponsored(pay, executor),
        scriptedAptos.multiAgent(pay, [executor]),
        scriptedAptos.multisig(pay, { multisig: alice, executor }),
        scriptedAptos.script({ sender: alice }),
        scriptedAptos.failed(pay),
        scriptedAptos.orderless(pay, 9n),
      ],
    });
    node.mine({ end: 'state_checkpoint' });
    const read = await aptos.getTransactions({ options: { offset: 0, limit: 100 } });
    expect(plain(read)).toEqual([
      '0 genesis_transaction',
      '1 block_metadata_transaction',
      ...[2, 3, 4, 5, 6, 7, 8, 9].map((version) => `${version} user_transaction`),
      '10 block_epilogue_transaction',
      '11 block_metadata_transaction',
      '12 state_checkpoint_transaction',
    ]);
    expect(read).toEqual(node.blocks().flatMap(({ transactions }) => transactions));

    expect(isBlockMetadataTransactionResponse(read[1] as TransactionResponse)).toBe(true);
    expect(isBlockEpilogueTransactionResponse(read[10] as TransactionResponse)).toBe(true);
    const users = read.filter(isUserTransactionResponse);
    expect(users.map(({ success }) => success)).toEqual([
      ...Array<boolean>(6).fill(true),
      false,
      true,
    ]);
    const signatures = users.map(({ signature }) => {
      if (!signature) return 'none';
      if (isFeePayerSignature(signature)) return signature.fee_payer_address;
      if (isMultiAgentSignature(signature)) return signature.secondary_signer_addresses;
      return signature.type;
    });
    expect(signatures.slice(2, 5)).toEqual(['0xe', ['0xe'], 'ed25519_signature']);
  });

  test('one transaction, by version and by hash', async () => {
    const { transactions } = node.mine({ transactions: [pay] });
    const hash = transactions[1]?.hash as string;
    expect(await aptos.getTransactionByVersion({ ledgerVersion: 2 })).toEqual(transactions[1]);
    expect(await aptos.getTransactionByHash({ transactionHash: hash })).toEqual(transactions[1]);
    expect(await aptos.waitForTransaction({ transactionHash: hash })).toEqual(transactions[1]);
  });

  test('blocks, including one that is larger than a page', async () => {
    node.mine({ transactions: Array(130).fill(pay) });
    const options = { withTransactions: true };
    const byHeight = await aptos.getBlockByHeight({ blockHeight: 1, options });
    expect(byHeight).toMatchObject({ block_hash: node.head.hash, last_version: '132' });
    expect(byHeight.transactions).toEqual(node.head.transactions);
    const byVersion = await aptos.getBlockByVersion({ ledgerVersion: 77, options });
    expect(byVersion).toEqual(byHeight);
  });

  test('accounts, resources and modules', async () => {
    const coinStore = '0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>';
    node.mine({
      transactions: [
        scriptedAptos.coinTransfer({ from: alice, to: bob, amount: 5n }),
        scriptedAptos.call({
          sender: alice,
          function: '0x1::code::publish_package_txn',
          effects: [{ kind: 'writeModule', address: alice, name: 'game' }],
        }),
      ],
    });
    expect(await aptos.getAccountInfo({ accountAddress: alice })).toMatchObject({
      sequence_number: '2',
    });
    const held = { accountAddress: bob, resourceType: coinStore } as const;
    expect(await aptos.getAccountResource(held)).toMatchObject({
      coin: { value: '1000000000000005' },
    });
    const types = (await aptos.getAccountResources({ accountAddress: bob })).map(
      ({ type }) => type,
    );
    expect(types).toEqual(['0x1::account::Account', coinStore]);
    const modules = await aptos.getAccountModules({ accountAddress: alice });
    expect(modules.map(({ abi }) => abi?.name)).toEqual(['game']);
    const options = { ledgerVersion: 1 };
    await expect(aptos.getAccountResource({ ...held, options })).rejects.toThrow(
      'resource_not_found',
    );
  });

  test('views', async () => {
    node.mine({ transactions: [pay] });
    const call = (name: `${string}::${string}::${string}`, ...functionArguments: string[]) =>
      aptos.viewJson({ payload: { function: name, functionArguments } });
    expect(await call('0x1::fungible_asset::symbol', '0xa')).toEqual(['APT']);
    const store = primaryStoreOf(bob, aptMetadata);
    expect(await call('0x1::object::owner', store)).toEqual([bob]);
  });

  test('errors with their code', async () => {
    node.mineMany(3);
    node.trouble({ kind: 'pruned', belowVersion: 4n });
    const refused = await aptos
      .getTransactionByVersion({ ledgerVersion: 1 })
      .catch((error) => error);
    expect(refused).toBeInstanceOf(AptosApiError);
    expect(refused).toMatchObject({ status: 410, data: { error_code: 'version_pruned' } });
  });
});
