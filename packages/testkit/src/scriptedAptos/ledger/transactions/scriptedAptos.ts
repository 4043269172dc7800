import type { Hex } from 'viem';
import {
  aptCoinType,
  aptMetadata,
  namedObjectOf,
  namedTokenOf,
  toShortAddress as short,
} from '../aptosAddress.ts';
import { resourceTypes } from '../aptosResources.ts';
import type { MoveValue } from '../../rest/restShapes.ts';
import type {
  ScriptedAptosTransaction,
  AptosEntryFunction,
  AptosEffect,
  AptosCoinEvents,
  AptosFungibleAsset,
} from './scriptedAptosTransaction.ts';

interface Transfer {
  from: Hex;
  to: Hex;
  amount: bigint;
}

/** Functions that create common transactions, and variants of a transaction. */
export const scriptedAptos = {
  /**
   * Transfers APT as a fungible asset with `0x1::aptos_account::transfer`; `amount` is in octas.
   */
  transfer: ({ from, to, amount }: Transfer) =>
    ({
      sender: from,
      payload: {
        kind: 'entryFunction',
        function: '0x1::aptos_account::transfer',
        arguments: [short(to), String(amount)],
      },
      effects: fungibleMove(from, to, aptMetadata, amount),
    }) satisfies ScriptedAptosTransaction,

  /**
   * Transfers a legacy coin between `CoinStore`s by calling `through`. Gas is paid in APT coins.
   * Defaults: APT, `0x1::coin::transfer`, and `legacy` events.
   */
  coinTransfer: ({
    from,
    to,
    amount,
    coinType = aptCoinType,
    through = '0x1::coin::transfer',
    events = 'legacy',
  }: Transfer & {
    coinType?: string;
    through?:
      | '0x1::coin::transfer'
      | '0x1::aptos_account::transfer'
      | '0x1::aptos_account::transfer_coins';
    events?: AptosCoinEvents;
  }) =>
    ({
      sender: from,
      payload: {
        kind: 'entryFunction',
        function: through,
        // `aptos_account::transfer` has no type argument, because it transfers only APT.
        typeArguments: through === '0x1::aptos_account::transfer' ? [] : [coinType],
        arguments: [short(to), String(amount)],
      },
      effects: [
        { kind: 'coinWithdraw', account: from, coinType, amount, events },
        { kind: 'coinDeposit', account: to, coinType, amount, events },
      ],
      gasFrom: 'coin',
    }) satisfies ScriptedAptosTransaction,

  /**
   * Transfers a fungible asset between the primary stores of two accounts with
   * `0x1::primary_fungible_store::transfer`.
   */
  fungibleTransfer: ({ from, to, metadata, amount }: Transfer & { metadata: Hex }) =>
    ({
      sender: from,
      payload: {
        kind: 'entryFunction',
        function: '0x1::primary_fungible_store::transfer',
        typeArguments: ['0x1::fungible_asset::Metadata'],
        arguments: [{ inner: short(metadata) }, short(to), String(amount)],
      },
      effects: fungibleMove(from, to, metadata, amount),
    }) satisfies ScriptedAptosTransaction,

  /**
   * Transfers a fungible asset between two stores with `0x1::fungible_asset::transfer`. `from` and
   * `to` are addresses of stores; the sender owns `from`.
   */
  storeTransfer: ({ sender, from, to, amount }: Transfer & { sender: Hex }) =>
    ({
      sender,
      payload: {
        kind: 'entryFunction',
        function: '0x1::fungible_asset::transfer',
        typeArguments: ['0x1::fungible_asset::FungibleStore'],
        arguments: [{ inner: short(from) }, { inner: short(to) }, String(amount)],
      },
      effects: [
        { kind: 'fungibleWithdraw', store: from, amount },
        { kind: 'fungibleDeposit', store: to, amount },
      ],
    }) satisfies ScriptedAptosTransaction,

  /** Creates a fungible asset. Its metadata address is `namedObjectOf(creator, symbol)`. */
  createFungibleAsset: ({ creator, ...asset }: AptosFungibleAsset & { creator: Hex }) =>
    ({
      sender: creator,
      payload: {
        kind: 'entryFunction',
        function: `${short(creator)}::asset::create`,
        arguments: [asset.name, asset.symbol, asset.decimals],
      },
      effects: [
        {
          kind: 'createObject',
          object: namedObjectOf(creator, asset.symbol),
          owner: creator,
          resources: fungibleAssetResources(asset),
        },
      ],
    }) satisfies ScriptedAptosTransaction,

  /** Mints units of a fungible asset to a primary store: a deposit without a withdrawal. */
  fungibleMint: ({ sender, to, metadata, amount }: Omit<Transfer, 'from'> & MintedBy) =>
    ({
      sender,
      payload: {
        kind: 'entryFunction',
        function: `${short(sender)}::asset::mint`,
        arguments: [short(to), String(amount)],
      },
      effects: [{ kind: 'fungibleDeposit', store: { owner: to, metadata }, amount }],
    }) satisfies ScriptedAptosTransaction,

  /** Burns units of a fungible asset from a primary store: a withdrawal without a deposit. */
  fungibleBurn: ({ sender, from, metadata, amount }: Omit<Transfer, 'to'> & MintedBy) =>
    ({
      sender,
      payload: {
        kind: 'entryFunction',
        function: `${short(sender)}::asset::burn`,
        arguments: [short(from), String(amount)],
      },
      effects: [{ kind: 'fungibleWithdraw', store: { owner: from, metadata }, amount }],
    }) satisfies ScriptedAptosTransaction,

  /** Creates an empty store at `store`, in addition to the owner's primary store. */
  createStore: ({ sender, store, owner, metadata }: StoreOf & { sender: Hex }) =>
    ({
      sender,
      payload: {
        kind: 'entryFunction',
        function: `${short(sender)}::vault::open`,
        arguments: [short(owner), { inner: short(metadata) }],
      },
      effects: [{ kind: 'createStore', store, owner, metadata }],
    }) satisfies ScriptedAptosTransaction,

  /**
   * Moves `amount`, which must be the store's balance, to the primary store of `to`, and deletes
   * the store. The changes do not contain the owner of the deleted store. An event names the owner,
   * unless `isAnnounced` is false.
   */
  closeStore: ({ sender, store, to, metadata, amount, isAnnounced = true }: CloseStore) =>
    ({
      sender,
      payload: {
        kind: 'entryFunction',
        function: `${short(sender)}::vault::close`,
        arguments: [{ inner: short(store) }],
      },
      effects: [
        { kind: 'fungibleWithdraw', store, amount },
        { kind: 'fungibleDeposit', store: { owner: to, metadata }, amount },
        { kind: 'deleteStore', store, isAnnounced },
      ],
    }) satisfies ScriptedAptosTransaction,

  /** Transfers an object with `0x1::object::transfer`. Default events: `module`. */
  objectTransfer: ({ from, to, object, events = 'module' }: ObjectTransfer) =>
    objectTransfer({ from, to, object, events, type: '0x1::object::ObjectCore' }),

  /**
   * Mints a digital asset at the address `namedTokenOf(creator, collection, name)` and transfers it
   * to `to`.
   */
  tokenMint: ({ creator, collection, name, to }: TokenMint) => {
    const object = namedTokenOf(creator, collection, name);
    return {
      sender: creator,
      payload: {
        kind: 'entryFunction',
        function: '0x4::aptos_token::mint_soul_bound',
        arguments: [collection, '', name, '', [], [], [], short(to)],
      },
      effects: [
        {
          kind: 'createObject',
          object,
          owner: creator,
          resources: tokenResources(namedObjectOf(creator, collection), object, name),
        },
        {
          kind: 'event',
          type: '0x4::collection::Mint',
          data: {
            collection: short(namedObjectOf(creator, collection)),
            index: { value: '1' },
            token: short(object),
          },
        },
        { kind: 'transferObject', object, to },
      ],
    } satisfies ScriptedAptosTransaction;
  },

  /** Transfers a digital asset with `0x1::object::transfer<0x4::token::Token>`. */
  tokenTransfer: ({ from, to, object, events = 'module' }: ObjectTransfer) =>
    objectTransfer({ from, to, object, events, type: '0x4::token::Token' }),

  /** Burns a digital asset; `collection` is the address of its collection. */
  tokenBurn: ({ owner, object, collection }: { owner: Hex; object: Hex; collection: Hex }) =>
    ({
      sender: owner,
      payload: {
        kind: 'entryFunction',
        function: '0x4::aptos_token::burn',
        typeArguments: ['0x4::aptos_token::AptosToken'],
        arguments: [{ inner: short(object) }],
      },
      effects: [
        {
          kind: 'event',
          type: '0x4::collection::Burn',
          data: {
            collection: short(collection),
            index: '1',
            previous_owner: short(owner),
            token: short(object),
          },
        },
        { kind: 'deleteObject', object },
      ],
    }) satisfies ScriptedAptosTransaction,

  /** Calls an entry function that has the given effects. Default: no effects. */
  call: ({ sender, effects = [], ...call }: Call) =>
    ({
      sender,
      payload: { kind: 'entryFunction', ...call },
      effects,
    }) satisfies ScriptedAptosTransaction,

  /** Runs a Move script, so the payload names no function. Default: no effects. */
  script: ({ sender, effects = [] }: { sender: Hex; effects?: readonly AptosEffect[] }) =>
    ({
      sender,
      payload: { kind: 'script', bytecode: '0xa11ceb0b030000000105000100000000' },
      effects,
    }) satisfies ScriptedAptosTransaction,

  /**
   * Returns a copy of the transaction that fails, so that it only pays gas. Default VM status:
   * insufficient balance.
   */
  failed: (transaction: ScriptedAptosTransaction, vmStatus: string = tooLittle) => ({
    ...transaction,
    failure: vmStatus,
  }),

  /** Returns the same transaction with a fee payer. */
  sponsored: (transaction: ScriptedAptosTransaction, feePayer: Hex) => ({
    ...transaction,
    feePayer,
  }),

  /** Returns the same transaction with secondary signers. */
  multiAgent: (transaction: ScriptedAptosTransaction, secondarySigners: readonly Hex[]) => ({
    ...transaction,
    secondarySigners,
  }),

  /**
   * Returns a transaction in which the multisig account executes the same call. `executor`, an
   * owner of the account, sends the transaction. The effects stay the same, so they must already
   * move the account's funds. With `stored`, the payload omits the call, which is already stored
   * on-chain.
   *
   * @throws Error if the payload of `transaction` is not an entry function.
   */
  multisig: (
    transaction: ScriptedAptosTransaction,
    { multisig, executor, stored = false }: { multisig: Hex; executor: Hex; stored?: boolean },
  ): ScriptedAptosTransaction => {
    const call = transaction.payload;
    if (call.kind !== 'entryFunction') {
      throw new Error(`A multisig account executes a function call, not a ${call.kind}`);
    }
    return {
      ...transaction,
      sender: executor,
      payload: { kind: 'multisig', multisig, ...(stored ? {} : { call }) },
      effects: [
        ...(transaction.effects ?? []),
        {
          kind: 'event',
          type: '0x1::multisig_account::TransactionExecutionSucceeded',
          data: {
            executor: short(executor),
            multisig_account: short(multisig),
            num_approvals: '2',
            sequence_number: '1',
            transaction_payload: '0x',
          },
        },
      ],
    };
  },

  /**
   * Returns the same transaction with an encrypted payload. Default state: `decrypted`.
   *
   * @throws Error if the payload is encrypted already.
   */
  encrypted: (
    { payload, ...transaction }: ScriptedAptosTransaction,
    state = 'decrypted',
  ): ScriptedAptosTransaction => {
    if (payload.kind === 'encrypted') throw new Error('The payload is encrypted already');
    return { ...transaction, payload: { kind: 'encrypted', state, content: payload } };
  },

  /** Returns the same transaction with a nonce instead of a sequence number. */
  orderless: (transaction: ScriptedAptosTransaction, nonce: bigint) => ({
    ...transaction,
    replayProtectionNonce: nonce,
  }),

  /** Returns the same transaction, with changes that do not contain the owners of stores. */
  hidingStoreOwners: (transaction: ScriptedAptosTransaction) => ({
    ...transaction,
    showsStoreOwners: false,
  }),
};

