import fc from 'fast-check';
import type { Hex } from 'viem';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  aptCoinType,
  aptMetadata,
  namedObjectOf,
  namedTokenOf,
  primaryStoreOf,
  toLongAddress,
  toShortAddress,
} from './aptosAddress.ts';
import type { RestEvent, RestUserTransaction } from '../rest/restShapes.ts';
import { type ScriptedAptosLedger, createScriptedAptosLedger } from './scriptedAptosLedger.ts';
import type { ScriptedAptosTransaction } from './transactions/scriptedAptosTransaction.ts';
import { scriptedAptos } from './transactions/scriptedAptos.ts';

const alice: Hex = `0x${'a1'.repeat(32)}`;
const bob: Hex = '0xb0b';
const carol: Hex = `0x${'ca'.repeat(32)}`;
const start = 10n ** 15n;

let ledger: ScriptedAptosLedger;

beforeEach(() => {
  ledger = createScriptedAptosLedger();
});

/**
 * Mines the transactions in one block and returns the user transactions in the REST API's format.
 */
function mine(...transactions: ScriptedAptosTransaction[]): RestUserTransaction[] {
  return ledger
    .mine({ transactions })
    .transactions.filter((each) => each.type === 'user_transaction');
}

function mineOne(transaction: ScriptedAptosTransaction): RestUserTransaction {
  return mine(transaction)[0] as RestUserTransaction;
}

/** Returns the events other than the fee statement. */
function eventsOf(transaction: RestUserTransaction): RestEvent[] {
  return transaction.events.filter(({ type }) => !type.endsWith('::FeeStatement'));
}

/**
 * Formats each change as its address, if it has one, and the type of its resource; a change without
 * a resource has its own type.
 */
function changesOf(transaction: RestUserTransaction): string[] {
  return transaction.changes.map((change) => {
    if (!('address' in change)) return change.type;
    const type = 'data' in change && 'type' in change.data ? change.data.type : change.type;
    return `${change.address} ${type}`;
  });
}

const balanceOf = (store: Hex, version?: bigint) =>
  (
    ledger.readResource(store, '0x1::fungible_asset::FungibleStore', version) as
      | { balance: string }
      | undefined
  )?.balance;

const ownerOf = (object: Hex, version?: bigint) =>
  (ledger.readResource(object, '0x1::object::ObjectCore', version) as { owner: string } | undefined)
    ?.owner;

