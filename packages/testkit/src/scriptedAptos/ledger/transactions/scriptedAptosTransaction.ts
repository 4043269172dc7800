import type { Hex } from 'viem';
import { primaryStoreOf, toLongAddress } from '../aptosAddress.ts';
import type { MoveValue } from '../../rest/restShapes.ts';

/** A store of a fungible asset: by its address once it exists, or an owner's primary store. */
export type AptosStore = Hex | { owner: Hex; metadata: Hex };

/**
 * Which events a coin leaves when it moves: `legacy` ones, whose guid names the account; `module` ones,
 * which name it in their data; or `both`, as in the months between the two.
 */
export type AptosCoinEvents = 'legacy' | 'module' | 'both';

/** One thing that a transaction does. The ledger makes of it the events, the changes and the state. */
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
   * Removes an empty store. `isAnnounced` false: without the event that names its owner, as before
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
  /** Default events: `module`, that is `0x1::object::Transfer`. */
  | { kind: 'transferObject'; object: Hex; to: Hex; events?: AptosCoinEvents }
  /**
   * An event of any type. With a `handle` it is a legacy one, numbered within that handle; without
   * one a module event.
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
  /** Default none. */
  typeArguments?: readonly string[];
  /** Default none. Addresses short or long; numbers of 64 bits and more as text. */
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
  /** The account that acts. */
  multisig: Hex;
  /** Absent if the call is already stored on-chain, and the transaction does not repeat it. */
  call?: AptosEntryFunction;
}

/** A user transaction to be mined. It may be mined again; each time it is another transaction. */
export interface ScriptedAptosTransaction {
  /** Default: an address made from the ledger's seed. */
  sender?: Hex;
  payload: AptosPayload;
  /** Default none. */
  effects?: readonly AptosEffect[];
  /** The VM's status of a transaction that failed: it pays its gas and does nothing else. */
  failure?: string;
  /** Accounts that sign in addition to the sender. Default: none. */
  secondarySigners?: readonly Hex[];
  /** Pays the gas in the sender's place. */
  feePayer?: Hex;
  /** Makes it orderless: without a place in the sender's sequence. */
  replayProtectionNonce?: bigint;
  /** Units of gas. Default 12. */
  gasUsed?: bigint;
  /** Octas for a unit. Default 100. */
  gasUnitPrice?: bigint;
  /** Balance that pays the gas. Default `fungibleAsset`, as on current chains. */
  gasFrom?: 'coin' | 'fungibleAsset';
  /** Default true; false for a transaction of the time before there were such events. */
  hasFeeStatement?: boolean;
  /**
   * False: the `0x1::object::ObjectCore` of the stores that it touches is not among its changes, so
   * that their owners must be looked up. Default true.
   */
  showsStoreOwners?: boolean;
}

/** Metadata of a fungible asset. */
export interface AptosFungibleAsset {
  name: string;
  symbol: string;
  decimals: number;
}

/** Returns the address of a store. */
export function addressOfStore(store: AptosStore): Hex {
  return typeof store === 'string'
    ? toLongAddress(store)
    : primaryStoreOf(store.owner, store.metadata);
}
