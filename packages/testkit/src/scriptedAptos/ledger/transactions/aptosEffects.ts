import type { Hex } from 'viem';
import { sha3OfText, toLongAddress, toShortAddress as short } from '../aptosAddress.ts';
import { moduleKey, toCanonicalType } from '../aptosState.ts';
import {
  type AptosAccount,
  type AptosObject,
  type CoinStore,
  type EventHandle,
  type FungibleStore,
  newAccount,
  newObject,
  resourceTypes,
  toHandle,
} from '../aptosResources.ts';
import type { AptosWorkspace } from '../aptosWorkspace.ts';
import type { MoveValue, RestChange, RestEvent } from '../../rest/restShapes.ts';
import { type AptosEffect, type AptosStore, addressOfStore } from './scriptedAptosTransaction.ts';

/** Events and table changes of a transaction. Its resource writes are in the workspace. */
export interface AptosTraces {
  events: RestEvent[];
  tableChanges: RestChange[];
}

export interface EffectContext {
  workspace: AptosWorkspace;
  traces: AptosTraces;
  /** Balance of a coin store or a primary store before its first use. */
  startBalance: bigint;
  /** Returns the next sequence number of the handle that an `event` effect uses. */
  nextSequenceNumber: (account: Hex, creationNumber: bigint) => bigint;
}

const largestU64 = 2n ** 64n - 1n;

/**
 * Applies one effect to the workspace.
 *
 * @throws Error if the effect is impossible, for example because a balance is too low, or because
 *   an object does not exist or already exists.
 */
export function applyEffect(effect: AptosEffect, context: EffectContext): void {
  const { workspace, traces } = context;
  switch (effect.kind) {
    case 'coinWithdraw':
    case 'coinDeposit':
      moveCoin(effect, context);
      return;
    case 'fungibleWithdraw':
    case 'fungibleDeposit': {
      const store = moveFungible(effect, context);
      const type = `0x1::fungible_asset::${effect.kind === 'fungibleDeposit' ? 'Deposit' : 'Withdraw'}`;
      const data = { amount: String(effect.amount), store: short(store) };
      traces.events.push(toModuleEvent(type, data));
      return;
    }
    case 'createStore':
      createObject(workspace, effect.store, effect.owner, false);
      putStore(workspace, toLongAddress(effect.store), effect.metadata, 0n);
      return;
    case 'deleteStore':
      deleteStore(effect, context);
      return;
    case 'createObject': {
      createObject(workspace, effect.object, effect.owner, true);
      for (const [type, data] of Object.entries(effect.resources ?? {})) {
        workspace.write(toLongAddress(effect.object), toCanonicalType(type), data);
      }
      return;
    }
    case 'deleteObject':
      readObject(workspace, effect.object);
      deleteAll(workspace, effect.object);
      return;
    case 'transferObject':
      transferObject(effect, context);
      return;
    case 'event': {
      const type = toCanonicalType(effect.type);
      const { handle, data } = effect;
      if (!handle) {
        traces.events.push(toModuleEvent(type, data));
        return;
      }
      const account = toLongAddress(handle.account);
      const sequenceNumber = context.nextSequenceNumber(account, handle.creationNumber);
      traces.events.push(
        toHandleEvent(type, account, String(handle.creationNumber), String(sequenceNumber), data),
      );
      return;
    }
    case 'writeResource':
      workspace.write(toLongAddress(effect.address), toCanonicalType(effect.type), effect.data);
      return;
    case 'deleteResource': {
      const { address, type } = effect;
      if (workspace.read(toLongAddress(address), toCanonicalType(type)) === undefined) {
        throw new Error(`No ${type} at ${address} to delete`);
      }
      workspace.write(toLongAddress(address), toCanonicalType(type), undefined);
      return;
    }
    case 'writeModule': {
      const address = toLongAddress(effect.address);
      workspace.write(address, moduleKey(effect.name), toModule(address, effect.name));
      return;
    }
    case 'writeTableItem': {
      const { handle, key, value } = effect;
      traces.tableChanges.push(toTableWrite(handle, key, value));
      return;
    }
    case 'deleteTableItem': {
      const { handle, key } = effect;
      traces.tableChanges.push({
        state_key_hash: sha3OfText(`${handle}:${key}`),
        handle,
        key,
        data: null,
        type: 'delete_table_item',
      });
    }
  }
}

