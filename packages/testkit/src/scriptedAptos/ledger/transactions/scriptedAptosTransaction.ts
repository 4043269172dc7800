import type { Hex } from 'viem';
import { primaryStoreOf, toLongAddress } from '../aptosAddress.ts';
import type { MoveValue } from '../../rest/restShapes.ts';

/** A store of a fungible asset: by its address once it exists, or an owner's primary store. */
export type AptosStore = Hex | { owner: Hex; metadata: Hex };

/**
 * Kind of events of a coin movement: `legacy` events name the account in their guid, `module`
 * events in their data. Chains had `both` during the migration.
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
  /** A store that is not an owner's primary store, as used by pools and vaults; initially empty. */
  | { kind: 'createStore'; store: Hex; owner: Hex; metadata: Hex }
  /**
   * Deletes an empty store. If `isAnnounced` is false, there is no event with its owner, as before
   * April 2025.
   */
  | { kind: 'deleteStore'; store: AptosStore; isAnnounced?: boolean }
  /** An object with the resources of its group, by type. */
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
   * An event of any type: a legacy event, numbered within its `handle`, or without one a module
   * event.
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

/** The payload that the sender signed. */
export type AptosPayload = AptosEntryFunction | AptosScript | AptosMultisig;

export interface AptosEntryFunction {
  kind: 'entryFunction';
  /** `address::module::function`. */
  function: string;
  /** Default: none. */
  typeArguments?: readonly string[];
  /** Addresses are short or long; numbers of 64 bits and more are strings. Default: none. */
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
  /** The multisig account. */
  multisig: Hex;
  /** Omitted if the call is already stored on-chain, and the transaction does not repeat it. */
  call?: AptosEntryFunction;
}

/** A user transaction to mine. Mining it again creates another transaction. */
export interface ScriptedAptosTransaction {
  /** Default: an address derived from the ledger's seed. */
  sender?: Hex;
  payload: AptosPayload;
  /** Default: none. */
  effects?: readonly AptosEffect[];
  /** VM status of a failed transaction, which only pays gas. */
  failure?: string;
  /** Accounts that sign in addition to the sender. Default: none. */
  secondarySigners?: readonly Hex[];
  /** Pays the gas instead of the sender. */
  feePayer?: Hex;
  /** Makes the transaction orderless, without a sequence number. */
  replayProtectionNonce?: bigint;
  /** Gas units. Default: 12. */
  gasUsed?: bigint;
  /** Octas per gas unit. Default: 100. */
  gasUnitPrice?: bigint;
  /** Balance that pays the gas. Default: `fungibleAsset`, as on current chains. */
  gasFrom?: 'coin' | 'fungibleAsset';
  /** False for a transaction from before fee statements. Default: true. */
  hasFeeStatement?: boolean;
  /**
   * If false, the changes omit the `0x1::object::ObjectCore` of touched stores, so that their
   * owners must be looked up. Default: true.
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