interface MintedBy {
  sender: Hex;
  metadata: Hex;
}

interface StoreOf {
  store: Hex;
  owner: Hex;
  metadata: Hex;
}

interface CloseStore {
  sender: Hex;
  store: Hex;
  to: Hex;
  metadata: Hex;
  amount: bigint;
  isAnnounced?: boolean;
}

interface ObjectTransfer {
  from: Hex;
  to: Hex;
  object: Hex;
  events?: AptosCoinEvents;
}

interface TokenMint {
  creator: Hex;
  collection: string;
  name: string;
  to: Hex;
}

type Call = Omit<AptosEntryFunction, 'kind'> & {
  sender: Hex;
  effects?: readonly AptosEffect[];
};

const tooLittle =
  'Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE(0x10004): Insufficient balance to withdraw or transfer.';

function fungibleMove(from: Hex, to: Hex, metadata: Hex, amount: bigint) {
  return [
    { kind: 'fungibleWithdraw', store: { owner: from, metadata }, amount },
    { kind: 'fungibleDeposit', store: { owner: to, metadata }, amount },
  ] satisfies AptosEffect[];
}

function objectTransfer(options: Required<ObjectTransfer> & { type: string }) {
  const { from, to, object, events, type } = options;
  return {
    sender: from,
    payload: {
      kind: 'entryFunction',
      function: '0x1::object::transfer',
      typeArguments: [type],
      arguments: [{ inner: short(object) }, short(to)],
    },
    effects: [{ kind: 'transferObject', object, to, events }],
  } satisfies ScriptedAptosTransaction;
}

/** Returns the resources of a fungible asset's metadata object. */
export function fungibleAssetResources(asset: AptosFungibleAsset): Record<string, MoveValue> {
  const { name, symbol, decimals } = asset;
  return {
    [resourceTypes.supply]: {
      current: { max_value: '340282366920938463463374607431768211455', value: '0' },
    },
    [resourceTypes.fungibleAsset]: { decimals, icon_uri: '', name, project_uri: '', symbol },
  };
}

function tokenResources(collection: Hex, token: Hex, name: string): Record<string, MoveValue> {
  return {
    '0x4::token::Token': {
      collection: { inner: short(collection) },
      description: `A token named ${name}`,
      index: '0',
      mutation_events: {
        counter: '0',
        guid: { id: { addr: short(token), creation_num: '1125899906842625' } },
      },
      name: '',
      uri: `https://tokens.example/${encodeURIComponent(name)}`,
    },
    '0x4::token::TokenIdentifiers': { index: { value: '1' }, name: { padding: '0x', value: name } },
  };
}
