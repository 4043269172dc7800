import fc from 'fast-check';
import type { Hex } from 'viem';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  aptCoinType,
  aptMetadata,
  namedTokenOf,
  primaryStoreOf,
  toLongAddress,
  toShortAddress,
} from './aptosAddress.ts';
import { aptosEffects } from './aptosEffects.ts';
import type { RestEvent, RestTransaction } from './restTransaction.ts';
import { scriptedAptos } from './scriptedAptos.ts';
import { type ScriptedAptosLedger, createScriptedAptosLedger } from './scriptedAptosLedger.ts';
import type { ScriptedAptosTransaction } from './scriptedAptosTransaction.ts';

const alice: Hex = `0x${'a1'.repeat(32)}`;
const bob: Hex = '0xb0b';
const carol: Hex = `0x${'ca'.repeat(32)}`;
const pay = scriptedAptos.transfer({ from: alice, to: bob, amount: 5n });

let ledger: ScriptedAptosLedger;

beforeEach(() => {
  ledger = createScriptedAptosLedger();
});

/** Mines the transaction and returns it in the REST API's format. */
const mine = (transaction: ScriptedAptosTransaction): RestTransaction =>
  ledger.mine({ transactions: [transaction] }).transactions[1]!;

/** Returns the events other than the fee statement. */
const eventsOf = ({ events = [] }: RestTransaction): RestEvent[] =>
  events.filter(({ type }) => !type.endsWith('::FeeStatement'));

/** Formats each change of a resource as its address and type. */
const changesOf = ({ changes }: RestTransaction): string[] =>
  changes.map((change) => {
    if (change.type === 'write_table_item') return change.type;
    const { address } = change;
    return change.type === 'delete_resource'
      ? `- ${address} ${change.resource}`
      : `+ ${address} ${change.data.type}`;
  });

const ownerOf = (object: Hex, version = ledger.head.lastVersion) =>
  (ledger.readResource(object, '0x1::object::ObjectCore', version) as { owner: string } | undefined)
    ?.owner;

describe('blocks', () => {
  test('block 0 has only the genesis transaction', () => {
    expect(ledger.head).toMatchObject({ height: 0n, firstVersion: 0n, lastVersion: 0n });
    expect(ledger.transactionAt(0n)).toMatchObject({ version: '0', type: 'genesis_transaction' });
  });

  test('a block begins with its metadata and ends with its epilogue', () => {
    const block = ledger.mine({ transactions: [pay, pay] });
    expect(block).toMatchObject({ height: 1n, firstVersion: 1n, lastVersion: 4n });
    expect(block.transactions.map(({ version, type }) => `${version} ${type}`)).toEqual([
      '1 block_metadata_transaction',
      '2 user_transaction',
      '3 user_transaction',
      '4 block_epilogue_transaction',
    ]);
    expect(block.transactions[0]).toMatchObject({
      id: block.hash,
      timestamp: '1700000000250000',
      events: [{ type: '0x1::block::NewBlockEvent', sequence_number: '1' }],
    });
  });

  test('an older block ends with a state checkpoint', () => {
    const block = ledger.mine({ end: 'state_checkpoint', timestampUsecs: 1_700_000_000_000_001n });
    expect(block.transactions.at(-1)).toMatchObject({
      type: 'state_checkpoint_transaction',
      timestamp: '1700000000000001',
    });
  });

  test('timestamps must increase', () => {
    const before = ledger.head;
    expect(() => ledger.mine({ timestampUsecs: 1_700_000_000_000_000n })).toThrow(
      'timestampUsecs 1700000000000000 must be above 1700000000000000',
    );
    expect(ledger.head).toBe(before);
  });

  test('versions are contiguous and belong to one block each, from any start', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 5 }), { maxLength: 20 }), fc.nat(), (counts, height) => {
        const start = { height: BigInt(height), version: BigInt(height) * 3n };
        const chain = createScriptedAptosLedger({ start });
        for (const count of counts) chain.mine({ transactions: Array(count).fill(pay) });
        let next = start.version;
        for (const block of chain.blocks()) {
          expect(block.firstVersion).toBe(next);
          expect(chain.blockAt(block.height)).toBe(block);
          for (const transaction of block.transactions) {
            expect(transaction.version).toBe(String(next));
            expect(chain.transactionAt(next)).toBe(transaction);
            expect(chain.transactionOf(transaction.hash)).toBe(transaction);
            expect(chain.blockOfVersion(next)).toBe(block);
            next += 1n;
          }
          expect(block.lastVersion).toBe(next - 1n);
        }
        expect(chain.blockOfVersion(next)).toBeUndefined();
        expect(chain.blockOfVersion(start.version - 1n)).toBeUndefined();
        expect(chain.transactionAt(next)).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });

  test('ledgers are equal for equal seeds and scripts, and otherwise differ', () => {
    const hashes = (seed: string, amount: bigint, chainId = 4) => {
      const chain = createScriptedAptosLedger({ seed, chainId });
      chain.mine({ transactions: [scriptedAptos.transfer({ from: alice, to: bob, amount })] });
      return chain
        .blocks()
        .flatMap(({ hash, transactions }) => [hash, ...transactions.map((each) => each.hash)]);
    };
    const made = hashes('one', 1n);
    expect(hashes('one', 1n)).toEqual(made);
    expect(new Set([...made, ...hashes('two', 1n), ...hashes('one', 1n, 2)]).size).toBe(
      3 * made.length,
    );
    expect(hashes('one', 2n).filter((hash) => !made.includes(hash))).toHaveLength(2);
  });
});

