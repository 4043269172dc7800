import type { Hex } from 'viem';
import type { MoveValue } from './restTransaction.ts';

/** One event or change of a transaction. `aptosEffects` makes those of common operations. */
export type AptosEffect =
  /** Without `handle`, a module event; otherwise a legacy event, numbered within the handle. */
  | {
      kind: 'event';
      type: string;
      data: MoveValue;
      handle?: { account: Hex; creationNumber: bigint };
    }
  | { kind: 'writeResource'; address: Hex; type: string; data: MoveValue }
  | { kind: 'deleteResource'; address: Hex; type: string }
  | { kind: 'writeTableItem'; handle: Hex; key: Hex; value: Hex };

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

export interface AptosScript extends Pick<AptosEntryFunction, 'typeArguments' | 'arguments'> {
  kind: 'script';
  bytecode: Hex;
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
  content: Exclude<AptosPayload, AptosEncrypted>;
}

/** A user transaction to mine. Mining the same object again creates a new transaction. */
export interface ScriptedAptosTransaction {
  sender: Hex;
  payload: AptosPayload;
  /** Default: none. */
  effects?: readonly AptosEffect[];
  /**
   * VM status of a transaction that fails, and so has no effects. Default: the transaction
   * succeeds.
   */
  failure?: string;
  /** Additional signers. Default: none. */
  secondarySigners?: readonly Hex[];
  /** Account that pays the gas. Default: the sender. */
  feePayer?: Hex;
  /** Nonce that replaces the sequence number and makes the transaction orderless. */
  replayProtectionNonce?: bigint;
  /**
   * If false, the changes omit the `0x1::object::ObjectCore` of written stores, so that their
   * owners must be read from the state. Default: true.
   */
  showsStoreOwners?: boolean;
}
