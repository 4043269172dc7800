import type { Hex } from 'viem';
import { sha3OfText, toShortAddress as short } from './aptosAddress.ts';
import type { RestChange, RestEvent, RestTransaction } from './restTransaction.ts';
import type {
  AptosEncrypted,
  AptosEntryFunction,
  AptosPayload,
  ScriptedAptosTransaction,
} from './scriptedAptosTransaction.ts';

/** Values of a transaction that depend on its position in the ledger, not on its content. */
export interface AptosPosition {
  version: bigint;
  /** Accumulator root hash after the previous transaction; `0x0` for the first one. */
  previousRoot: Hex;
  /** Height and hash of the block. */
  height: bigint;
  blockHash: Hex;
  timestampUsecs: bigint;
  /** Seed and chain id of the ledger, so that the hashes of two ledgers differ. */
  salt: string;
}

/** The events and changes of a transaction. */
export interface AptosOutput {
  events: readonly RestEvent[];
  changes: readonly RestChange[];
}

const nothing: AptosOutput = { events: [], changes: [] };

/** Gas units that each user transaction uses, and their price in octas. */
const gas = { units: 12n, price: 100n };

/** Address of the only validator. */
const proposer = short(sha3OfText('proposer'));

export function toBlockMetadata(position: AptosPosition): RestTransaction {
  const { height, blockHash } = position;
  const round = String(height);
  const timestamp = String(position.timestampUsecs);
  const data = {
    epoch: '1',
    failed_proposer_indices: [],
    // In this event, the hash has the Move type `address`, so nodes omit leading zeros.
    hash: short(blockHash),
    height: round,
    previous_block_votes_bitvec: '0x80',
    proposer,
    round,
    time_microseconds: timestamp,
  };
  const guid = { creation_number: '3', account_address: short('0x1') };
  const event = { guid, sequence_number: round, type: '0x1::block::NewBlockEvent', data };
  return {
    ...toInfo(position, { events: [event], changes: [] }),
    id: blockHash,
    epoch: '1',
    round,
    events: [event],
    previous_block_votes_bitvec: [128],
    proposer,
    failed_proposer_indices: [],
    timestamp,
    block_metadata_extension: {
      randomness: sha3OfText(`randomness:${blockHash}`),
      type: 'v1',
    },
    type: 'block_metadata_transaction',
  };
}

/** Creates the transaction that ends a block. */
export function toBlockEnd(
  end: 'block_epilogue' | 'state_checkpoint',
  position: AptosPosition,
): RestTransaction {
  return {
    ...toInfo(position, nothing),
    state_checkpoint_hash: sha3OfText(`checkpoint:${position.previousRoot}`),
    timestamp: String(position.timestampUsecs),
    ...(end === 'block_epilogue' && {
      block_end_info: {
        block_gas_limit_reached: false,
        block_output_limit_reached: false,
        block_effective_block_gas_units: 71,
        block_approx_output_size: 7846,
      },
    }),
    type: `${end}_transaction`,
  };
}

export function toGenesis(
  changes: readonly RestChange[],
  position: AptosPosition,
): RestTransaction {
  return {
    ...toInfo(position, { events: [], changes }),
    state_checkpoint_hash: sha3OfText('checkpoint:genesis'),
    payload: {
      write_set: { changes, events: [], type: 'direct_write_set' },
      type: 'write_set_payload',
    },
    events: [],
    type: 'genesis_transaction',
  };
}

export function toUserTransaction(
  script: ScriptedAptosTransaction,
  output: AptosOutput & { sequenceNumber: bigint },
  position: AptosPosition,
): RestTransaction {
  const { sender, failure, replayProtectionNonce: nonce } = script;
  const events = [...output.events, feeStatement];
  const { changes, sequenceNumber } = output;
  const payload = toPayload(script.payload);
  return {
    ...toInfo(position, { events, changes }, payload),
    gas_used: String(gas.units),
    success: failure === undefined,
    vm_status: failure ?? 'Executed successfully',
    sender: short(sender),
    sequence_number: String(nonce === undefined ? sequenceNumber : 2n ** 64n - 1n),
    max_gas_amount: '200000',
    gas_unit_price: String(gas.price),
    expiration_timestamp_secs: String(position.timestampUsecs / 1_000_000n + 30n),
    payload,
    signature: toSignature(script),
    replay_protection_nonce: nonce === undefined ? null : String(nonce),
    events,
    timestamp: String(position.timestampUsecs),
    type: 'user_transaction',
  };
}