describe('blocks', () => {
  test('block 0 has only the genesis transaction', () => {
    expect(ledger.head).toMatchObject({ height: 0n, firstVersion: 0n, lastVersion: 0n });
    expect(ledger.transactionAt(0n)).toMatchObject({ version: '0', type: 'genesis_transaction' });
  });

  test('a block begins with its metadata and ends with its epilogue', () => {
    const pay = scriptedAptos.transfer({ from: alice, to: bob, amount: 5n });
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
    const checkpoints = block.transactions.map((each) => each.state_checkpoint_hash !== null);
    expect(checkpoints).toEqual([false, false, false, true]);
  });

  test('an older block ends with a state checkpoint', () => {
    const block = ledger.mine({ end: 'state_checkpoint', timestampUsecs: 1_700_000_000_000_001n });
    expect(block.transactions.at(-1)).toMatchObject({
      type: 'state_checkpoint_transaction',
      timestamp: '1700000000000001',
    });
  });

  test('timestamps must increase', () => {
    expect(() => ledger.mine({ timestampUsecs: 1_700_000_000_000_000n })).toThrow(
      'timestampUsecs 1700000000000000 must be above 1700000000000000',
    );
  });

  test('epochs last two hours', () => {
    const last = ledger.mine({ timestampUsecs: 1_700_000_000_000_000n + 7_199_999_999n });
    const next = ledger.mine({ timestampUsecs: 1_700_000_000_000_000n + 7_200_000_000n });
    expect([last.epoch, next.epoch]).toEqual([1n, 2n]);
  });

  test('versions are contiguous and belong to one block each', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 5 }), { maxLength: 20 }), (counts) => {
        const chain = createScriptedAptosLedger();
        const pay = scriptedAptos.transfer({ from: alice, to: bob, amount: 1n });
        for (const count of counts) chain.mine({ transactions: Array(count).fill(pay) });
        let next = 0n;
        for (const block of chain.blocks()) {
          expect(block.firstVersion).toBe(next);
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

  test('`keptBlocks` prunes old blocks together with their state', () => {
    const chain = createScriptedAptosLedger({ keptBlocks: 3 });
    const pay = scriptedAptos.transfer({ from: alice, to: bob, amount: 1n });
    for (let count = 0; count < 9; count += 1) chain.mine({ transactions: [pay] });
    expect(chain.blocks().map(({ height }) => height)).toEqual([7n, 8n, 9n]);
    expect(chain.oldest).toBe(chain.blockAt(7n));
    const { firstVersion } = chain.oldest;
    expect([chain.transactionAt(firstVersion - 1n), chain.transactionAt(firstVersion)]).toEqual([
      undefined,
      chain.oldest.transactions[0],
    ]);
    expect(chain.blockOfVersion(firstVersion - 1n)).toBeUndefined();
    const balance = (version: bigint) =>
      chain.readResource(
        primaryStoreOf(bob, aptMetadata),
        '0x1::fungible_asset::FungibleStore',
        version,
      );
    // The second transaction of block 7 is the seventh payment; the first is the block's metadata.
    expect(balance(firstVersion)).toMatchObject({ balance: String(start + 6n) });
    expect(balance(firstVersion + 1n)).toMatchObject({ balance: String(start + 7n) });
    expect(balance(firstVersion - 3n)).toBeUndefined();
  });

  test('an impossible transaction discards the complete block', () => {
    const before = ledger.head;
    const pay = (amount: bigint) => scriptedAptos.transfer({ from: alice, to: bob, amount });
    expect(() => ledger.mine({ transactions: [pay(1n), pay(start)] })).toThrow(
      /^The store 0x[0-9a-f]{64} holds \d+, too little to withdraw 1000000000000000$/,
    );
    expect(ledger.head).toBe(before);
    expect(balanceOf(primaryStoreOf(alice, aptMetadata))).toBeUndefined();
    expect(mineOne(pay(1n)).sequence_number).toBe('0');
  });
});

describe('addresses', () => {
  test('are stored long and printed short', () => {
    expect(toLongAddress('0xA')).toBe(aptMetadata);
    expect(toShortAddress(aptMetadata)).toBe('0xa');
    expect(toShortAddress('0x0')).toBe('0x0');
    expect(toShortAddress(`0x0${'f'.repeat(63)}`)).toBe(`0x${'f'.repeat(63)}`);
    for (const wrong of ['', '0x', '0xg', `0x${'1'.repeat(65)}`]) {
      expect(() => toLongAddress(wrong)).toThrow('An Aptos address is 0x and 1 to 64 hex digits');
    }
    expect(mineOne(scriptedAptos.transfer({ from: '0x00b0b', to: alice, amount: 1n })).sender).toBe(
      '0xb0b',
    );
  });
});

