import type { Hex } from 'viem';
import { primaryStoreOf, toLongAddress } from '../aptosAddress.ts';
import type { MoveValue } from '../../rest/restShapes.ts';

/**
 * A store of a fungible asset: the address of an existing store, or the primary store of an owner,
 * which is created on first use.
 */
export type AptosStore = Hex | { owner: Hex; metadata: Hex };

/**
 * Kind of events of a coin or object transfer. `legacy` events belong to a handle of the account or
 * object; `module` events have no handle and name the account or object in their data. Chains
 * emitted `both` during the migration.
 */
export type AptosCoinEvents = 'legacy' | 'module' | 'both';

/** One effect of a transaction, from which the ledger derives events, changes and state. */
export type AptosEffect =
  /** Default events: `legacy`. */
  | {
      kind: 'coinWithdraw' | 'coinDeposit';
      account: Hex;
      coinType: string;
      amount: bigint;
      events?: AptosCoinEvents;
    }
  | { kind: 'fungibleWithdraw' | 'fungibleDeposit'; store: AptosStore; amount: bigint }
  /** Creates an empty store that is not an owner's primary store, as pools and vaults do. */
  | { kind: 'createStore'; store: Hex; owner: Hex; metadata: Hex }
  /**
   * Deletes an empty store. An event names the store's owner, unless `isAnnounced` is false, as
   * before April 2025. Default: true.
   */
  | { kind: 'deleteStore'; store: AptosStore; isAnnounced?: boolean }
  /**
   * Creates an object with `0x1::object::ObjectCore` and these additional resources, keyed by type.
   */
  | {
      kind: 'createObject';
      object: Hex;
      owner: Hex;
      resources?: Readonly<Record<string, MoveValue>>;
    }
  | { kind: 'deleteObject'; object: Hex }
  /** Default events: `module` (`0x1::object::Transfer`). */
  | { kind: 'transferObject'; object: Hex; to: Hex; events?: AptosCoinEvents }
  /**
   * Emits an event of any type. With `handle`, it is a legacy event, numbered within the handle;
   * otherwise, it is a module event.
   */
  | {
      kind: 'event';
      type: string;
      data: MoveValue;
      handle?: { account: Hex; creationNumber: bigint };
    }
  | { kind: 'writeResource'; address: Hex; type: string; data: MoveValue }
  | { kind: 'deleteResource'; address: Hex; type: string }
  | { kind: 'writeModule'; address: Hex; name: string }
  | { kind: 'writeTableItem'; handle: Hex; key: Hex; value: Hex }
  | { kind: 'deleteTableItem'; handle: Hex; key: Hex };

export type AptosPayload = AptosEntryFunction | AptosScript | AptosMultisig | AptosEncrypted;

export interface AptosEntryFunction {
  kind: 'entryFunction';
  /** `address::module::function`. */
  function: string;
  /** Default: none. */
  typeArguments?: readonly string[];
  /** Addresses may be short or long; numbers of 64 bits and more are strings. Default: none. */
  arguments?: readonly MoveValue[];
}

export interface AptosScript {
  kind: 'script';
  bytecode: Hex;
  typeArguments?: readonly string[];
  arguments?: readonly MoveValue[];
}

export interface AptosMultisig {
  kind: 'multisig';
  multisig: Hex;
  /** Omitted if the transaction executes a call that is already stored on-chain. */
  call?: AptosEntryFunction;
}

/** A payload that was encrypted until validators ordered it. */
export interface AptosEncrypted {
  kind: 'encrypted';
  /** `decrypted`, `failed_decryption`, or a state of a later version. */
  state: string;
  /** Shown only if `state` is `decrypted`. */
  content: AptosEntryFunction | AptosScript | AptosMultisig;
}

/** A user transaction to mine. Mining the same object again creates a new transaction. */
export interface ScriptedAptosTransaction {
  /** Default: an address derived from the ledger's seed. */
  sender?: Hex;
  payload: AptosPayload;
  /** Default: none. */
  effects?: readonly AptosEffect[];
  /** VM status of a transaction that fails and only pays gas. Default: the transaction succeeds. */
  failure?: string;
  /** Additional signers. Default: none. */
  secondarySigners?: readonly Hex[];
  /** Account that pays the gas. Default: the sender. */
  feePayer?: Hex;
  /** Nonce that replaces the sequence number and makes the transaction orderless. */
  replayProtectionNonce?: bigint;
  /** Gas units. Default: 12. */
  gasUsed?: bigint;
  /** Octas per gas unit. Default: 100. */
  gasUnitPrice?: bigint;
  /** The form of APT that pays the gas. Default: `fungibleAsset`, as on current chains. */
  gasFrom?: 'coin' | 'fungibleAsset';
  /** Whether the transaction emits a fee statement. Old transactions have none. Default: true. */
  hasFeeStatement?: boolean;
  /**
   * If false, the changes omit the `0x1::object::ObjectCore` of written stores, so that their
   * owners must be read from the state. Default: true.
   */
  showsStoreOwners?: boolean;
}

export interface AptosFungibleAsset {
  name: string;
  symbol: string;
  decimals: number;
}

export function addressOfStore(store: AptosStore): Hex {
  return typeof store === 'string'
    ? toLongAddress(store)
    : primaryStoreOf(store.owner, store.metadata);
}
