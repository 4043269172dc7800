import type { Hex } from 'viem';
import { sha3OfText, toLongAddress, toShortAddress as short } from './aptosAddress.ts';
import { toHandleEvent } from './transactions/aptosEffects.ts';
import { toHandle } from './aptosResources.ts';
import {
  type AptosExecution,
  gasUnitPriceOf,
  gasUsedBy,
  toResourceChanges,
} from './transactions/aptosExecution.ts';
import type { AptosWorkspace } from './aptosWorkspace.ts';
import type {
  MoveValue,
  RestAccountSignature,
  RestChange,
  RestEncrypted,
  RestEntryFunction,
  RestEvent,
  RestPayload,
  RestSignature,
  RestTransaction,
  RestUserTransaction,
} from '../rest/restShapes.ts';
import type {
  AptosEncrypted,
  AptosEntryFunction,
  AptosPayload,
  ScriptedAptosTransaction,
} from './transactions/scriptedAptosTransaction.ts';

/** Values of a transaction that depend on its position in the ledger, not on its content. */
export interface AptosPosition {
  version: bigint;
  /** Accumulator root hash after the previous transaction; `0x0` for the first one. */
  previousRoot: Hex;
  timestampUsecs: bigint;
  /** Seed and chain id of the ledger, so that the hashes of two ledgers differ. */
  salt: string;
}

/** Block data that is known before the block's transactions are created. */
export interface AptosBlockHead {
  height: bigint;
  hash: Hex;
  epoch: bigint;
  timestampUsecs: bigint;
}

/** Address of the only validator. */
const proposer = sha3OfText('proposer');

/**
 * Hashes of an empty list of changes and of an empty list of events, the same on every Aptos chain.
 */
const noChangesHash: Hex = '0xafb6e14fe47d850fd0a7395bcfb997ffacf4715e0f895cc162c218e4a7564bc6';
const noEventsHash: Hex = '0x414343554d554c41544f525f504c414345484f4c4445525f4841534800000000';

/** Writes the resources that a block's metadata transaction changes. */
export function writeBlockMetadata(workspace: AptosWorkspace, block: AptosBlockHead): void {
  const system = toLongAddress('0x1');
  const { height, epoch, timestampUsecs } = block;
  workspace.write(system, '0x1::block::BlockResource', {
    epoch_interval: String(epochUsecs),
    height: String(height),
    new_block_events: toHandle(system, 3n, String(height + 1n)),
    update_epoch_interval_events: toHandle(system, 4n),
  });
  workspace.write(system, '0x1::stake::ValidatorPerformance', {
    validators: [{ failed_proposals: '0', successful_proposals: String(height) }],
  });
  workspace.write(system, '0x1::timestamp::CurrentTimeMicroseconds', {
    microseconds: String(timestampUsecs),
  });
  workspace.write(system, '0x1::randomness::PerBlockRandomness', {
    epoch: String(epoch),
    round: String(height),
    seed: { vec: [randomnessOf(block)] },
  });
}

/** Duration of an epoch: two hours, as on mainnet. */
export const epochUsecs = 7_200_000_000n;

export function toBlockMetadata(
  block: AptosBlockHead,
  writes: ReturnType<AptosWorkspace['endTransaction']>,
  position: AptosPosition,
): RestTransaction {
  const { height, hash, epoch, timestampUsecs } = block;
  const round = String(height);
  const event = toHandleEvent('0x1::block::NewBlockEvent', '0x1', '3', String(height), {
    epoch: String(epoch),
    failed_proposer_indices: [],
    // In this event, the hash has the Move type `address`, so nodes omit leading zeros.
    hash: short(hash),
    height: String(height),
    previous_block_votes_bitvec: '0x80',
    proposer: short(proposer),
    round,
    time_microseconds: String(timestampUsecs),
  });
  return {
    ...toInfo(position, { changes: toResourceChanges(writes), events: [event] }),
    id: hash,
    epoch: String(epoch),
    round,
    events: [event],
    previous_block_votes_bitvec: [128],
    proposer: short(proposer),
    failed_proposer_indices: [],
    timestamp: String(timestampUsecs),
    block_metadata_extension: { randomness: randomnessOf(block), type: 'v1' },
    type: 'block_metadata_transaction',
  };
}