describe('fungible assets', () => {
  test('move between stores whose owners are among the changes', () => {
    const transaction = mineOne(scriptedAptos.transfer({ from: alice, to: bob, amount: 5n }));
    const from = primaryStoreOf(alice, aptMetadata);
    const to = primaryStoreOf(bob, aptMetadata);
    const guid = { creation_number: '0', account_address: '0x0' };
    expect(eventsOf(transaction)).toEqual([
      {
        guid,
        sequence_number: '0',
        type: '0x1::fungible_asset::Withdraw',
        data: { amount: '5', store: from },
      },
      {
        guid,
        sequence_number: '0',
        type: '0x1::fungible_asset::Deposit',
        data: { amount: '5', store: to },
      },
    ]);
    expect(changesOf(transaction)).toEqual(
      [
        ...[
          '0x1::coin::PairedCoinType',
          '0x1::coin::PairedFungibleAssetRefs',
          '0x1::fungible_asset::ConcurrentSupply',
          '0x1::fungible_asset::Metadata',
          '0x1::object::ObjectCore',
          '0x1::primary_fungible_store::DeriveRefPod',
        ].map((type) => `0xa ${type}`),
        `${alice} 0x1::account::Account`,
        ...[from, to]
          .sort()
          .flatMap((store) => [
            `${store} 0x1::fungible_asset::FungibleStore`,
            `${store} 0x1::object::ObjectCore`,
          ]),
      ].sort((a, b) => {
        const [one, other] = [a, b].map((line) => toLongAddress(line.split(' ')[0] ?? ''));
        return one === other ? 0 : (one as string) < (other as string) ? -1 : 1;
      }),
    );
    // Gas costs 12 units at 100 octas each.
    expect([balanceOf(from), balanceOf(to)]).toEqual([
      String(start - 5n - 1_200n),
      String(start + 5n),
    ]);
    expect([ownerOf(from), ownerOf(to)]).toEqual([alice, '0xb0b']);
  });

  test('the state of every version can be read', () => {
    const pay = scriptedAptos.transfer({ from: alice, to: bob, amount: 5n });
    const store = primaryStoreOf(bob, aptMetadata);
    mine(pay, pay);
    mine(pay);
    const balances = [1n, 2n, 3n, 4n, 5n, 6n, 7n].map((version) => balanceOf(store, version));
    const [one, two, three] = [5n, 10n, 15n].map((sum) => String(start + sum));
    expect(balances).toEqual([undefined, one, two, two, two, three, three]);
  });

  test('owners can be in the state but absent from the changes', () => {
    const transaction = mineOne(
      scriptedAptos.hidingStoreOwners(scriptedAptos.transfer({ from: alice, to: bob, amount: 5n })),
    );
    const stores = [alice, bob].map((owner) => primaryStoreOf(owner, aptMetadata));
    const changes = changesOf(transaction);
    expect(changes).toEqual(
      expect.arrayContaining(stores.map((store) => `${store} 0x1::fungible_asset::FungibleStore`)),
    );
    for (const store of stores) expect(changes).not.toContain(`${store} 0x1::object::ObjectCore`);
    // 0xa is the metadata object of the asset, not a store.
    expect(changes).toContain('0xa 0x1::object::ObjectCore');
    expect(ownerOf(stores[1] as Hex)).toBe('0xb0b');
  });

  test('are created, minted, transferred and burned', () => {
    const metadata = namedObjectOf(carol, 'GLD');
    const asset = { name: 'Gold', symbol: 'GLD', decimals: 6 };
    const [created, minted, moved, burnt] = mine(
      scriptedAptos.createFungibleAsset({ creator: carol, ...asset }),
      scriptedAptos.fungibleMint({ sender: carol, to: alice, metadata, amount: 9n }),
      scriptedAptos.fungibleTransfer({ from: alice, to: bob, metadata, amount: 4n }),
      scriptedAptos.fungibleBurn({ sender: carol, from: bob, metadata, amount: 1n }),
    ).map((each) => eventsOf(each).map(({ type, data }) => [type.split('::')[2], data]));
    const [ofAlice, ofBob] = [alice, bob].map((owner) =>
      toShortAddress(primaryStoreOf(owner, metadata)),
    );
    expect({ created, minted, moved, burnt }).toEqual({
      created: [],
      minted: [['Deposit', { amount: '9', store: ofAlice }]],
      moved: [
        ['Withdraw', { amount: '4', store: ofAlice }],
        ['Deposit', { amount: '4', store: ofBob }],
      ],
      burnt: [['Withdraw', { amount: '1', store: ofBob }]],
    });
    expect(ledger.readResource(metadata, '0x1::fungible_asset::Metadata')).toMatchObject(asset);
  });

  test('a secondary store is created empty, transferred and closed', () => {
    const store: Hex = `0x${'57'.repeat(32)}`;
    const metadata = aptMetadata;
    mine(
      scriptedAptos.createStore({ sender: alice, store, owner: alice, metadata }),
      scriptedAptos.storeTransfer({
        sender: alice,
        from: primaryStoreOf(alice, metadata),
        to: store,
        amount: 7n,
      }),
      scriptedAptos.objectTransfer({ from: alice, to: bob, object: store }),
    );
    expect([balanceOf(store), ownerOf(store)]).toEqual(['7', '0xb0b']);

    const closed = mineOne(
      scriptedAptos.closeStore({ sender: bob, store, to: carol, metadata, amount: 7n }),
    );
    expect(eventsOf(closed).map(({ type }) => type)).toEqual([
      '0x1::fungible_asset::Withdraw',
      '0x1::fungible_asset::Deposit',
      '0x1::fungible_asset::FungibleStoreDeletion',
    ]);
    expect(eventsOf(closed).at(-1)?.data).toEqual({ metadata: '0xa', owner: '0xb0b', store });
    expect(changesOf(closed).filter((line) => line.startsWith(store))).toEqual([
      `${store} delete_resource`,
      `${store} delete_resource`,
    ]);
    expect(ownerOf(store)).toBeUndefined();
    expect(ownerOf(store, BigInt(closed.version) - 1n)).toBe('0xb0b');
  });

  test('missing stores, assets and objects are named in the error', () => {
    const store: Hex = `0x${'57'.repeat(32)}`;
    const move = scriptedAptos.storeTransfer({ sender: alice, from: store, to: store, amount: 1n });
    expect(() => mine(move)).toThrow(`No fungible store at ${store}`);
    const foreign = scriptedAptos.fungibleTransfer({
      from: alice,
      to: bob,
      metadata: '0xbad',
      amount: 1n,
    });
    expect(() => mine(foreign)).toThrow('No fungible asset at 0xbad');
    const object = scriptedAptos.objectTransfer({ from: alice, to: bob, object: store });
    expect(() => mine(object)).toThrow(`No object at ${store}`);
  });
});

