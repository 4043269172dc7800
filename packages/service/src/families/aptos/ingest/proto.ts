/**
 * Converts messages of the gRPC transaction stream (`aptos.indexer.v1.RawData`) to the form of the
 * REST API, so that one parser reads both. Loaded on demand, because protobufjs is optional.
 */
import protobuf from 'protobufjs/light.js';
import { parseJson } from '../../../base/json.ts';
import type { AptosJson } from '../match/block.ts';

export interface StreamedBatch {
  /** The chain id in decimal; `0` if the message has none. */
  chainId: string;
  /** Transactions in the form of the REST API. */
  transactions: AptosJson[];
}

/** The used fields of each message: field number, `repeated` for a list, and type. */
const MESSAGES = {
  GetTransactionsRequest: { startingVersion: '1 uint64', batchSize: '3 uint64' },
  TransactionsResponse: { transactions: '1 repeated Transaction', chainId: '2 uint64' },
  Timestamp: { seconds: '1 int64', nanos: '2 int32' },
  Transaction: {
    timestamp: '1 Timestamp',
    version: '2 uint64',
    info: '3 TransactionInfo',
    type: '6 uint32',
    blockMetadata: '7 BlockMetadata',
    genesis: '8 Genesis',
    user: '10 User',
    validator: '21 Validator',
    scheduled: '24 Scheduled',
  },
  TransactionInfo: {
    hash: '1 bytes',
    stateChangeHash: '2 bytes',
    eventRootHash: '3 bytes',
    gasUsed: '5 uint64',
    success: '6 bool',
    changes: '9 repeated Change',
  },
  BlockMetadata: { id: '1 string', events: '3 repeated Event' },
  Genesis: { events: '2 repeated Event' },
  User: { request: '1 Request', events: '2 repeated Event' },
  Validator: { events: '3 repeated Event' },
  Scheduled: {
    sender: '1 string',
    maxGasAmount: '2 uint64',
    gasUnitPrice: '3 uint64',
    events: '6 repeated Event',
  },
  Event: { key: '1 EventKey', sequenceNumber: '2 uint64', data: '4 string', typeStr: '5 string' },
  EventKey: { creationNumber: '1 uint64', accountAddress: '2 string' },
  Request: {
    sender: '1 string',
    maxGasAmount: '3 uint64',
    gasUnitPrice: '4 uint64',
    payload: '6 Payload',
    signature: '7 Signature',
  },
  Payload: {
    entryFunction: '2 EntryFunction',
    script: '3 Script',
    multisig: '6 Multisig',
    extraConfig: '7 ExtraConfig',
  },
  ExtraConfig: { multisigAddress: '1 string' },
  EntryFunction: {
    typeArguments: '2 repeated MoveType',
    arguments: '3 repeated string',
    id: '4 string',
  },
  Script: {
    code: '1 ScriptCode',
    typeArguments: '2 repeated MoveType',
    arguments: '3 repeated string',
  },
  ScriptCode: { bytecode: '1 bytes' },
  Multisig: { multisigAddress: '1 string', payload: '2 MultisigInner' },
  MultisigInner: { entryFunction: '2 EntryFunction' },
  Signature: { multiAgent: '4 ManySigners', feePayer: '5 ManySigners' },
  // Only fee payer signatures have field 4.
  ManySigners: { secondarySignerAddresses: '2 repeated string', feePayerAddress: '4 string' },
  Change: {
    deleteModule: '2 DeleteModule',
    deleteResource: '3 DeleteResource',
    deleteTableItem: '4 TableItem',
    writeModule: '5 WriteModule',
    writeResource: '6 WriteResource',
    writeTableItem: '7 TableItem',
  },
  DeleteModule: { address: '1 string', stateKeyHash: '2 bytes', module: '3 ModuleId' },
  ModuleId: { address: '1 string', name: '2 string' },
  DeleteResource: { address: '1 string', stateKeyHash: '2 bytes', typeStr: '4 string' },
  WriteModule: { address: '1 string', stateKeyHash: '2 bytes', data: '3 ModuleCode' },
  ModuleCode: { bytecode: '1 bytes' },
  WriteResource: {
    address: '1 string',
    stateKeyHash: '2 bytes',
    typeStr: '4 string',
    data: '5 string',
  },
  TableItem: { stateKeyHash: '1 bytes', handle: '2 string', key: '3 string', data: '4 TableData' },
  TableData: { key: '1 string', keyType: '2 string', value: '3 string', valueType: '4 string' },
  MoveType: {
    type: '1 uint32',
    vector: '3 MoveType',
    struct: '4 StructTag',
    parameter: '5 uint32',
    reference: '6 Reference',
    unparsable: '7 string',
  },
  Reference: { mutable: '1 bool', to: '2 MoveType' },
  StructTag: {
    address: '1 string',
    module: '2 string',
    name: '3 string',
    parameters: '4 repeated MoveType',
  },
} as const;