interface Coins {
  account: Hex;
  coinType: string;
}

/** Withdraws coins without an event, as a gas payment does. */
export function takeCoin(from: Coins, amount: bigint, context: EffectContext): void {
  const { type, store } = readCoinStore(from, context);
  const value = withdrawn(store.coin.value, amount, `The ${from.coinType} of ${from.account}`);
  context.workspace.write(toLongAddress(from.account), type, { ...store, coin: { value } });
}

/**
 * Adds or removes units of a fungible asset without an event, and returns the store's address.
 * Creates a primary store on its first use.
 */
export function moveFungible(
  move: { kind: 'fungibleWithdraw' | 'fungibleDeposit'; store: AptosStore; amount: bigint },
  { workspace, startBalance }: EffectContext,
): Hex {
  const address = addressOfStore(move.store);
  if (typeof move.store === 'object' && !workspace.read(address, resourceTypes.fungibleStore)) {
    createObject(workspace, address, move.store.owner, false);
    putStore(workspace, address, move.store.metadata, startBalance);
  }
  const store = readStore(workspace, address);
  const balance =
    move.kind === 'fungibleDeposit'
      ? deposited(store.balance, move.amount, `The store ${address}`)
      : withdrawn(store.balance, move.amount, `The store ${address}`);
  workspace.write(address, resourceTypes.fungibleStore, { ...store, balance });
  return address;
}

/** Returns the account's resource, or a new one, which is not written yet. */
export function readAccount(workspace: AptosWorkspace, address: string): AptosAccount {
  const account = workspace.read(toLongAddress(address), resourceTypes.account);
  return (account as AptosAccount | undefined) ?? newAccount(address);
}

export function writeAccount(workspace: AptosWorkspace, address: string, account: AptosAccount) {
  workspace.write(toLongAddress(address), resourceTypes.account, account);
}

/** Creates a module event, which has no handle. */
export function toModuleEvent(type: string, data: MoveValue): RestEvent {
  return toHandleEvent(type, '0x0', '0', '0', data);
}

export function toHandleEvent(
  type: string,
  account: Hex,
  creationNumber: string,
  sequenceNumber: string,
  data: MoveValue,
): RestEvent {
  return {
    guid: { creation_number: creationNumber, account_address: short(account) },
    sequence_number: sequenceNumber,
    type,
    data,
  };
}

export function toTableWrite(handle: Hex, key: Hex, value: Hex): RestChange {
  return {
    state_key_hash: sha3OfText(`${handle}:${key}`),
    handle,
    key,
    value,
    data: null,
    type: 'write_table_item',
  };
}

function moveCoin(effect: Extract<AptosEffect, { coinType: string }>, context: EffectContext) {
  const { account, amount, events = 'legacy' } = effect;
  const coinType = toCanonicalType(effect.coinType);
  const { type, store } = readCoinStore(effect, context);
  const isDeposit = effect.kind === 'coinDeposit';
  const what = `The ${coinType} of ${account}`;
  const value = isDeposit
    ? deposited(store.coin.value, amount, what)
    : withdrawn(store.coin.value, amount, what);
  const field = isDeposit ? 'deposit_events' : 'withdraw_events';
  const handle = store[field];
  if (events !== 'legacy') {
    const data = { account: short(account), amount: String(amount), coin_type: coinType };
    const name = isDeposit ? 'CoinDeposit' : 'CoinWithdraw';
    context.traces.events.push(toModuleEvent(`0x1::coin::${name}`, data));
  }
  if (events !== 'module') {
    const name = isDeposit ? 'DepositEvent' : 'WithdrawEvent';
    const data = { amount: String(amount) };
    context.traces.events.push(fromHandle(`0x1::coin::${name}`, handle, data));
  }
  context.workspace.write(toLongAddress(account), type, {
    ...store,
    coin: { value },
    [field]: events === 'module' ? handle : counting(handle),
  });
}

/**
 * Returns the account's store for a coin. A new store takes two creation numbers of the account;
 * the caller writes the store.
 */