describe('coins', () => {
  test('legacy events have the account in their guid and are numbered by handle', () => {
    const pay = scriptedAptos.coinTransfer({ from: alice, to: bob, amount: 5n });
    const [first, second] = mine(pay, pay).map(eventsOf);
    const ofAlice = { creation_number: '3', account_address: alice };
    const ofBob = { creation_number: '2', account_address: '0xb0b' };
    const withdrawal = { guid: ofAlice, type: '0x1::coin::WithdrawEvent', data: { amount: '5' } };
    const deposit = { guid: ofBob, type: '0x1::coin::DepositEvent', data: { amount: '5' } };
    expect(first).toEqual([
      { ...withdrawal, sequence_number: '0' },
      { ...deposit, sequence_number: '0' },
    ]);
    expect(second?.map((each) => each.sequence_number)).toEqual(['1', '1']);
    const storeType = `0x1::coin::CoinStore<${aptCoinType}>`;
    expect(ledger.readResource(alice, storeType)).toMatchObject({
      coin: { value: String(start - 10n - 2_400n) },
      withdraw_events: { counter: '2', guid: { id: { addr: alice, creation_num: '3' } } },
    });
  });

  test('a second coin of an account has its own handles', () => {
    const coinType = '0xc0::gold::Gold';
    const chain = createScriptedAptosLedger({
      coins: [{ coinType, name: 'Gold', symbol: 'GLD', decimals: 6 }],
    });
    const pay = scriptedAptos.coinTransfer({ from: alice, to: bob, amount: 5n, coinType });
    const [, transaction] = chain.mine({ transactions: [pay] }).transactions;
    const events = eventsOf(transaction as RestUserTransaction);
    expect(events.map(({ guid }) => guid.creation_number)).toEqual(['3', '2']);
    // Creation numbers 2 to 5 belong to the handles of Gold and of APT, which pays the gas.
    expect(chain.readResource(alice, '0x1::account::Account')).toMatchObject({
      guid_creation_num: '6',
    });
    expect(transaction).toMatchObject({ payload: { type_arguments: [coinType] } });
  });

  test('module events name the account, and both kinds can be combined', () => {
    const pay = (events: 'module' | 'both') =>
      scriptedAptos.coinTransfer({ from: alice, to: bob, amount: 5n, events });
    const [module, both] = mine(pay('module'), pay('both')).map(eventsOf);
    const data = { amount: '5', coin_type: aptCoinType };
    expect(module?.map((event) => [event.type, event.data])).toEqual([
      ['0x1::coin::CoinWithdraw', { account: alice, ...data }],
      ['0x1::coin::CoinDeposit', { account: '0xb0b', ...data }],
    ]);
    expect(both?.map(({ type, sequence_number }) => `${type} ${sequence_number}`)).toEqual([
      '0x1::coin::CoinWithdraw 0',
      '0x1::coin::WithdrawEvent 0',
      '0x1::coin::CoinDeposit 0',
      '0x1::coin::DepositEvent 0',
    ]);
  });
});

