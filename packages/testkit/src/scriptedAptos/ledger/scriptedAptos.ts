import type { Hex } from 'viem';
import {
  aptCoinType,
  aptMetadata,
  namedObjectOf,
  namedTokenOf,
  toShortAddress as short,
} from './aptosAddress.ts';
import { type AptosEvents, aptosEffects } from './aptosEffects.ts';
import {
  type AptosFungibleAsset,
  assetResources,
  resourceTypes,
  tokenResources,
} from './aptosResources.ts';
import type {
  AptosEffect,
  AptosEntryFunction,
  ScriptedAptosTransaction,
} from './scriptedAptosTransaction.ts';

const { fungibleDeposit, fungibleWithdraw, coinMove } = aptosEffects;

interface Transfer {
  from: Hex;
  to: Hex;
  amount: bigint;
}

interface ObjectTransfer {
  from: Hex;
  to: Hex;
  object: Hex;
  /** Default: `module`. */
  events?: AptosEvents;
}

/** Functions that create common transactions, and variants of a transaction. */
export const scriptedAptos = {
  /** Calls an entry function that has the given effects. Default: no effects. */
  call: ({
    sender,
    effects = [],
    ...call
  }: Omit<AptosEntryFunction, 'kind'> & {
    sender: Hex;
    effects?: readonly AptosEffect[];
  }) =>
    ({
      sender,
      payload: { kind: 'entryFunction', ...call },
      effects,
    }) satisfies ScriptedAptosTransaction,

  /**
   * Transfers APT as a fungible asset with `0x1::aptos_account::transfer`; `amount` is in octas.
   */
  transfer: ({ from, to, amount }: Transfer) =>
    scriptedAptos.call({
      sender: from,
      function: '0x1::aptos_account::transfer',
      arguments: [short(to), String(amount)],
      effects: assetMove({ from, to, amount, metadata: aptMetadata }),
    }),

  /**
   * Transfers a legacy coin by calling `through`. Defaults: APT, `0x1::coin::transfer`, and
   * `legacy` events.
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
    through?: '0x1::coin::transfer' | '0x1::aptos_account::transfer_coins';
    events?: AptosEvents;
  }) =>
    scriptedAptos.call({
      sender: from,
      function: through,
      typeArguments: [coinType],
      arguments: [short(to), String(amount)],
      effects: [
        ...coinMove('Withdraw', from, coinType, amount, events),
        ...coinMove('Deposit', to, coinType, amount, events),
      ],
    }),

  /**
   * Transfers a fungible asset between the primary stores of two accounts with
   * `0x1::primary_fungible_store::transfer`.
   */
  fungibleTransfer: ({ from, to, metadata, amount }: Transfer & { metadata: Hex }) =>
    scriptedAptos.call({
      sender: from,
      function: '0x1::primary_fungible_store::transfer',
      typeArguments: ['0x1::fungible_asset::Metadata'],
      arguments: [{ inner: short(metadata) }, short(to), String(amount)],
      effects: assetMove({ from, to, amount, metadata }),
    }),

  /** Creates a fungible asset. Its metadata address is `namedObjectOf(creator, symbol)`. */
  createFungibleAsset: ({ creator, ...asset }: AptosFungibleAsset & { creator: Hex }) =>
    scriptedAptos.call({
      sender: creator,
      function: `${short(creator)}::asset::create`,
      arguments: [asset.name, asset.symbol, asset.decimals],
      effects: aptosEffects.createObject(
        namedObjectOf(creator, asset.symbol),
        creator,
        assetResources(asset),
      ),
    }),

  /** Transfers an object with `0x1::object::transfer`. */
  objectTransfer: (transfer: ObjectTransfer) => objectTransfer(transfer, '0x1::object::ObjectCore'),

  /**
   * Mints a digital asset at the address `namedTokenOf(creator, collection, name)` and transfers it
   * to `to`.
   */
  tokenMint: ({
    creator,
    collection,
    name,
    to,
  }: {
    creator: Hex;
    collection: string;
    name: string;
    to: Hex;
  }) => {
    const object = namedTokenOf(creator, collection, name);
    const collectionObject = short(namedObjectOf(creator, collection));
    return scriptedAptos.call({
      sender: creator,
      function: '0x4::aptos_token::mint_soul_bound',
      arguments: [collection, '', name, '', [], [], [], short(to)],
      effects: [
        ...aptosEffects.createObject(
          object,
          creator,
          tokenResources(collectionObject, object, name),
        ),
        {
          kind: 'event',
          type: '0x4::collection::Mint',
          data: { collection: collectionObject, index: { value: '1' }, token: short(object) },
        },
        ...aptosEffects.transferObject(object, creator, to, 'module'),
      ],
    });
  },

  /** Transfers a digital asset with `0x1::object::transfer<0x4::token::Token>`. */
  tokenTransfer: (transfer: ObjectTransfer) => objectTransfer(transfer, '0x4::token::Token'),

  /** Burns a digital asset; `collection` is the address of its collection. */
  tokenBurn: ({ owner, object, collection }: { owner: Hex; object: Hex; collection: Hex }) =>
    scriptedAptos.call({
      sender: owner,
      function: '0x4::aptos_token::burn',
      typeArguments: ['0x4::aptos_token::AptosToken'],
      arguments: [{ inner: short(object) }],
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
        { kind: 'deleteResource', address: object, type: resourceTypes.object },
      ],
    }),

  /** Runs a Move script, so the payload names no function. */
  script: ({ sender, effects = [] }: { sender: Hex; effects?: readonly AptosEffect[] }) =>
    ({
      sender,
      payload: { kind: 'script', bytecode: '0xa11ceb0b030000000105000100000000' },
      effects,
    }) satisfies ScriptedAptosTransaction,

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
    const executed: AptosEffect = {
      kind: 'event',
      type: '0x1::multisig_account::TransactionExecutionSucceeded',
      data: {
        executor: short(executor),
        multisig_account: short(multisig),
        num_approvals: '2',
        sequence_number: '1',
        transaction_payload: '0x',
      },
    };
    return {
      ...transaction,
      sender: executor,
      payload: { kind: 'multisig', multisig, ...(!stored && { call }) },
      effects: [...(transaction.effects ?? []), executed],
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
};

function assetMove({ from, to, metadata, amount }: Transfer & { metadata: Hex }) {
  return [
    ...fungibleWithdraw({ owner: from, metadata }, amount),
    ...fungibleDeposit({ owner: to, metadata }, amount),
  ];
}

function objectTransfer({ from, to, object, events = 'module' }: ObjectTransfer, type: string) {
  return scriptedAptos.call({
    sender: from,
    function: '0x1::object::transfer',
    typeArguments: [type],
    arguments: [{ inner: short(object) }, short(to)],
    effects: aptosEffects.transferObject(object, from, to, events),
  });
}