test('addresses are stored long and printed short', () => {
  expect(toLongAddress('0xA')).toBe(aptMetadata);
  expect(toShortAddress(aptMetadata)).toBe('0xa');
  expect(toShortAddress('0x0')).toBe('0x0');
  expect(toShortAddress(`0x0${'f'.repeat(63)}`)).toBe(`0x${'f'.repeat(63)}`);
  for (const wrong of ['', '0x', '0xg', `0x${'1'.repeat(65)}`]) {
    expect(() => toLongAddress(wrong)).toThrow('An Aptos address is 0x and 1 to 64 hex digits');
  }
});

describe('effects', () => {
  const [from, to] = [primaryStoreOf(alice, aptMetadata), primaryStoreOf(bob, aptMetadata)];

  test('of a transfer are two events, and the stores with their owners', () => {
    const transaction = mine(pay);
    const guid = { creation_number: '0', account_address: '0x0' };
    const event = { guid, sequence_number: '0' };
    expect(eventsOf(transaction)).toEqual([
      {
        ...event,
        type: '0x1::fungible_asset::Withdraw',
        data: { amount: '5', store: toShortAddress(from) },
      },
      {
        ...event,
        type: '0x1::fungible_asset::Deposit',
        data: { amount: '5', store: toShortAddress(to) },
      },
    ]);
    expect(changesOf(transaction).toSorted()).toEqual(
      [
        `+ ${alice} 0x1::account::Account`,
        ...[from, to].flatMap((store) => [
          `+ ${toShortAddress(store)} 0x1::fungible_asset::FungibleStore`,
          `+ ${toShortAddress(store)} 0x1::object::ObjectCore`,
        ]),
      ].toSorted(),
    );
    expect([ownerOf(from), ownerOf(to)]).toEqual([alice, '0xb0b']);
  });

  test('can hide the owners of stores, which are in the state', () => {
    const changes = changesOf(mine({ ...pay, showsStoreOwners: false }));
    expect(changes.some((each) => each.endsWith('FungibleStore'))).toBe(true);
    expect(changes.some((each) => each.endsWith('ObjectCore'))).toBe(false);
    expect(ownerOf(to)).toBe('0xb0b');
  });

  test('of a closed store delete it, and the state of each version remains', () => {
    const address: Hex = `0x${'57'.repeat(32)}`;
    const store = { address, owner: alice, metadata: aptMetadata };
    const vault = { sender: alice, function: '0x5::vault::run' };
    mine(scriptedAptos.call({ ...vault, effects: aptosEffects.writeStore(store) }));
    const effects = [
      ...aptosEffects.fungibleWithdraw(store, 7n),
      ...aptosEffects.deleteStore(store),
    ];
    const closed = mine(scriptedAptos.call({ ...vault, effects }));
    expect(eventsOf(closed).map(({ type }) => type.split('::')[2])).toEqual([
      'Withdraw',
      'FungibleStoreDeletion',
    ]);
    expect(changesOf(closed).filter((line) => line.includes(address))).toEqual([
      `- ${address} 0x1::fungible_asset::FungibleStore`,
      `- ${address} 0x1::object::ObjectCore`,
    ]);
    const version = BigInt(closed.version);
    expect([ownerOf(address, version - 1n), ownerOf(address)]).toEqual([alice, undefined]);
  });

  test('of a coin transfer number legacy events by handle', () => {
    const transfer = { from: alice, to: bob, amount: 5n, events: 'both' } as const;
    mine(scriptedAptos.coinTransfer(transfer));
    const second = mine(scriptedAptos.coinTransfer(transfer));
    expect(eventsOf(second).map(({ type, sequence_number }) => [type, sequence_number])).toEqual([
      ['0x1::coin::CoinWithdraw', '0'],
      ['0x1::coin::WithdrawEvent', '1'],
      ['0x1::coin::CoinDeposit', '0'],
      ['0x1::coin::DepositEvent', '1'],
    ]);
    const type = `0x1::coin::CoinStore<${aptCoinType}>`;
    const [, withdrawal] = eventsOf(second);
    expect(ledger.readResource(alice, type, ledger.head.lastVersion)).toMatchObject({
      withdraw_events: { guid: { id: { creation_num: withdrawal!.guid.creation_number } } },
    });
  });

  test('of tokens move an object', () => {
    const object = namedTokenOf(carol, 'Cats', 'Tom');
    mine(scriptedAptos.tokenMint({ creator: carol, collection: 'Cats', name: 'Tom', to: alice }));
    expect(ownerOf(object)).toBe(alice);
    const moved = mine(
      scriptedAptos.tokenTransfer({ from: alice, to: bob, object, events: 'legacy' }),
    );
    expect(eventsOf(moved)).toMatchObject([
      {
        guid: { account_address: object },
        type: '0x1::object::TransferEvent',
        data: { from: alice, object, to: '0xb0b' },
      },
    ]);
    expect(ownerOf(object)).toBe('0xb0b');
  });

  test('of a failed transaction are only its gas', () => {
    const failed = mine({ ...pay, failure: 'Move abort' });
    expect(failed).toMatchObject({ success: false, vm_status: 'Move abort', gas_used: '12' });
    expect(eventsOf(failed)).toEqual([]);
    expect(ownerOf(to)).toBeUndefined();
  });
});

