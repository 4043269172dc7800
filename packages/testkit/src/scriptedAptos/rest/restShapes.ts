import type { Hex } from 'viem';

/**
 * Responses of a fullnode's REST API that the scripted node returns. Numbers of 64 bits and more
 * are decimal strings; addresses have no leading zeros (`toShortAddress`).
 */

/** A Move value as JSON, used in resources, events and arguments. */
export type MoveValue =
  | string
  | number
  | boolean
  | null
  | readonly MoveValue[]
  | { readonly [field: string]: MoveValue };

export interface RestLedgerInfo {
  chain_id: number;
  epoch: string;
  ledger_version: string;
  oldest_ledger_version: string;
  /** Microseconds since 1970. */
  ledger_timestamp: string;
  node_role: 'full_node';
  oldest_block_height: string;
  block_height: string;
  git_hash: string;
}

export interface RestBlock {
  block_height: string;
  block_hash: Hex;
  /** Microseconds since 1970. */
  block_timestamp: string;
  first_version: string;
  last_version: string;
  /** Null unless the request has `with_transactions=true`. */
  transactions: readonly RestTransaction[] | null;
}

export interface RestResource {
  type: string;
  data: MoveValue;
}

export interface RestEvent {
  /** The account is 0x0 for module events, which have no handle. */
  guid: { creation_number: string; account_address: Hex };
  sequence_number: string;
  type: string;
  data: MoveValue;
}

export type RestChange =
  | { address: Hex; state_key_hash: Hex; data: RestResource; type: 'write_resource' }
  | { address: Hex; state_key_hash: Hex; resource: string; type: 'delete_resource' }
  | { address: Hex; state_key_hash: Hex; data: RestModule; type: 'write_module' }
  | {
      state_key_hash: Hex;
      handle: Hex;
      key: Hex;
      value: Hex;
      data: null;
      type: 'write_table_item';
    }
  | { state_key_hash: Hex; handle: Hex; key: Hex; data: null; type: 'delete_table_item' };

export interface RestModule {
  bytecode: Hex;
  abi: {
    address: Hex;
    name: string;
    friends: readonly string[];
    exposed_functions: readonly MoveValue[];
    structs: readonly MoveValue[];
  };
}

export interface RestEntryFunction {
  /** `address::module::function`. */
  function: string;
  type_arguments: readonly string[];
  arguments: readonly MoveValue[];
  type: 'entry_function_payload';
}

export interface RestScript {
  code: { bytecode: Hex; abi: MoveValue };
  type_arguments: readonly string[];
  arguments: readonly MoveValue[];
  type: 'script_payload';
}

export interface RestMultisig {
  multisig_address: Hex;
  /** Omitted if the transaction executes a call that is already stored on-chain. */
  transaction_payload?: RestEntryFunction;
  type: 'multisig_payload';
}

export interface RestEncrypted {
  encrypted_state: string;
  payload_hash: Hex;
  ciphertext: Hex;
  encryption_epoch: string;
  /** Present only in the state `decrypted`, like `decryption_nonce`. */
  decrypted_payload?: RestEntryFunction | RestScript | RestMultisig;
  decryption_nonce?: Hex;
  type: 'encrypted_transaction_payload';
}

export type RestPayload = RestEntryFunction | RestScript | RestMultisig | RestEncrypted;

export interface RestAccountSignature {
  public_key: Hex;
  signature: Hex;
  type: 'ed25519_signature';
}

interface RestManySignatures {
  sender: RestAccountSignature;
  secondary_signer_addresses: readonly Hex[];
  secondary_signers: readonly RestAccountSignature[];
}

export type RestSignature =
  | RestAccountSignature
  | (RestManySignatures & { type: 'multi_agent_signature' })
  | (RestManySignatures & {
      fee_payer_address: Hex;
      fee_payer_signer: RestAccountSignature;
      type: 'fee_payer_signature';
    });

interface RestTransactionInfo {
  version: string;
  hash: Hex;
  state_change_hash: Hex;
  event_root_hash: Hex;
  /** Null except for the last transaction of a block. */
  state_checkpoint_hash: Hex | null;
  gas_used: string;
  success: boolean;
  vm_status: string;
  accumulator_root_hash: Hex;
  changes: readonly RestChange[];
}

export type RestGenesisTransaction = RestTransactionInfo & {
  payload: {
    write_set: {
      changes: readonly RestChange[];
      events: readonly RestEvent[];
      type: 'direct_write_set';
    };
    type: 'write_set_payload';
  };
  events: readonly RestEvent[];
  type: 'genesis_transaction';
};

export type RestBlockMetadataTransaction = RestTransactionInfo & {
  /** Hash of the block. */
  id: Hex;
  epoch: string;
  round: string;
  events: readonly RestEvent[];
  previous_block_votes_bitvec: readonly number[];
  proposer: Hex;
  failed_proposer_indices: readonly number[];
  timestamp: string;
  block_metadata_extension: { randomness: Hex; type: 'v1' };
  type: 'block_metadata_transaction';
};

export type RestUserTransaction = RestTransactionInfo & {
  sender: Hex;
  /** 2^64 - 1 for an orderless transaction. */
  sequence_number: string;
  max_gas_amount: string;
  gas_unit_price: string;
  expiration_timestamp_secs: string;
  payload: RestPayload;
  signature: RestSignature;
  replay_protection_nonce: string | null;
  events: readonly RestEvent[];
  timestamp: string;
  type: 'user_transaction';
};

export type RestStateCheckpointTransaction = RestTransactionInfo & {
  timestamp: string;
  type: 'state_checkpoint_transaction';
};

export type RestBlockEpilogueTransaction = RestTransactionInfo & {
  timestamp: string;
  block_end_info: {
    block_gas_limit_reached: boolean;
    block_output_limit_reached: boolean;
    block_effective_block_gas_units: number;
    block_approx_output_size: number;
  };
  type: 'block_epilogue_transaction';
};

export type RestTransaction =
  | RestGenesisTransaction
  | RestBlockMetadataTransaction
  | RestUserTransaction
  | RestStateCheckpointTransaction
  | RestBlockEpilogueTransaction;

export interface RestError {
  message: string;
  error_code: string;
  /** Status code of the Move VM if a view function fails in it, otherwise null. */
  vm_error_code: number | null;
}