type Described = typeof MESSAGES;

interface Scalars {
  uint64: Whole;
  int64: Whole;
  uint32: number;
  int32: number;
  bool: boolean;
  string: string;
  bytes: Uint8Array;
}

/** The type of a decoded field. A missing field is empty or zero; a missing message is null. */
type Field<Text> = Text extends `${number} repeated ${infer Type extends keyof Described}`
  ? Messages[Type][]
  : Text extends `${number} repeated ${infer Type extends keyof Scalars}`
    ? Scalars[Type][]
    : Text extends `${number} ${infer Type extends keyof Scalars}`
      ? Scalars[Type]
      : Text extends `${number} ${infer Type extends keyof Described}`
        ? Messages[Type] | null
        : never;

type Messages = {
  [Name in keyof Described]: { [Key in keyof Described[Name]]: Field<Described[Name][Key]> };
};

/** A decoded 64-bit number. */
interface Whole {
  toString(): string;
}

const root = protobuf.Root.fromJSON({
  nested: Object.fromEntries(
    Object.entries(MESSAGES).map(([name, fields]) => [
      name,
      {
        fields: Object.fromEntries(
          Object.entries(fields).map(([key, text]) => [key, toField(text)]),
        ),
      },
    ]),
  ),
});
const requestType = root.lookupType('GetTransactionsRequest');
const responseType = root.lookupType('TransactionsResponse');

function toField(text: string): { id: number; type: string; rule?: 'repeated' } {
  const words = text.split(' ');
  const type = words.at(-1)!;
  return { id: Number(words[0]), type, ...(words.length === 3 && { rule: 'repeated' as const }) };
}

/** Encodes a request for an endless stream of all transactions, starting with this version. */
export const encodeRequest = (startingVersion: number, batchSize: number): Buffer =>
  Buffer.from(requestType.encode({ startingVersion, batchSize }).finish());

/** @throws Error if the bytes are not a valid message, or if text in it is not valid JSON */
export function decodeResponse(bytes: Uint8Array): StreamedBatch {
  const batch = responseType.decode(bytes) as unknown as Messages['TransactionsResponse'];
  return {
    chainId: String(batch.chainId),
    transactions: batch.transactions.map(toRestTransaction),
  };
}

const TRANSACTION_TYPES: Readonly<Record<number, string>> = {
  1: 'genesis_transaction',
  2: 'block_metadata_transaction',
  3: 'state_checkpoint_transaction',
  4: 'user_transaction',
  20: 'validator_transaction',
  21: 'block_epilogue_transaction',
  22: 'scheduled_transaction',
};

function toRestTransaction(transaction: Messages['Transaction']): AptosJson {
  const { timestamp, version, info, type, blockMetadata, user, scheduled } = transaction;
  const { request } = user ?? {};
  const limits = request ?? scheduled;
  const { events = [] } =
    user ?? blockMetadata ?? transaction.genesis ?? transaction.validator ?? scheduled ?? {};
  const micros =
    timestamp !== null &&
    Number(timestamp.seconds) * 1_000_000 + Math.floor(timestamp.nanos / 1000);
  return {
    version: String(version),
    ...(info !== null && {
      hash: toHex(info.hash),
      state_change_hash: toHex(info.stateChangeHash),
      event_root_hash: toHex(info.eventRootHash),
      gas_used: String(info.gasUsed),
      success: info.success,
      changes: info.changes.flatMap(toRestChange),
    }),
    ...(blockMetadata !== null && { id: toAddress(blockMetadata.id) }),
    ...(limits && {
      sender: toAddress(limits.sender),
      max_gas_amount: String(limits.maxGasAmount),
      gas_unit_price: String(limits.gasUnitPrice),
    }),
    ...(request && {
      payload: request.payload && toRestPayload(request.payload),
      signature: toRestSignature(request),
    }),
    events: events.map(toRestEvent),
    ...(micros !== false && { timestamp: String(micros) }),
    type: TRANSACTION_TYPES[type] ?? 'unknown_transaction',
  };
}

const toRestEvent = ({ key, sequenceNumber, typeStr, data }: Messages['Event']): AptosJson => ({
  guid: {
    creation_number: String(key?.creationNumber ?? 0),
    account_address: toAddress(key?.accountAddress || '0x0'),
  },
  sequence_number: String(sequenceNumber),
  type: typeStr,
  data: parseJson(data),
});

/** Extracts the secondary signers and the fee payer; the rest of a signature is not used. */
function toRestSignature({ signature }: Messages['Request']): AptosJson | null {
  const many = signature?.feePayer ?? signature?.multiAgent;
  if (!many) return null;
  return {
    secondary_signer_addresses: many.secondarySignerAddresses.map(toAddress),
    ...(many.feePayerAddress !== '' && { fee_payer_address: toAddress(many.feePayerAddress) }),
  };
}