/** Creates the transaction that ends a block. It changes no resources. */
export function toBlockEnd(
  end: 'block_epilogue' | 'state_checkpoint',
  { timestampUsecs }: AptosBlockHead,
  position: AptosPosition,
): RestTransaction {
  const info = {
    ...toInfo(position, {}),
    state_checkpoint_hash: sha3OfText(`checkpoint:${position.previousRoot}`),
  };
  const timestamp = String(timestampUsecs);
  if (end === 'state_checkpoint')
    return { ...info, timestamp, type: 'state_checkpoint_transaction' };
  return {
    ...info,
    timestamp,
    block_end_info: {
      block_gas_limit_reached: false,
      block_output_limit_reached: false,
      block_effective_block_gas_units: 71,
      block_approx_output_size: 7846,
    },
    type: 'block_epilogue_transaction',
  };
}

export function toGenesis(
  writes: ReturnType<AptosWorkspace['endTransaction']>,
  position: AptosPosition,
): RestTransaction {
  const changes = toResourceChanges(writes);
  return {
    ...toInfo(position, { changes }),
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
  script: ScriptedAptosTransaction & { sender: Hex },
  execution: AptosExecution,
  position: AptosPosition,
): RestUserTransaction {
  const { sender, failure, replayProtectionNonce } = script;
  const payload = toPayload(script.payload);
  const { events, changes, sequenceNumber } = execution;
  const timestampSecs = position.timestampUsecs / 1_000_000n;
  return {
    ...toInfo(position, { changes, events, payload }),
    gas_used: String(gasUsedBy(script)),
    success: failure === undefined,
    vm_status: failure ?? 'Executed successfully',
    sender: short(sender),
    sequence_number: String(replayProtectionNonce === undefined ? sequenceNumber : 2n ** 64n - 1n),
    max_gas_amount: '200000',
    gas_unit_price: String(gasUnitPriceOf(script)),
    expiration_timestamp_secs: String(timestampSecs + 30n),
    payload,
    signature: toSignature(script),
    replay_protection_nonce:
      replayProtectionNonce === undefined ? null : String(replayProtectionNonce),
    events,
    timestamp: String(position.timestampUsecs),
    type: 'user_transaction',
  };
}

/**
 * Returns the fields that every transaction has. `hash` depends on the content and on all earlier
 * transactions.
 */
function toInfo(
  { version, previousRoot, salt }: AptosPosition,
  content: {
    changes?: readonly RestChange[];
    events?: readonly RestEvent[];
    payload?: RestPayload;
  },
) {
  const { changes = [], events = [] } = content;
  const hash = sha3OfText(`${salt}:${previousRoot}:${JSON.stringify(content)}`);
  return {
    version: String(version),
    hash,
    state_change_hash: changes.length > 0 ? sha3OfText(JSON.stringify(changes)) : noChangesHash,
    event_root_hash: events.length > 0 ? sha3OfText(JSON.stringify(events)) : noEventsHash,
    state_checkpoint_hash: null,
    gas_used: '0',
    success: true,
    vm_status: 'Executed successfully',
    accumulator_root_hash: sha3OfText(`${previousRoot}:${hash}`),
    changes,
  };
}

function toPayload(payload: AptosPayload): RestPayload {
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

function toPlainPayload(
  payload: Exclude<AptosPayload, AptosEncrypted>,
): Exclude<RestPayload, RestEncrypted> {
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
        ...(payload.call ? { transaction_payload: toEntryFunction(payload.call) } : {}),
        type: 'multisig_payload',
      };
  }
}

const scriptAbi: MoveValue = {
  name: 'main',
  visibility: 'public',
  is_entry: true,
  generic_type_params: [],
  params: [],
  return: [],
};

function toEntryFunction(call: AptosEntryFunction): RestEntryFunction {
  const { function: name, typeArguments = [], arguments: args = [] } = call;
  const [address = '', ...path] = name.split('::');
  return {
    function: [short(address), ...path].join('::'),
    type_arguments: typeArguments,
    arguments: args,
    type: 'entry_function_payload',
  };
}

function toSignature(script: ScriptedAptosTransaction & { sender: Hex }): RestSignature {
  const { sender, secondarySigners = [], feePayer } = script;
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
function toAccountSignature(address: Hex): RestAccountSignature {
  const [r, s] = [sha3OfText(`r:${address}`), sha3OfText(`s:${address}`)];
  return {
    public_key: sha3OfText(`key:${address}`),
    signature: `${r}${s.slice(2)}`,
    type: 'ed25519_signature',
  };
}

function randomnessOf({ hash }: AptosBlockHead): Hex {
  return sha3OfText(`randomness:${hash}`);
}