describe('objects and tokens', () => {
  test('a token is minted to an account, transferred and burned', () => {
    const object = namedTokenOf(carol, 'Cats', 'Tom');
    const collection = namedObjectOf(carol, 'Cats');
    const [minted, moved, burnt] = mine(
      scriptedAptos.tokenMint({ creator: carol, collection: 'Cats', name: 'Tom', to: alice }),
      scriptedAptos.tokenTransfer({ from: alice, to: bob, object }),
      scriptedAptos.tokenBurn({ owner: bob, object, collection }),
    );
    expect(eventsOf(minted as RestUserTransaction).map(({ type, data }) => [type, data])).toEqual([
      ['0x4::collection::Mint', { collection, index: { value: '1' }, token: object }],
      ['0x1::object::Transfer', { from: carol, object, to: alice }],
    ]);
    expect(eventsOf(moved as RestUserTransaction)).toMatchObject([
      { type: '0x1::object::Transfer', data: { from: alice, object, to: '0xb0b' } },
    ]);
    expect(moved?.payload).toMatchObject({
      function: '0x1::object::transfer',
      type_arguments: ['0x4::token::Token'],
    });
    expect(changesOf(burnt as RestUserTransaction)).toContain(`${object} delete_resource`);
    expect(ledger.listResources(object).size).toBe(0);
  });

  test('legacy transfers are counted by the object', () => {
    const object = namedTokenOf(carol, 'Cats', 'Tom');
    const [, moved] = mine(
      scriptedAptos.tokenMint({ creator: carol, collection: 'Cats', name: 'Tom', to: alice }),
      scriptedAptos.tokenTransfer({ from: alice, to: bob, object, events: 'legacy' }),
    );
    expect(eventsOf(moved as RestUserTransaction)).toEqual([
      {
        guid: { creation_number: '1125899906842624', account_address: object },
        sequence_number: '0',
        type: '0x1::object::TransferEvent',
        data: { from: alice, object, to: '0xb0b' },
      },
    ]);
  });
});