/**
 * Returns null for a payload of any other kind, such as an encrypted one, which the stream may have
 * in a form that is not declared here, or not at all.
 */
function toRestPayload(payload: Messages['Payload']): AptosJson | null {
  const { entryFunction, script, multisig } = payload;
  const account = multisig?.multisigAddress || payload.extraConfig?.multisigAddress;
  if (account && (multisig !== null || entryFunction !== null)) {
    const inner = multisig?.payload?.entryFunction ?? entryFunction;
    return {
      multisig_address: toAddress(account),
      ...(inner && { transaction_payload: toRestCall(inner) }),
      type: 'multisig_payload',
    };
  }
  if (entryFunction !== null) return toRestCall(entryFunction);
  if (script === null) return null;
  return {
    code: { bytecode: toHex(script.code?.bytecode ?? new Uint8Array()) },
    type_arguments: script.typeArguments.map(toTypeText),
    arguments: script.arguments.map(toArgument),
    type: 'script_payload',
  };
}

const toRestCall = (call: Messages['EntryFunction']): AptosJson => ({
  function: call.id,
  type_arguments: call.typeArguments.map(toTypeText),
  arguments: call.arguments.map(toArgument),
  type: 'entry_function_payload',
});

const toArgument = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
};

function toRestChange(change: Messages['Change']): AptosJson[] {
  const { deleteModule, deleteResource, deleteTableItem, writeModule, writeResource } = change;
  const { writeTableItem } = change;
  if (writeResource !== null) {
    const { typeStr, data } = writeResource;
    return [
      {
        ...toRestPlace(writeResource),
        data: { type: typeStr, data: parseJson(data) },
        type: 'write_resource',
      },
    ];
  }
  if (writeTableItem !== null) {
    const { data } = writeTableItem;
    return [
      {
        ...toRestItem(writeTableItem),
        data: data && {
          key: toArgument(data.key),
          key_type: data.keyType,
          value: toArgument(data.value),
          value_type: data.valueType,
        },
        type: 'write_table_item',
      },
    ];
  }
  if (deleteTableItem !== null) {
    const { data } = deleteTableItem;
    return [
      {
        ...toRestItem(deleteTableItem),
        data: data && { key: toArgument(data.key), key_type: data.keyType },
        type: 'delete_table_item',
      },
    ];
  }
  if (deleteResource !== null) {
    return [
      {
        ...toRestPlace(deleteResource),
        resource: deleteResource.typeStr,
        type: 'delete_resource',
      },
    ];
  }
  if (writeModule !== null) {
    const { data } = writeModule;
    return [
      {
        ...toRestPlace(writeModule),
        data: { bytecode: toHex(data?.bytecode ?? new Uint8Array()) },
        type: 'write_module',
      },
    ];
  }
  if (deleteModule !== null) {
    const { module } = deleteModule;
    return [
      {
        ...toRestPlace(deleteModule),
        module: `${toAddress(module?.address ?? '')}::${module?.name ?? ''}`,
        type: 'delete_module',
      },
    ];
  }
  return [];
}

const toRestPlace = (change: { address: string; stateKeyHash: Uint8Array }): AptosJson => ({
  address: toAddress(change.address),
  state_key_hash: toHex(change.stateKeyHash),
});

/**
 * Converts a table item without its value, because the stream contains only the decoded value and
 * not its bytes.
 */
const toRestItem = ({ stateKeyHash, handle, key }: Messages['TableItem']): AptosJson => ({
  state_key_hash: toHex(stateKeyHash),
  handle: toAddress(handle),
  key,
});

const PLAIN_TYPES: Readonly<Record<number, string>> = {
  1: 'bool',
  2: 'u8',
  3: 'u64',
  4: 'u128',
  5: 'address',
  6: 'signer',
  12: 'u16',
  13: 'u32',
  14: 'u256',
};

/** Formats a Move type as nodes do. */
function toTypeText(type: Messages['MoveType']): string {
  const { vector, struct, reference, unparsable } = type;
  if (vector !== null) return `vector<${toTypeText(vector)}>`;
  if (struct !== null) {
    const parameters = struct.parameters.map(toTypeText).join(', ');
    const path = `${toAddress(struct.address)}::${struct.module}::${struct.name}`;
    return parameters === '' ? path : `${path}<${parameters}>`;
  }
  if (reference !== null) {
    return `&${reference.mutable ? 'mut ' : ''}${reference.to === null ? '' : toTypeText(reference.to)}`;
  }
  if (unparsable !== '') return unparsable;
  return PLAIN_TYPES[type.type] ?? `T${type.parameter}`;
}

/** Adds the `0x` prefix, which some addresses of the stream lack. */
const toAddress = (text: string): string => (text.startsWith('0x') ? text : `0x${text}`);

const toHex = (bytes: Uint8Array): string =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