const feeStatement: RestEvent = {
  guid: { creation_number: '0', account_address: '0x0' },
  sequence_number: '0',
  type: '0x1::transaction_fee::FeeStatement',
  data: {
    execution_gas_units: String(gas.units / 2n),
    io_gas_units: String(gas.units / 2n),
    storage_fee_octas: '0',
    storage_fee_refund_octas: '0',
    total_charge_gas_units: String(gas.units),
  },
};

/**
 * Returns the fields that every transaction has. `hash` depends on the content and on all earlier
 * transactions.
 */
function toInfo(position: AptosPosition, { events, changes }: AptosOutput, payload?: object) {
  const { previousRoot, salt } = position;
  const hash = sha3OfText(
    `${salt}:${previousRoot}:${JSON.stringify({ events, changes, payload })}`,
  );
  return {
    version: String(position.version),
    hash,
    state_change_hash: sha3OfText(JSON.stringify(changes)),
    event_root_hash: sha3OfText(JSON.stringify(events)),
    state_checkpoint_hash: null,
    gas_used: '0',
    success: true,
    vm_status: 'Executed successfully',
    accumulator_root_hash: sha3OfText(`${previousRoot}:${hash}`),
    changes,
  };
}

function toPayload(payload: AptosPayload): object {
  if (payload.kind !== 'encrypted') return toPlainPayload(payload);
  const content = JSON.stringify(payload.content);
  return {
    encrypted_state: payload.state,
    payload_hash: sha3OfText(`payload:${content}`),
    ciphertext: sha3OfText(`ciphertext:${content}`),
    encryption_epoch: '1',
    ...(payload.state === 'decrypted' && {
      decrypted_payload: toPlainPayload(payload.content),
      decryption_nonce: '0x00',
    }),
    type: 'encrypted_transaction_payload',
  };
}

function toPlainPayload(payload: Exclude<AptosPayload, AptosEncrypted>): object {
  switch (payload.kind) {
    case 'entryFunction':
      return toEntryFunction(payload);
    case 'script':
      return {
        code: { bytecode: payload.bytecode, abi: scriptAbi },
        type_arguments: payload.typeArguments ?? [],
        arguments: payload.arguments ?? [],
        type: 'script_payload',
      };
    case 'multisig':
      return {
        multisig_address: short(payload.multisig),
        ...(payload.call && { transaction_payload: toEntryFunction(payload.call) }),
        type: 'multisig_payload',
      };
  }
}

const scriptAbi = {
  name: 'main',
  visibility: 'public',
  is_entry: true,
  generic_type_params: [],
  params: [],
  return: [],
};

function toEntryFunction(call: AptosEntryFunction): object {
  const { function: name, typeArguments = [], arguments: args = [] } = call;
  const [address = '', ...path] = name.split('::');
  return {
    function: [short(address), ...path].join('::'),
    type_arguments: typeArguments,
    arguments: args,
    type: 'entry_function_payload',
  };
}

function toSignature({ sender, secondarySigners = [], feePayer }: ScriptedAptosTransaction) {
  const many = {
    sender: toAccountSignature(sender),
    secondary_signer_addresses: secondarySigners.map(short),
    secondary_signers: secondarySigners.map(toAccountSignature),
  };
  if (feePayer !== undefined) {
    return {
      ...many,
      fee_payer_address: short(feePayer),
      fee_payer_signer: toAccountSignature(feePayer),
      type: 'fee_payer_signature',
    };
  }
  return secondarySigners.length > 0 ? { ...many, type: 'multi_agent_signature' } : many.sender;
}

/** Returns a placeholder key and signature of the correct length. Clients do not check them. */
function toAccountSignature(address: Hex) {
  const [r, s] = [sha3OfText(`r:${address}`), sha3OfText(`s:${address}`)];
  return {
    public_key: sha3OfText(`key:${address}`),
    signature: `${r}${s.slice(2)}`,
    type: 'ed25519_signature',
  };
}