function readCoinStore({ account, coinType }: Coins, { workspace, startBalance }: EffectContext) {
  const type = `0x1::coin::CoinStore<${toCanonicalType(coinType)}>`;
  const known = workspace.read(toLongAddress(account), type);
  if (known) return { type, store: known as CoinStore };
  const owner = readAccount(workspace, account);
  const firstNumber = BigInt(owner.guid_creation_num);
  writeAccount(workspace, account, { ...owner, guid_creation_num: String(firstNumber + 2n) });
  const store: CoinStore = {
    coin: { value: String(startBalance) },
    deposit_events: toHandle(account, firstNumber),
    frozen: false,
    withdraw_events: toHandle(account, firstNumber + 1n),
  };
  return { type, store };
}

function readStore(workspace: AptosWorkspace, address: Hex): FungibleStore {
  const store = workspace.read(address, resourceTypes.fungibleStore);
  if (!store) throw new Error(`No fungible store at ${address}; create it first`);
  return store as FungibleStore;
}

function putStore(workspace: AptosWorkspace, address: Hex, metadata: Hex, balance: bigint) {
  if (!workspace.read(toLongAddress(metadata), resourceTypes.fungibleAsset)) {
    throw new Error(`No fungible asset at ${metadata}; create it first`);
  }
  workspace.write(address, resourceTypes.fungibleStore, {
    balance: String(balance),
    frozen: false,
    metadata: { inner: short(metadata) },
  });
}

function deleteStore(
  effect: Extract<AptosEffect, { kind: 'deleteStore' }>,
  { workspace, traces }: EffectContext,
) {
  const address = addressOfStore(effect.store);
  const { balance, metadata } = readStore(workspace, address);
  if (balance !== '0') throw new Error(`The store ${address} holds ${balance}; empty it first`);
  const { owner } = readObject(workspace, address);
  if (effect.isAnnounced !== false) {
    const data = { metadata: metadata.inner, owner, store: short(address) };
    traces.events.push(toModuleEvent('0x1::fungible_asset::FungibleStoreDeletion', data));
  }
  deleteAll(workspace, address);
}

function createObject(workspace: AptosWorkspace, object: Hex, owner: Hex, allowsTransfer: boolean) {
  const address = toLongAddress(object);
  if (workspace.read(address, resourceTypes.object))
    throw new Error(`${address} already has an object`);
  workspace.write(address, resourceTypes.object, newObject(address, owner, allowsTransfer));
}

function readObject(workspace: AptosWorkspace, object: Hex): AptosObject {
  const core = workspace.read(toLongAddress(object), resourceTypes.object);
  if (!core) throw new Error(`No object at ${object}; create it first`);
  return core as AptosObject;
}

function deleteAll(workspace: AptosWorkspace, object: Hex) {
  const address = toLongAddress(object);
  for (const type of workspace.list(address).keys()) workspace.write(address, type, undefined);
}

function transferObject(
  effect: Extract<AptosEffect, { kind: 'transferObject' }>,
  { workspace, traces }: EffectContext,
) {
  const { events = 'module' } = effect;
  const core = readObject(workspace, effect.object);
  const to = short(effect.to);
  const data = { from: core.owner, object: short(effect.object), to };
  if (events !== 'legacy') traces.events.push(toModuleEvent('0x1::object::Transfer', data));
  if (events !== 'module') {
    traces.events.push(fromHandle('0x1::object::TransferEvent', core.transfer_events, data));
  }
  workspace.write(toLongAddress(effect.object), resourceTypes.object, {
    ...core,
    owner: to,
    transfer_events: events === 'module' ? core.transfer_events : counting(core.transfer_events),
  });
}

function fromHandle(type: string, { counter, guid }: EventHandle, data: MoveValue): RestEvent {
  return toHandleEvent(type, guid.id.addr, guid.id.creation_num, counter, data);
}

function counting(handle: EventHandle): EventHandle {
  return { ...handle, counter: String(BigInt(handle.counter) + 1n) };
}

function deposited(balance: string, amount: bigint, what: string): string {
  const sum = BigInt(balance) + amount;
  if (sum > largestU64) throw new Error(`${what} holds ${balance} and cannot take ${amount} more`);
  return String(sum);
}

function withdrawn(balance: string, amount: bigint, what: string): string {
  const rest = BigInt(balance) - amount;
  if (rest < 0n) throw new Error(`${what} holds ${balance}, too little to withdraw ${amount}`);
  return String(rest);
}

/** Creates a module without functions, which is sufficient to list modules. */
function toModule(address: Hex, name: string): MoveValue {
  const abi = { address: short(address), name, friends: [], exposed_functions: [], structs: [] };
  return { bytecode: '0xa11ceb0b', abi };
}
