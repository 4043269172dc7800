/**
 * Encodes transactions as in blocks. The Keccak-256 hash of the encoding is the transaction hash.
 */
import { type Json, list, object, optionalHex } from '../../json.ts';
import {
  accessListOf,
  bytesOf,
  optionalBytes,
  quantityBytes,
  quantityOf,
  toBytes,
} from './fields.ts';
import { type RlpItem, encodeRlp } from './rlp.ts';
import { toTempoFields } from './tempo.ts';

/** Encodes a transaction; returns undefined if its type, or a part of it, is unknown. */
export function encodeTransaction(body: Json): Buffer | undefined {
  const type = typeOf(body);
  const fields = FIELDS[type]?.(body);
  if (fields === undefined) return undefined;
  const encoded = encodeRlp(fields);
  return type === LEGACY ? encoded : Buffer.concat([toTypeByte(type), encoded]);
}

export const LEGACY = '0x0';

/**
 * Returns the type of a transaction; legacy if the node omits it, as nodes older than typed
 * transactions do.
 */
export const typeOf = (body: Json): string => optionalHex(body, 'type')?.toLowerCase() ?? LEGACY;

/** @param type a known type other than legacy */
export const toTypeByte = (type: string): Buffer => quantityBytes(type);

const FIELDS: Readonly<Record<string, (body: Json) => RlpItem[] | undefined>> = {
  [LEGACY]: (body) => [
    quantityOf(body, 'nonce'),
    quantityOf(body, 'gasPrice'),
    ...callOf(body),
    ...signatureOf(body),
  ],
  '0x1': (body) => [
    quantityOf(body, 'chainId'),
    quantityOf(body, 'nonce'),
    quantityOf(body, 'gasPrice'),
    ...callOf(body),
    accessListOf(body),
    ...signatureOf(body),
  ],
  '0x2': (body) => [...feeMarketFieldsOf(body), ...signatureOf(body)],
  '0x3': (body) => [
    ...feeMarketFieldsOf(body),
    quantityOf(body, 'maxFeePerBlobGas'),
    list(body['blobVersionedHashes'], 'blobVersionedHashes').map(toBytes),
    ...signatureOf(body),
  ],
  '0x4': (body) => [
    ...feeMarketFieldsOf(body),
    list(body['authorizationList'], 'authorizationList').map((item) => {
      const each = object(item, 'authorization');
      return [
        quantityOf(each, 'chainId'),
        bytesOf(each, 'address'),
        quantityOf(each, 'nonce'),
        ...signatureOf(each),
      ];
    }),
    ...signatureOf(body),
  ],
  // Arbitrum's internal transaction, which starts a block.
  '0x6a': (body) => [quantityOf(body, 'chainId'), bytesOf(body, 'input')],
  // Tempo transaction.
  '0x76': toTempoFields,
  // Deposit of the OP Stack.
  '0x7e': (body) => [
    bytesOf(body, 'sourceHash'),
    bytesOf(body, 'from'),
    optionalBytes(body, 'to'),
    quantityOf(body, 'mint'),
    quantityOf(body, 'value'),
    quantityOf(body, 'gas'),
    body['isSystemTx'] === true ? Buffer.of(1) : Buffer.alloc(0),
    bytesOf(body, 'input'),
  ],
};

const feeMarketFieldsOf = (body: Json): RlpItem[] => [
  quantityOf(body, 'chainId'),
  quantityOf(body, 'nonce'),
  quantityOf(body, 'maxPriorityFeePerGas'),
  quantityOf(body, 'maxFeePerGas'),
  ...callOf(body),
  accessListOf(body),
];

const callOf = (body: Json): RlpItem[] => [
  quantityOf(body, 'gas'),
  optionalBytes(body, 'to'),
  quantityOf(body, 'value'),
  bytesOf(body, 'input'),
];

/** Returns the signature fields. Some nodes return `yParity` instead of `v`. */
const signatureOf = (body: Json): RlpItem[] => [
  quantityOf(body, body['v'] == null ? 'yParity' : 'v'),
  quantityOf(body, 'r'),
  quantityOf(body, 's'),
];