describe('transactions', () => {
  test('count by sender, unless they have a nonce', () => {
    const [first, orderless, second] = [pay, { ...pay, replayProtectionNonce: 77n }, pay].map(mine);
    expect(first).toMatchObject({ sequence_number: '0', replay_protection_nonce: null });
    expect(orderless).toMatchObject({
      sequence_number: '18446744073709551615',
      replay_protection_nonce: '77',
    });
    expect(second).toMatchObject({ sequence_number: '1' });
  });

  test('can have several signers and a fee payer', () => {
    expect(mine({ ...pay, secondarySigners: [carol, bob] })['signature']).toMatchObject({
      type: 'multi_agent_signature',
      secondary_signer_addresses: [carol, '0xb0b'],
    });
    expect(mine({ ...pay, feePayer: carol })['signature']).toMatchObject({
      type: 'fee_payer_signature',
      fee_payer_address: carol,
    });
  });

  test('of a multisig account contain the call, unless it is stored', () => {
    const parties = { multisig: alice, executor: carol };
    expect(mine(scriptedAptos.multisig(pay, parties))).toMatchObject({
      sender: carol,
      payload: {
        type: 'multisig_payload',
        multisig_address: alice,
        transaction_payload: {
          function: '0x1::aptos_account::transfer',
          arguments: ['0xb0b', '5'],
        },
      },
    });
    const stored = mine(scriptedAptos.multisig(pay, { ...parties, stored: true }));
    expect(stored['payload']).toEqual({ type: 'multisig_payload', multisig_address: alice });
  });
});