describe('kinds of transactions', () => {
  const pay = scriptedAptos.transfer({ from: alice, to: bob, amount: 5n });

  test('a failed transaction only pays gas', () => {
    const failed = mineOne(scriptedAptos.failed(pay));
    expect(failed).toMatchObject({ success: false, gas_used: '12', sequence_number: '0' });
    expect(failed.vm_status).toMatch(/^Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE/);
    expect(failed.events.map(({ type }) => type)).toEqual(['0x1::transaction_fee::FeeStatement']);
    expect(balanceOf(primaryStoreOf(alice, aptMetadata))).toBe(String(start - 1_200n));
    expect(balanceOf(primaryStoreOf(bob, aptMetadata))).toBeUndefined();
    expect(mineOne(pay).sequence_number).toBe('1');
  });

  test('the fee payer pays for a sponsored transaction', () => {
    const sponsored = mineOne(scriptedAptos.sponsored(pay, carol));
    expect(sponsored.signature).toMatchObject({
      type: 'fee_payer_signature',
      fee_payer_address: carol,
      secondary_signer_addresses: [],
    });
    expect(balanceOf(primaryStoreOf(alice, aptMetadata))).toBe(String(start - 5n));
    expect(balanceOf(primaryStoreOf(carol, aptMetadata))).toBe(String(start - 1_200n));
  });

  test('a transaction can have several signers', () => {
    const signed = mineOne(scriptedAptos.multiAgent(pay, [carol, bob]));
    expect(signed.signature).toMatchObject({
      type: 'multi_agent_signature',
      secondary_signer_addresses: [carol, '0xb0b'],
      secondary_signers: [{ type: 'ed25519_signature' }, { type: 'ed25519_signature' }],
    });
  });

  test('a multisig account acts through one of its owners', () => {
    const [whole, stored] = mine(
      scriptedAptos.multisig(pay, { multisig: alice, executor: carol }),
      scriptedAptos.multisig(pay, { multisig: alice, executor: carol, stored: true }),
    );
    expect(whole).toMatchObject({
      sender: carol,
      payload: {
        type: 'multisig_payload',
        multisig_address: alice,
        transaction_payload: {
          function: '0x1::aptos_account::transfer',
          arguments: ['0xb0b', '5'],
          type: 'entry_function_payload',
        },
      },
    });
    expect(stored?.payload).toEqual({ type: 'multisig_payload', multisig_address: alice });
    expect(eventsOf(stored as RestUserTransaction).map(({ type }) => type)).toEqual([
      '0x1::fungible_asset::Withdraw',
      '0x1::fungible_asset::Deposit',
      '0x1::multisig_account::TransactionExecutionSucceeded',
    ]);
    const script = scriptedAptos.script({ sender: alice });
    expect(() => scriptedAptos.multisig(script, { multisig: alice, executor: carol })).toThrow(
      'not a script',
    );
  });

  test('an orderless transaction has no sequence number', () => {
    const [orderless, ordered] = mine(scriptedAptos.orderless(pay, 77n), pay);
    expect(orderless).toMatchObject({
      sequence_number: '18446744073709551615',
      replay_protection_nonce: '77',
    });
    expect(ordered).toMatchObject({ sequence_number: '0', replay_protection_nonce: null });
  });

  test('a script has no function', () => {
    const script = mineOne(scriptedAptos.script({ sender: alice }));
    expect(script.payload).toMatchObject({
      type: 'script_payload',
      code: { abi: { name: 'main' } },
    });
  });

  test('a call can have any events, changes and table items', () => {
    const handle = { account: alice, creationNumber: 9n };
    const event = { kind: 'event', type: '0x00c0::game::Won<0x0001::a::B,u8>', data: {} } as const;
    const called = mineOne({
      ...scriptedAptos.call({
        sender: alice,
        function: '0x00c0::game::play',
        typeArguments: ['u8'],
        arguments: ['1'],
        effects: [
          { ...event, handle },
          { ...event, handle },
          event,
          {
            kind: 'writeResource',
            address: '0xc0',
            type: '0x00c0::game::Board',
            data: { rows: 8 },
          },
          { kind: 'writeModule', address: '0xc0', name: 'game' },
          { kind: 'writeTableItem', handle: '0x1', key: '0x02', value: '0x03' },
          { kind: 'deleteTableItem', handle: '0x1', key: '0x02' },
        ],
      }),
      hasFeeStatement: false,
    });
    expect(called.payload).toMatchObject({ function: '0xc0::game::play' });
    expect(called.events.map((each) => [each.type, each.guid, each.sequence_number])).toEqual([
      ['0xc0::game::Won<0x1::a::B, u8>', { account_address: alice, creation_number: '9' }, '0'],
      ['0xc0::game::Won<0x1::a::B, u8>', { account_address: alice, creation_number: '9' }, '1'],
      ['0xc0::game::Won<0x1::a::B, u8>', { account_address: '0x0', creation_number: '0' }, '0'],
    ]);
    expect(called.changes.slice(-2).map(({ type }) => type)).toEqual([
      'write_table_item',
      'delete_table_item',
    ]);
    expect(changesOf(called)).toEqual(
      expect.arrayContaining(['0xc0 0xc0::game::Board', '0xc0 write_module']),
    );
    const [deleted] = mine(
      scriptedAptos.call({
        sender: alice,
        function: '0xc0::game::end',
        effects: [{ kind: 'deleteResource', address: '0xc0', type: '0xc0::game::Board' }],
      }),
    );
    expect(deleted?.changes).toContainEqual(
      expect.objectContaining({ type: 'delete_resource', resource: '0xc0::game::Board' }),
    );
  });

  test('a transaction from before fee statements has no events', () => {
    const quiet = mineOne({
      ...scriptedAptos.call({ sender: alice, function: '0x1::account::rotate' }),
      hasFeeStatement: false,
      gasFrom: 'coin',
    });
    expect(quiet.events).toEqual([]);
    expect(quiet.event_root_hash).toBe(
      '0x414343554d554c41544f525f504c414345484f4c4445525f4841534800000000',
    );
  });
});

