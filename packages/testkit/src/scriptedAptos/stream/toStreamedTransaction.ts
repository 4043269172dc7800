/** Converts a REST transaction to a plain object for a message of the gRPC transaction stream. */

type Json = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const object = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {};
const bytes = (hex: unknown): Buffer => Buffer.from(text(hex).replace(/^0x/, ''), 'hex');

/** @param raw a transaction as the current REST API or an older version returns it. */
export function toStreamedTransaction(raw: Json): object {
  const type = text(raw['type']);
  const events = list(raw['events']).map((event) => toEvent(object(event)));
  return {
    ...(raw['timestamp'] !== undefined && { timestamp: toTime(text(raw['timestamp'])) }),
    version: text(raw['version']),
    info: {
      hash: bytes(raw['hash']),
      stateChangeHash: bytes(raw['state_change_hash']),
      eventRootHash: bytes(raw['event_root_hash']),
      gasUsed: text(raw['gas_used']),
      success: raw['success'] === true,
      changes: list(raw['changes']).map((change) => toChange(object(change))),
    },
    type,
    ...toData(type, raw, events),
  };
}

function toData(type: string, raw: Json, events: object[]): object {
  switch (type) {
    case 'block_metadata_transaction':
      return { blockMetadata: { id: text(raw['id']), events } };
    case 'genesis_transaction':
      return { genesis: { events } };
    case 'validator_transaction':
      return { validator: { events } };
    case 'user_transaction':
      return { user: { request: toRequest(raw), events } };
    default:
      return {};
  }
}

const toTime = (micros: string): object => ({
  seconds: micros.slice(0, -6) || '0',
  nanos: Number(micros.slice(-6)) * 1000,
});

const toEvent = (raw: Json): object => {
  const guid = object(raw['guid']);
  return {
    key: {
      creationNumber: text(guid['creation_number']),
      accountAddress: text(guid['account_address']),
    },
    sequenceNumber: text(raw['sequence_number']),
    typeStr: text(raw['type']),
    data: JSON.stringify(raw['data']),
  };
};

const toRequest = (raw: Json): object => ({
  sender: text(raw['sender']),
  maxGasAmount: text(raw['max_gas_amount']),
  gasUnitPrice: text(raw['gas_unit_price']),
  payload: toPayload(object(raw['payload']), raw['replay_protection_nonce'] != null),
  ...(raw['signature'] !== undefined && { signature: toSignature(object(raw['signature'])) }),
});

/** @param isOrderless whether the transaction has a nonce in place of a sequence number */
function toPayload(raw: Json, isOrderless: boolean): object {
  const type = text(raw['type']);
  switch (type) {
    case 'multisig_payload': {
      const inner = raw['transaction_payload'];
      // The payload of an orderless transaction is the call itself.
      if (isOrderless && inner != null) {
        return {
          type: 'entry_function_payload',
          entryFunctionPayload: toCall(object(inner)),
          extraConfig: { multisigAddress: text(raw['multisig_address']) },
        };
      }
      return {
        type,
        multisigPayload: {
          multisigAddress: text(raw['multisig_address']),
          ...(inner !== undefined &&
            inner !== null && {
              transactionPayload: {
                type: 'entry_function_payload',
                entryFunctionPayload: toCall(object(inner)),
              },
            }),
        },
      };
    }
    case 'script_payload':
      return {
        type,
        scriptPayload: {
          code: { bytecode: bytes(object(raw['code'])['bytecode']) },
          typeArguments: list(raw['type_arguments']).map((each) => parseMoveType(text(each))),
          arguments: list(raw['arguments']).map((each) => JSON.stringify(each)),
        },
      };
    case 'encrypted_transaction_payload':
      // Some servers omit encrypted payloads, and newer ones have a field that is not declared here.
      return {
        extraConfig: {
          multisigAddress: text(object(raw['decrypted_payload'])['multisig_address']),
        },
      };
    default:
      return { type, entryFunctionPayload: toCall(raw) };
  }
}

function toCall(raw: Json): object {
  return {
    typeArguments: list(raw['type_arguments']).map((each) => parseMoveType(text(each))),
    arguments: list(raw['arguments']).map((each) => JSON.stringify(each)),
    entryFunctionIdStr: text(raw['function']),
  };
}

function toSignature(raw: Json): object {
  const secondarySignerAddresses = list(raw['secondary_signer_addresses']);
  switch (raw['type']) {
    case 'fee_payer_signature': {
      const feePayerAddress = text(raw['fee_payer_address']);
      return { feePayer: { secondarySignerAddresses, feePayerAddress } };
    }
    case 'multi_agent_signature':
      return { multiAgent: { secondarySignerAddresses } };
    default:
      return {};
  }
}

function toChange(raw: Json): object {
  const type = text(raw['type']);
  const stateKeyHash = bytes(raw['state_key_hash']);
  const place = { address: text(raw['address']), stateKeyHash };
  const data = object(raw['data']);
  const item = { stateKeyHash, handle: text(raw['handle']), key: text(raw['key']) };
  // Only nodes that feed the stream decode table items. Other nodes return `key` and `value` as
  // hex.
  const known = (side: 'key' | 'value'): object => ({
    [side]: JSON.stringify(data[side] ?? raw[side] ?? null),
    [`${side}Type`]: text(data[`${side}_type`]),
  });
  switch (type) {
    case 'write_resource': {
      const written = { ...place, typeStr: text(data['type']) };
      return { type, writeResource: { ...written, data: JSON.stringify(data['data']) } };
    }
    case 'delete_resource':
      return { type, deleteResource: { ...place, typeStr: text(raw['resource']) } };
    case 'write_module':
      return { type, writeModule: { ...place, data: { bytecode: bytes(data['bytecode']) } } };
    case 'delete_module': {
      const [address = '', name = ''] = text(raw['module']).split('::');
      return { type, deleteModule: { ...place, module: { address, name } } };
    }
    case 'write_table_item':
      return { type, writeTableItem: { ...item, data: { ...known('key'), ...known('value') } } };
    case 'delete_table_item':
      return { type, deleteTableItem: { ...item, data: known('key') } };
    default:
      return { type: 'unspecified_change' };
  }
}

/**
 * Converts a Move type to a `MoveType` message. The name of a primitive type is also its name in
 * `MoveTypes`.
 */
function parseMoveType(written: string): object {
  const type = written.trim();
  if (type.startsWith('&')) {
    const mutable = type.startsWith('&mut ');
    const to = parseMoveType(type.slice(mutable ? 5 : 1));
    return { type: 'reference', reference: { mutable, to } };
  }
  const [, name = type, inside = ''] = /^([^<]*)<(.*)>$/s.exec(type) ?? [];
  if (name === 'vector') return { type: 'vector', vector: parseMoveType(inside) };
  const [address, module, struct] = name.split('::');
  if (struct !== undefined) {
    const parameters = splitTypes(inside).map(parseMoveType);
    return {
      type: 'struct',
      struct: { address, module, name: struct, genericTypeParams: parameters },
    };
  }
  const parameter = /^T(\d+)$/.exec(name)?.[1];
  if (parameter === undefined) return { type: name };
  return { type: 'generic_type_param', genericTypeParamIndex: Number(parameter) };
}

/** Splits a list of types at the commas outside angle brackets. */
function splitTypes(types: string): string[] {
  if (types.trim() === '') return [];
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const letter of types) {
    if (letter === '<') depth++;
    if (letter === '>') depth--;
    if (letter === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += letter;
  }
  return [...parts, part];
}
