/** Tests the movements, touched accounts and matching streams of handwritten transactions. */
import {
  type ScriptedAptosTransaction,
  aptCoinType,
  aptosEffects,
  createScriptedAptosLedger,
  namedObjectOf,
  namedTokenOf,
  scriptedAptos,
} from '@sluice/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toAptosTransaction } from '../ingest/transaction.ts';
import { toAccount, normalizeType } from './moveNames.ts';
import { joinBody, splitFinalBody } from '../../../store/blocks/body.ts';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import {
  type AptosStreamRecord,
  DEFAULT_APTOS_OPTIONS,
  DEFAULT_DELIVERY,
} from '../../../store/streams/contract.ts';
import type { AptosBlock, AptosEvent, AptosJson, AptosTransaction } from './block.ts';
import { createAptosIndex } from './streamIndex.ts';
import { type AptosMatch, matchAptosBlock, splitAptosMatch } from './match.ts';
import { readMovements, readTouchedAccounts, readTransfers } from './movements.ts';
import { toAptosWebhookParts } from './webhook.ts';

const account = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, '0')}`;
const NAMES = {
  alice: account(0xa11ce),
  bob: account(0xb0b),
  carol: account(0xca401),
  payer: account(0xfee),
  creator: account(0xc4ea704),
} as const;
type Name = keyof typeof NAMES;
const { alice, bob, carol, payer, creator } = NAMES;
const GOLD = namedObjectOf(creator, 'GOLD');
const VAULT = { address: account(0xfa17), owner: alice, metadata: GOLD };
const TOKEN = namedTokenOf(creator, 'Birds', 'Wren');
const COIN = `${account(0xc01)}::moon::Moon`;
const APT = account(0xa);
const APT_COIN = normalizeType(aptCoinType);

const nameOf = (address: string): string =>
  Object.entries(NAMES).find(([, each]) => each === address)?.[0] ?? address;

/** Runs the script on a new ledger, and parses its last transaction as a node returns it. */
const run = (...script: ScriptedAptosTransaction[]): AptosTransaction =>
  toAptosTransaction(runRaw(...script), 'a script');

function runRaw(...script: ScriptedAptosTransaction[]): AptosJson {
  const ledger = createScriptedAptosLedger();
  const { transactions } = ledger.mine({ transactions: script });
  return transactions[script.length] as unknown as AptosJson;
}

const paymentsOf = (transaction: AptosTransaction): string[] =>
  readTransfers(transaction).map(
    ({ from, to, value, asset }) => `${nameOf(from)} ${nameOf(to)} ${value} ${asset}`,
  );

const createGold = scriptedAptos.createFungibleAsset({
  creator,
  name: 'Gold',
  symbol: 'GOLD',
  decimals: 3,
});
const vaultCall = (
  sender: `0x${string}`,
  ...effects: NonNullable<ScriptedAptosTransaction['effects']>
) => scriptedAptos.call({ sender, function: '0x5::vault::run', effects });
const openVault = vaultCall(alice, ...aptosEffects.writeStore(VAULT));
const goldTo = (to: `0x${string}`, amount: bigint) =>
  vaultCall(creator, ...aptosEffects.fungibleDeposit({ owner: to, metadata: GOLD }, amount));
const mintBird = scriptedAptos.tokenMint({ creator, collection: 'Birds', name: 'Wren', to: alice });
const move = { from: alice, to: bob, amount: 5n };
const call = (name: string): ScriptedAptosTransaction['payload'] => ({
  kind: 'entryFunction',
  function: name,
});

const oldDeposit = (amount: string) =>
  ({
    kind: 'event',
    type: '0x1::fungible_asset::DepositEvent',
    data: { amount },
    handle: { account: VAULT.address, creationNumber: 1n },
  }) as const;
const depositIn = (amount: string): ScriptedAptosTransaction[] => [
  createGold,
  openVault,
  {
    sender: bob,
    payload: call('0x1::fungible_asset::deposit'),
    effects: [oldDeposit(amount), ...aptosEffects.fungibleDeposit(VAULT, 6n)],
  },
];

interface Case {
  of: string;
  script: ScriptedAptosTransaction[];
  touched: Name[];
  /**
   * Expected movements: `-alice 5 asset` is a withdrawal, `+alice 5 asset` a deposit. Default:
   * none.
   */
  moved?: string[];
  /** Expected payments, such as `alice bob 5 asset`. Default: none. */
  paid?: string[];
  function?: string | null;
}

const cases: Case[] = [
  {
    of: 'APT by aptos_account::transfer',
    script: [scriptedAptos.transfer(move)],
    touched: ['alice', 'bob'],
    moved: [`-alice 5 ${APT_COIN}`, `+bob 5 ${APT_COIN}`],
    paid: [`alice bob 5 ${APT_COIN}`],
    function: '0x1::aptos_account::transfer',
  },
  {
    of: 'a legacy coin by coin::transfer',
    script: [scriptedAptos.coinTransfer({ ...move, coinType: COIN })],
    touched: ['alice', 'bob'],
    moved: [`-alice 5 ${COIN}`, `+bob 5 ${COIN}`],
    paid: [`alice bob 5 ${COIN}`],
    function: '0x1::coin::transfer',
  },
  {
    of: 'a legacy coin with module events',
    script: [scriptedAptos.coinTransfer({ ...move, coinType: COIN, events: 'module' })],
    touched: ['alice', 'bob'],
    moved: [`-alice 5 ${COIN}`, `+bob 5 ${COIN}`],
    paid: [`alice bob 5 ${COIN}`],
  },
  {
    of: 'a legacy coin with both kinds of events',
    script: [scriptedAptos.coinTransfer({ ...move, coinType: COIN, events: 'both' })],
    touched: ['alice', 'bob'],
    moved: [`-alice 5 ${COIN}`, `+bob 5 ${COIN}`],
    paid: [`alice bob 5 ${COIN}`],
  },
  {
    of: 'a legacy coin by transfer_coins',
    script: [
      scriptedAptos.coinTransfer({ ...move, through: '0x1::aptos_account::transfer_coins' }),
    ],
    touched: ['alice', 'bob'],
    moved: [`-alice 5 ${APT_COIN}`, `+bob 5 ${APT_COIN}`],
    paid: [`alice bob 5 ${APT_COIN}`],
  },
  {
    of: 'a fungible asset between primary stores',
    script: [
      createGold,
      goldTo(alice, 9n),
      scriptedAptos.fungibleTransfer({ ...move, metadata: GOLD }),
    ],
    touched: ['alice', 'bob'],
    moved: [`-alice 5 ${GOLD}`, `+bob 5 ${GOLD}`],
    paid: [`alice bob 5 ${GOLD}`],
  },
  {
    of: 'a fungible asset that is minted',
    script: [createGold, goldTo(bob, 9n)],
    touched: ['creator', 'bob'],
    moved: [`+bob 9 ${GOLD}`],
  },
  {
    of: 'a fungible asset that is burnt',
    script: [
      createGold,
      goldTo(bob, 9n),
      vaultCall(creator, ...aptosEffects.fungibleWithdraw({ owner: bob, metadata: GOLD }, 4n)),
    ],
    touched: ['creator', 'bob'],
    moved: [`-bob 4 ${GOLD}`],
  },
  {
    of: 'a fungible asset that is created',
    script: [createGold],
    touched: ['creator'],
  },
  {
    of: 'a store that is opened for another account',
    script: [createGold, vaultCall(alice, ...aptosEffects.writeStore({ ...VAULT, owner: bob }))],
    touched: ['alice', 'bob'],
  },
  {
    of: 'a deposit to a secondary store',
    script: [
      createGold,
      openVault,
      {
        sender: bob,
        payload: call('0x1::fungible_asset::deposit'),
        effects: aptosEffects.fungibleDeposit(VAULT, 6n),
      },
    ],
    touched: ['bob', 'alice'],
    moved: [`+alice 6 ${GOLD}`],
  },
  {
    of: 'a deposit to a store with both kinds of events',
    script: depositIn('6'),
    touched: ['bob', 'alice'],
    moved: [`+alice 6 ${GOLD}`],
  },
  {
    of: 'two deposits to a store, with different kinds of events',
    script: depositIn('4'),
    touched: ['bob', 'alice'],
    moved: [`+alice 4 ${GOLD}`, `+alice 6 ${GOLD}`],
  },
  {
    of: 'a store that is closed, whose owner an event names',
    script: [
      createGold,
      openVault,
      {
        sender: creator,
        payload: call('0x1::fungible_asset::deposit'),
        effects: aptosEffects.fungibleDeposit(VAULT, 6n),
      },
      vaultCall(
        bob,
        ...aptosEffects.fungibleWithdraw(VAULT, 6n),
        ...aptosEffects.fungibleDeposit({ owner: carol, metadata: GOLD }, 6n),
        ...aptosEffects.deleteStore(VAULT),
      ),
    ],
    touched: ['bob', 'alice', 'carol'],
    moved: [`-alice 6 ${GOLD}`, `+carol 6 ${GOLD}`],
  },
  {
    of: 'a token that is minted to an account',
    script: [mintBird],
    touched: ['creator', 'alice'],
  },
  {
    of: 'a token that is transferred',
    script: [mintBird, scriptedAptos.tokenTransfer({ from: alice, to: bob, object: TOKEN })],
    touched: ['alice', 'bob'],
  },
  {
    of: 'a token that was transferred before module events existed',
    script: [
      mintBird,
      scriptedAptos.tokenTransfer({ from: alice, to: bob, object: TOKEN, events: 'legacy' }),
    ],
    touched: ['alice', 'bob'],
  },
  {
    of: 'an object that is transferred',
    script: [mintBird, scriptedAptos.objectTransfer({ from: alice, to: carol, object: TOKEN })],
    touched: ['alice', 'carol'],
  },
  {
    of: 'gas that another account pays',
    script: [{ sender: alice, payload: call('0x1::account::nothing'), feePayer: payer }],
    touched: ['alice', 'payer'],
  },
  {
    of: 'several signers',
    script: [
      { sender: alice, payload: call('0x1::account::nothing'), secondarySigners: [bob, carol] },
    ],
    touched: ['alice', 'bob', 'carol'],
  },
  {
    of: 'several signers and a fee payer',
    script: [
      {
        sender: alice,
        payload: call('0x1::account::nothing'),
        secondarySigners: [bob],
        feePayer: payer,
      },
    ],
    touched: ['alice', 'bob', 'payer'],
  },
  {
    of: 'an orderless transaction',
    script: [{ ...scriptedAptos.transfer(move), replayProtectionNonce: 7n }],
    touched: ['alice', 'bob'],
    moved: [`-alice 5 ${APT_COIN}`, `+bob 5 ${APT_COIN}`],
    paid: [`alice bob 5 ${APT_COIN}`],
  },
  {
    of: 'a transfer that failed',
    script: [{ ...scriptedAptos.transfer(move), failure: 'Move abort: too little' }],
    touched: ['alice'],
    function: '0x1::aptos_account::transfer',
  },
  {
    of: 'a script',
    script: [
      {
        sender: alice,
        payload: { kind: 'script', bytecode: '0xa11ceb0b' },
        effects: aptosEffects.fungibleDeposit({ owner: bob, metadata: APT }, 3n),
      },
    ],
    touched: ['alice', 'bob'],
    moved: [`+bob 3 ${APT_COIN}`],
    function: null,
  },
  {
    of: 'a multisig call with its payload',
    script: [
      scriptedAptos.multisig(scriptedAptos.transfer({ from: carol, to: bob, amount: 3n }), {
        multisig: carol,
        executor: alice,
      }),
    ],
    touched: ['alice', 'carol', 'bob'],
    moved: [`-carol 3 ${APT_COIN}`, `+bob 3 ${APT_COIN}`],
    paid: [`carol bob 3 ${APT_COIN}`],
    function: '0x1::aptos_account::transfer',
  },
  {
    of: 'a multisig call whose payload is on the chain',
    script: [
      scriptedAptos.multisig(scriptedAptos.transfer({ from: carol, to: bob, amount: 3n }), {
        multisig: carol,
        executor: alice,
        stored: true,
      }),
    ],
    touched: ['alice', 'carol', 'bob'],
    moved: [`-carol 3 ${APT_COIN}`, `+bob 3 ${APT_COIN}`],
    function: null,
  },
  {
    of: 'an encrypted payment that was decrypted',
    script: [scriptedAptos.encrypted(scriptedAptos.coinTransfer({ ...move, coinType: COIN }))],
    touched: ['alice', 'bob'],
    moved: [`-alice 5 ${COIN}`, `+bob 5 ${COIN}`],
    paid: [`alice bob 5 ${COIN}`],
    function: '0x1::coin::transfer',
  },
  {
    of: 'an encrypted multisig call that was decrypted',
    script: [
      scriptedAptos.encrypted(
        scriptedAptos.multisig(
          { ...scriptedAptos.transfer({ from: carol, to: bob, amount: 3n }), effects: [] },
          { multisig: carol, executor: alice },
        ),
      ),
    ],
    touched: ['alice', 'carol'],
    paid: [`carol bob 3 ${APT_COIN}`],
    function: '0x1::aptos_account::transfer',
  },
  {
    of: 'an encrypted script that was decrypted',
    script: [scriptedAptos.encrypted(scriptedAptos.script({ sender: alice }))],
    touched: ['alice'],
    function: null,
  },
  {
    of: 'an encrypted payment that could not be decrypted',
    script: [
      {
        ...scriptedAptos.encrypted(scriptedAptos.transfer(move), 'failed_decryption'),
        failure: 'Decryption failed',
      },
    ],
    touched: ['alice'],
    function: null,
  },
  {
    of: 'an encrypted payload in an unknown state',
    script: [scriptedAptos.encrypted(scriptedAptos.transfer(move), 'sealed')],
    touched: ['alice', 'bob'],
    moved: [`-alice 5 ${APT_COIN}`, `+bob 5 ${APT_COIN}`],
    function: null,
  },
  {
    of: 'an older token that a module event deposits',
    script: [
      {
        sender: alice,
        payload: call('0x3::token_transfers::claim_script'),
        effects: [
          {
            kind: 'event',
            type: '0x3::token::TokenDeposit',
            data: { account: bob, amount: '1', id: {} },
          },
        ],
      },
    ],
    touched: ['alice', 'bob'],
  },
  {
    of: 'an older token that a module event without its owner deposits to a new token store',
    script: [
      {
        sender: alice,
        payload: call('0x3::token::transfer_with_opt_in'),
        effects: [
          { kind: 'event', type: '0x3::token::Deposit', data: { amount: '1', id: {} } },
          {
            kind: 'writeResource',
            address: bob,
            type: '0x3::token::TokenStore',
            data: { direct_transfer: true, tokens: { handle: '0x77' } },
          },
          { kind: 'writeTableItem', handle: '0x77', key: '0x01', value: '0x02' },
        ],
      },
    ],
    touched: ['alice', 'bob'],
  },
  {
    of: 'an older token that a module event without its owner deposits to a table',
    script: [
      {
        sender: alice,
        payload: call('0x3::token::transfer_with_opt_in'),
        effects: [
          { kind: 'event', type: '0x3::token::Deposit', data: { amount: '1', id: {} } },
          { kind: 'writeTableItem', handle: '0x77', key: '0x01', value: '0x02' },
        ],
      },
    ],
    touched: ['alice'],
  },
  {
    of: 'a module event of an application, whose fields have no fixed meaning',
    script: [
      {
        sender: alice,
        payload: call('0x5::game::play'),
        effects: [{ kind: 'event', type: '0x5::game::Played', data: { account: bob } }],
      },
    ],
    touched: ['alice'],
  },
  {
    of: 'an event of a handle of an uninvolved account',
    script: [
      {
        sender: alice,
        payload: call('0x5::game::play'),
        effects: [
          {
            kind: 'event',
            type: '0x5::game::Played<0x1::aptos_coin::AptosCoin>',
            data: { score: '3' },
            handle: { account: bob, creationNumber: 9n },
          },
        ],
      },
    ],
    touched: ['alice', 'bob'],
    function: '0x5::game::play',
  },
];

test('a store that only an old event names is looked up', () => {
  const transaction = run({
    sender: bob,
    payload: call('0x1::fungible_asset::deposit'),
    effects: [oldDeposit('4')],
  });
  expect(transaction.unknownStores).toEqual([VAULT.address]);
  expect(readMovements(transaction)).toMatchObject([
    { kind: 'deposit', account: VAULT.address, value: '4' },
  ]);
  transaction.stores.set(VAULT.address, { owner: alice, asset: APT });
  expect(readMovements(transaction)).toMatchObject([{ account: alice, asset: APT_COIN }]);
});

test('a module event is the movement of its neighbor only if account, amount and kind are equal', () => {
  const event = (name: string, account: string | null, data: object): AptosEvent => ({
    type: `${toAccount('0x1')}::coin::${name}`,
    account,
    creationNumber: '2',
    sequenceNumber: '0',
    data: { coin_type: COIN, ...data },
    raw: {},
  });
  const handle = event('DepositEvent', alice, { amount: '5' });
  const movementsBeside = (name: string, account: string, amount: string): unknown[] =>
    readMovements({
      events: [handle, event(name, null, { account, amount })],
      stores: new Map(),
      coinHandles: new Map([[`${alice}:2`, COIN]]),
    } as Partial<AptosTransaction> as AptosTransaction).map(({ account: of, kind, value }) => [
      of,
      kind,
      value,
    ]);
  const deposit = [alice, 'deposit', '5'];
  expect(movementsBeside('CoinDeposit', alice, '5')).toEqual([deposit]);
  expect(movementsBeside('CoinDeposit', bob, '5')).toEqual([deposit, [bob, 'deposit', '5']]);
  expect(movementsBeside('CoinDeposit', alice, '6')).toEqual([deposit, [alice, 'deposit', '6']]);
  expect(movementsBeside('CoinWithdraw', alice, '5')).toEqual([
    deposit,
    [alice, 'withdrawal', '5'],
  ]);
});

describe('a withdrawal from a coin store that is deleted in the same transaction', () => {
  interface Raw {
    changes: { type: string; address: string; data?: { type: string } }[];
    events: {
      type: string;
      guid: { account_address: string; creation_number: string };
      data: { amount?: string };
    }[];
  }
  /**
   * Deletes Alice's coin store in the transaction that transfers her last coins, and returns the
   * asset of the withdrawal. `hasTwin` adds the module event of the withdrawal, and `alsoOf` is the
   * coin type of a second store to delete.
   */
  const migrate = ({
    hasEvent,
    hasTwin = false,
    alsoOf,
  }: {
    hasEvent: boolean;
    hasTwin?: boolean;
    alsoOf?: string;
  }) => {
    const raw = runRaw(scriptedAptos.coinTransfer({ ...move, coinType: COIN })) as unknown as Raw;
    const withdrawal = raw.events.find(({ type }) => type === '0x1::coin::WithdrawEvent')!;
    const isHers = (change: Raw['changes'][number]) =>
      toAccount(change.address) === alice &&
      change.data?.type.startsWith('0x1::coin::CoinStore<0xc01::') === true;
    const deleted = (resource: string) => ({ type: 'delete_resource', address: alice, resource });
    const deletion = {
      type: '0x1::coin::CoinStoreDeletion',
      guid: { account_address: '0x0', creation_number: '0' },
      sequence_number: '0',
      data: {
        coin_type: COIN,
        event_handle_creation_address: withdrawal.guid.account_address,
        deleted_deposit_event_handle_creation_number: '77',
        deleted_withdraw_event_handle_creation_number: withdrawal.guid.creation_number,
      },
    };
    const twin = {
      ...deletion,
      type: '0x1::coin::CoinWithdraw',
      data: { account: alice, amount: withdrawal.data.amount, coin_type: COIN },
    };
    const transaction = toAptosTransaction(
      {
        ...raw,
        changes: [
          ...raw.changes.map((each) => (isHers(each) ? deleted(each.data!.type) : each)),
          ...(alsoOf === undefined ? [] : [deleted(`0x1::coin::CoinStore<${alsoOf}>`)]),
        ],
        events: [
          ...raw.events.flatMap((each) => (hasTwin && each === withdrawal ? [each, twin] : each)),
          ...(hasEvent ? [deletion] : []),
        ],
      },
      'a script',
    );
    expect(raw.changes.some(isHers)).toBe(true);
    return readMovements(transaction).find(({ kind }) => kind === 'withdrawal')!.asset;
  };

  test.each([
    [
      'from the event of the deletion, whatever else is deleted',
      { hasEvent: true, alsoOf: aptCoinType },
      COIN,
    ],
    ['from the deleted resource', { hasEvent: false }, COIN],
    [
      'from its module event, if two resources are deleted',
      { hasEvent: false, hasTwin: true, alsoOf: aptCoinType },
      COIN,
    ],
    ['not from two deleted resources', { hasEvent: false, alsoOf: aptCoinType }, ''],
  ])('has its coin %s', (_, how, asset) => {
    expect(migrate(how)).toBe(asset);
  });
});

describe('a payment', () => {
  const { bob: to } = NAMES;
  const one = [to, '42'];
  const many = [
    [to, carol],
    ['42', '7'],
  ];
  const gold = { inner: GOLD };
  const both = (asset: string): string[] => [`alice bob 42 ${asset}`, `alice carol 7 ${asset}`];
  const pay = (
    name: string,
    given: readonly unknown[],
    typeArguments: string[] = [],
  ): AptosTransaction => ({
    ...run({ sender: alice, payload: call('0x1::account::nothing') }),
    function: normalizeType(`0x1::${name}`),
    typeArguments,
    arguments: given,
  });

  test.each<[string, unknown[], string[], string[]]>([
    ['aptos_account::transfer', one, [], [`alice bob 42 ${APT_COIN}`]],
    ['aptos_account::fungible_transfer_only', one, [], [`alice bob 42 ${APT_COIN}`]],
    ['aptos_account::batch_transfer', many, [], both(APT_COIN)],
    ['coin::transfer', one, [COIN], [`alice bob 42 ${COIN}`]],
    ['aptos_account::transfer_coins', one, [COIN], [`alice bob 42 ${COIN}`]],
    ['aptos_account::batch_transfer_coins', many, [COIN], both(COIN)],
    ['aptos_account::transfer_fungible_assets', [gold, ...one], [], [`alice bob 42 ${GOLD}`]],
    ['aptos_account::batch_transfer_fungible_assets', [gold, ...many], [], both(GOLD)],
    ['primary_fungible_store::transfer', [gold, ...one], [APT], [`alice bob 42 ${GOLD}`]],
    ['primary_fungible_store::transfer', [GOLD, ...one], [], [`alice bob 42 ${GOLD}`]],
    [
      'primary_fungible_store::transfer',
      [{ inner: '0xa' }, '0xb0b', '42'],
      [],
      [`alice bob 42 ${APT_COIN}`],
    ],
    [
      'primary_fungible_store::transfer_assert_minimum_deposit',
      [gold, ...one, '41'],
      [],
      [`alice bob 42 ${GOLD}`],
    ],
  ])('by 0x1::%s %j is listed', (name, given, types, expected) => {
    expect(paymentsOf(pay(name, given, types))).toEqual(expected);
    expect(paymentsOf({ ...pay(name, given, types), success: false })).toEqual([]);
  });

  test.each<[string, unknown[]]>([
    ['fungible_asset::transfer', [{ inner: VAULT.address }, { inner: GOLD }, '42']],
    ['aptos_account::transfer', []],
    ['aptos_account::transfer', [to, null]],
    ['aptos_account::transfer', ['nowhere', '42']],
    ['aptos_account::batch_transfer', [[], []]],
  ])('by 0x1::%s %j is not listed', (name, given) => {
    expect(paymentsOf(pay(name, given))).toEqual([]);
  });
});

test('an encrypted payment is selected by its function, like a plain one', () => {
  const plain = run(scriptedAptos.transfer(move));
  const encrypted = run(scriptedAptos.encrypted(scriptedAptos.transfer(move)));
  const failed = run(scriptedAptos.encrypted(scriptedAptos.transfer(move), 'failed_decryption'));
  const options = { functions: ['0x1::aptos_account::transfer'] };
  expect(taken(options, ['0xb0b'], [plain, encrypted, failed])).toEqual([0, 1]);
});

test('a payload in an unknown state has no function, whatever else it contains', () => {
  const raw = runRaw(scriptedAptos.encrypted(scriptedAptos.transfer(move)));
  const payload = { ...(raw['payload'] as AptosJson), encrypted_state: 'claimed' };
  expect(toAptosTransaction({ ...raw, payload }, 'a script').function).toBeNull();
});

test('a store whose object is not in the changes has its asset, and is looked up', () => {
  const hidden = run({ ...scriptedAptos.transfer(move), showsStoreOwners: false });
  expect(hidden.unknownStores).toHaveLength(2);
  expect(readMovements(hidden)).toMatchObject(
    hidden.unknownStores.map((store) => ({ account: store, asset: APT_COIN })),
  );
});

test('a payment of APT has the same asset in every array', () => {
  const transaction = run(scriptedAptos.transfer(move));
  const assets = [...readMovements(transaction), ...readTransfers(transaction)].map(
    ({ asset }) => asset,
  );
  expect(new Set(assets)).toEqual(new Set([APT_COIN]));
});

test('there are at least 20 cases of transactions', () => {
  expect(cases.length).toBeGreaterThanOrEqual(20);
});

describe('a transaction', () => {
  test.each(cases.map((each) => [each.of, each] as const))(
    '%s',
    (_, { script, touched, moved, paid, function: id }) => {
      const transaction = run(...script);
      const known = [...readTouchedAccounts(transaction)]
        .map(nameOf)
        .filter((name) => name in NAMES);
      expect(known.toSorted()).toEqual([...touched].toSorted());
      expect(
        readMovements(transaction).map(
          ({ kind, account: whose, value, asset }) =>
            `${kind === 'deposit' ? '+' : '-'}${nameOf(whose)} ${value} ${asset}`,
        ),
      ).toEqual(moved ?? []);
      expect(paymentsOf(transaction)).toEqual(paid ?? []);
      if (id !== undefined) expect(transaction.function).toBe(id && normalizeType(id));
    },
  );

  test('without the owner of a store returns the stores to look up', () => {
    const hidden = run({ ...scriptedAptos.transfer(move), showsStoreOwners: false });
    expect(hidden.unknownStores).toHaveLength(2);
    expect(run(scriptedAptos.transfer(move)).unknownStores).toEqual([]);
  });
});

const stream = (id: string, options: Partial<AptosStreamRecord['options']>): AptosStreamRecord => ({
  family: 'aptos',
  id,
  tag: id,
  description: '',
  webhookUrl: '',
  chainIds: ['aptos:local'],
  ...DEFAULT_DELIVERY,
  options: { ...DEFAULT_APTOS_OPTIONS, ...options },
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: 0,
  childCount: 0,
  createdAt: 0,
  updatedAt: 0,
});

const blockOf = (...transactions: AptosTransaction[]): AptosBlock => ({
  number: 7,
  hash: `0x${'7'.repeat(64)}`,
  parentHash: `0x${'6'.repeat(64)}`,
  timestamp: 1,
  timestampMicros: '1500000',
  firstVersion: 10,
  lastVersion: 20,
  transactions,
  sizeBytes: 1,
});

/**
 * Returns the indices of the transactions that a stream with these options and addresses matches.
 */
function taken(
  options: Partial<AptosStreamRecord['options']>,
  addresses: string[],
  transactions: AptosTransaction[],
): number[] {
  const index = createAptosIndex();
  index.put(stream('s', options));
  index.addAddresses('s', packAddresses(addresses.map(toAccount), 32).bytes);
  const [match] = matchAptosBlock(index, 'aptos:local', blockOf(...transactions));
  return (match?.transactions ?? []).map(({ transaction }) => transactions.indexOf(transaction));
}

describe('a stream', () => {
  const pay = run(scriptedAptos.transfer(move));
  const play = run(cases.at(-1)!.script[0]!);
  const coin = run(scriptedAptos.coinTransfer({ ...move, coinType: COIN }));
  const all = [pay, play, coin];

  test.each<[string, Partial<AptosStreamRecord['options']>, string[], number[]]>([
    ['of an address takes transactions that touch it', {}, ['0xb0b'], [0, 1, 2]],
    ['of an unused address takes nothing', {}, ['0x77'], []],
    ['of 0x10 does not take transactions of 0x1', {}, ['0x10'], []],
    ['with a function takes its calls', { functions: ['0x1::coin::transfer'] }, ['0xb0b'], [2]],
    [
      'with a function in long form',
      { functions: [`0x${'0'.repeat(63)}5::game::play`] },
      ['0xa11ce'],
      [1],
    ],
    ['with an event without arguments', { events: ['0x5::game::Played'] }, ['0xb0b'], [1]],
    [
      'with an event with its arguments',
      { events: ['0x5::game::Played<0x1::aptos_coin::AptosCoin>'] },
      ['0xb0b'],
      [1],
    ],
    [
      'with an event with other arguments',
      { events: ['0x5::game::Played<0x1::string::String>'] },
      ['0xb0b'],
      [],
    ],
    [
      'with a function and an event takes either',
      { functions: ['0x1::coin::transfer'], events: ['0x5::game::Played'] },
      ['0xb0b'],
      [1, 2],
    ],
    [
      'of all addresses takes transactions with its event',
      { allAddresses: true, events: ['0x1::fungible_asset::Deposit'] },
      [],
      [0],
    ],
  ])('%s', (_, options, addresses, expected) => {
    expect(taken(options, addresses, all)).toEqual(expected);
  });

  test('gets the body of the contract, in wire order, with raw parts unchanged', () => {
    const index = createAptosIndex();
    index.put(
      stream('s', {
        allAddresses: true,
        functions: ['0x1::aptos_account::transfer'],
        includeChanges: true,
        includeEvents: true,
        includePayload: true,
      }),
    );
    const [match] = matchAptosBlock(index, 'aptos:local', blockOf(pay));
    const { head, tail } = toAptosWebhookParts('local', blockOf(pay), match!);
    expect(Object.keys({ ...head, retries: 0, ...tail })).toEqual([
      'streamId',
      'tag',
      'network',
      'block',
      'retries',
      'coinTransfers',
      'coinDeposits',
      'coinWithdrawals',
      'transactions',
      'changes',
      'payloads',
      'events',
    ]);
    const text = joinBody({ ...splitFinalBody(head, tail), phase: 'confirmed', retries: 2 });
    expect(text).toBe(JSON.stringify({ ...head, retries: 2, ...tail }));
    expect(JSON.stringify(JSON.parse(text))).toBe(text);
    expect(head.block).toEqual({
      number: '7',
      timestamp: '1500000',
      hash: `0x${'7'.repeat(64)}`,
      firstVersion: '10',
      lastVersion: '20',
    });
    expect(tail.events).toEqual([pay.events.map(({ raw }) => ({ ...raw, txHash: pay.hash }))]);
    expect(tail.payloads).toEqual([{ ...pay.payload, txHash: pay.hash }]);
    expect(tail.changes).toHaveLength(pay.changes.length);
    expect(tail.coinDeposits).toEqual([
      {
        value: '5',
        address: bob,
        coin: { decimals: null, name: '', symbol: '', type: APT_COIN },
        valueWithDecimals: null,
        sequenceNumber: '0',
        txHash: pay.hash,
      },
    ]);
  });

  test('that matches too much for one webhook gets parts, split by transaction', () => {
    const index = createAptosIndex();
    index.put(stream('s', { allAddresses: true, functions: ['0x1::aptos_account::transfer'] }));
    const [match] = matchAptosBlock(index, 'aptos:local', blockOf(pay, pay, pay));
    const parts = splitAptosMatch(match!, 250, (part) => part.transactions.length * 100);
    expect(parts.map(({ part }) => part.transactions.length)).toEqual([2, 1]);
  });

  test('property: a transaction that is too large for one webhook is split between its records', () => {
    const index = createAptosIndex();
    const options = { includeEvents: true, includeChanges: true, includePayload: true };
    index.put(stream('s', { allAddresses: true, ...options }));
    const bodyOf = (match: AptosMatch) => toAptosWebhookParts('local', blockOf(pay), match).tail;
    fc.assert(
      fc.property(fc.nat({ max: 20 }), fc.integer({ min: 800, max: 4_000 }), (copies, limit) => {
        const large = {
          ...pay,
          function: normalizeType('0x1::aptos_account::batch_transfer'),
          arguments: [Array(copies).fill(bob), Array(copies).fill('1')],
          events: Array.from({ length: copies }, () => pay.events).flat(),
          changes: Array.from({ length: copies }, () => pay.changes).flat(),
        };
        const [match] = matchAptosBlock(index, 'aptos:local', blockOf(pay, large, pay));
        const weigh = (part: AptosMatch): number => JSON.stringify(bodyOf(part)).length;
        const parts = splitAptosMatch(match!, limit, weigh);
        const whole = bodyOf(match!);
        const all = parts.map(({ part }) => bodyOf(part));
        for (const name of [
          'coinTransfers',
          'coinDeposits',
          'coinWithdrawals',
          'transactions',
          'changes',
          'payloads',
        ] as const) {
          expect(all.flatMap((body): unknown[] => body[name])).toEqual(whole[name]);
        }
        expect(all.flatMap(({ events }) => events).flat()).toEqual(whole.events.flat());
        for (const { part, tooLarge } of parts) {
          expect(weigh(part) > limit).toBe(tooLarge !== undefined);
          if (tooLarge === undefined) continue;
          const { transactions: _, events, ...lists } = bodyOf(part);
          const records = [...Object.values(lists), events.flat()].flat();
          expect(records.length).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});
