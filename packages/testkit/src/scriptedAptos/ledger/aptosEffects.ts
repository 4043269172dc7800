import type { Hex } from 'viem';
import {
  primaryStoreOf,
  sha3OfText,
  toCanonicalType,
  toLongAddress,
  toShortAddress as short,
} from './aptosAddress.ts';
import { newObject, resourceTypes, toHandle } from './aptosResources.ts';
import type { MoveValue } from './restTransaction.ts';
import type { AptosEffect } from './scriptedAptosTransaction.ts';

/**
 * A store of a fungible asset: the primary store of its owner, unless it has an `address`. Only a
 * store with an address can lack an owner; its changes then contain no `0x1::object::ObjectCore`.
 */
export type AptosStore =
  | { metadata: Hex; owner: Hex; address?: Hex }
  | { metadata: Hex; owner?: undefined; address: Hex };

/**
 * Kind of events of a coin or object transfer. `legacy` events belong to a handle of the account or
 * object; `module` events have no handle and name the account or object in their data. Chains
 * emitted `both` during the migration.
 */
export type AptosEvents = 'legacy' | 'module' | 'both';

/** Functions that return the events and changes of common operations. Balances are not tracked. */
export const aptosEffects = {
  fungibleDeposit: (store: AptosStore, amount: bigint) => fungibleMove('Deposit', store, amount),
  fungibleWithdraw: (store: AptosStore, amount: bigint) => fungibleMove('Withdraw', store, amount),
  coinMove,
  writeStore,
  deleteStore,
  createObject,
  transferObject,
};

function addressOf(store: AptosStore): Hex {
  return toLongAddress(store.address ?? primaryStoreOf(store.owner, store.metadata));
}

function fungibleMove(name: 'Deposit' | 'Withdraw', store: AptosStore, amount: bigint) {
  const data = { amount: String(amount), store: short(addressOf(store)) };
  return [
    { kind: 'event', type: `0x1::fungible_asset::${name}`, data },
    ...writeStore(store, amount),
  ] satisfies AptosEffect[];
}

function writeStore(store: AptosStore, balance = 0n): AptosEffect[] {
  const address = addressOf(store);
  const data = {
    balance: String(balance),
    frozen: false,
    metadata: { inner: short(store.metadata) },
  };
  return [
    { kind: 'writeResource', address, type: resourceTypes.fungibleStore, data },
    ...(store.owner === undefined ? [] : createObject(address, store.owner, {}, false)),
  ];
}

/** Deletes a store. An event names the owner, whom the changes no longer contain. */
function deleteStore(store: AptosStore & { owner: Hex }): AptosEffect[] {
  const address = addressOf(store);
  const data = {
    metadata: short(store.metadata),
    owner: short(store.owner),
    store: short(address),
  };
  return [
    { kind: 'event', type: '0x1::fungible_asset::FungibleStoreDeletion', data },
    { kind: 'deleteResource', address, type: resourceTypes.fungibleStore },
    { kind: 'deleteResource', address, type: resourceTypes.object },
  ];
}

function coinMove(
  name: 'Deposit' | 'Withdraw',
  account: Hex,
  coinType: string,
  amount: bigint,
  events: AptosEvents,
): AptosEffect[] {
  const coin = toCanonicalType(coinType);
  // Each coin of an account has its own two handles.
  const firstHandle = 2n * (BigInt(sha3OfText(coin)) % 1_000n) + 2n;
  const [deposits, withdrawals] = [firstHandle, firstHandle + 1n];
  const handle = { account, creationNumber: name === 'Deposit' ? deposits : withdrawals };
  const value = { amount: String(amount) };
  const moduleData = { account: short(account), ...value, coin_type: coin };
  const store = {
    coin: { value: String(amount) },
    deposit_events: toHandle(account, deposits),
    frozen: false,
    withdraw_events: toHandle(account, withdrawals),
  };
  return [
    ...inEvents(
      events,
      { type: `0x1::coin::Coin${name}`, data: moduleData },
      { type: `0x1::coin::${name}Event`, data: value, handle },
    ),
    { kind: 'writeResource', address: account, type: `0x1::coin::CoinStore<${coin}>`, data: store },
  ];
}

/** Writes an object with these additional resources, keyed by type. */
function createObject(
  object: Hex,
  owner: Hex,
  resources: Readonly<Record<string, MoveValue>> = {},
  allowsTransfer = true,
): AptosEffect[] {
  const all = { [resourceTypes.object]: newObject(object, owner, allowsTransfer), ...resources };
  return Object.entries(all).map(([type, data]) => ({
    kind: 'writeResource',
    address: object,
    type,
    data,
  }));
}

function transferObject(object: Hex, from: Hex, to: Hex, events: AptosEvents): AptosEffect[] {
  const data = { from: short(from), object: short(object), to: short(to) };
  const { id } = newObject(object, to, true).transfer_events.guid;
  const handle = { account: object, creationNumber: BigInt(id.creation_num) };
  return [
    ...inEvents(
      events,
      { type: '0x1::object::Transfer', data },
      { type: '0x1::object::TransferEvent', data, handle },
    ),
    ...createObject(object, to),
  ];
}

type EventEffect = Omit<Extract<AptosEffect, { kind: 'event' }>, 'kind'>;

function inEvents(events: AptosEvents, module: EventEffect, legacy: EventEffect): AptosEffect[] {
  const emitted = { module: [module], legacy: [legacy], both: [module, legacy] }[events];
  return emitted.map((each) => ({ kind: 'event', ...each }));
}