describe('properties', () => {
  const people = [alice, bob, carol, '0xd'] as const;
  const person = fc.constantFrom<Hex>(...people);
  const amount = fc.bigInt({ min: 0n, max: 1_000n });
  const move = fc.record({ from: person, to: person, amount });
  const transaction: fc.Arbitrary<ScriptedAptosTransaction> = fc.oneof(
    move.map(scriptedAptos.transfer),
    move.map((each) => scriptedAptos.fungibleTransfer({ ...each, metadata: aptMetadata })),
    fc
      .tuple(move, fc.constantFrom('legacy' as const, 'module' as const, 'both' as const))
      .map(([each, events]) => scriptedAptos.coinTransfer({ ...each, events })),
    move.map((each) => scriptedAptos.failed(scriptedAptos.transfer(each))),
    fc
      .tuple(move, person)
      .map(([each, payer]) => scriptedAptos.sponsored(scriptedAptos.transfer(each), payer)),
  );
  const blocks = fc.array(fc.array(transaction, { maxLength: 4 }), { maxLength: 6 });

  test('the changes up to a version add up to its state', () => {
    fc.assert(
      fc.property(blocks, (scripts) => {
        const chain = createScriptedAptosLedger();
        for (const transactions of scripts) chain.mine({ transactions });
        const state = new Map<string, [Hex, string, unknown]>();
        for (const { version, changes } of chain.blocks().flatMap((each) => each.transactions)) {
          for (const change of changes) {
            if (change.type !== 'write_resource') continue;
            const { address, data } = change;
            state.set(`${address} ${data.type}`, [address, data.type, data.data]);
          }
          for (const [address, type, data] of state.values()) {
            expect(chain.readResource(address, type, BigInt(version))).toBe(data);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  test('withdrawals equal deposits, and only gas is lost', () => {
    fc.assert(
      fc.property(blocks, (scripts) => {
        const chain = createScriptedAptosLedger();
        for (const transactions of scripts) chain.mine({ transactions });
        const users = chain
          .blocks()
          .flatMap((each) => each.transactions)
          .filter((each) => each.type === 'user_transaction');
        const total = (pattern: RegExp) =>
          users
            .flatMap(({ events }) => events)
            .filter(({ type }) => pattern.test(type))
            .reduce((sum, { data }) => sum + BigInt((data as { amount: string }).amount), 0n);
        expect(total(/Withdraw/)).toBe(total(/Deposit/));

        let lost = 0n;
        for (const owner of people) {
          const store = primaryStoreOf(owner, aptMetadata);
          const fungible = chain.readResource(store, '0x1::fungible_asset::FungibleStore') as
            | { balance: string }
            | undefined;
          const coin = chain.readResource(owner, `0x1::coin::CoinStore<${aptCoinType}>`) as
            | { coin: { value: string } }
            | undefined;
          if (fungible) lost += start - BigInt(fungible.balance);
          if (coin) lost += start - BigInt(coin.coin.value);
        }
        const gas = users.reduce(
          (sum, { gas_used, gas_unit_price }) => sum + BigInt(gas_used) * BigInt(gas_unit_price),
          0n,
        );
        expect(lost).toBe(gas);
      }),
      { numRuns: 40 },
    );
  });
});
