/**
 * Encodes transactions as in blocks. The Keccak-256 hash of the encoding is the transaction hash.
 */
import { keccak256 } from '@sluice/kit/contract';
import { type Json, toList, toObject, optionalHex } from '../../../../ingest/json.ts';
import { SourceError } from '../../../../ingest/source.ts';
import { toAccountAbstractionFields } from './accountAbstraction.ts';
import {
  accessListOf,
  bytesOf,
  callOf,
  feeMarketFieldsOf,
  quantityBytes,
  quantityOf,
  signatureOf,
  toBytes,
} from './fields.ts';
import { NETWORK_TYPES, toCeloLegacyFields } from './networkTypes.ts';
import { type RlpItem, encodeRlp } from './rlp.ts';
import { toTempoFields } from './tempo.ts';

/**
 * Encodes a transaction; returns undefined if its type, or a part of it, is unknown or has an
 * unexpected form.
 */
export function encodeTransaction(body: Json): Buffer | undefined {
  try {
    const candidates = toCandidates(body);
    if (candidates.length < 2) return candidates[0];
    return candidates.find((each) => keccak256(each) === body['hash']);
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
}

/** Returns the encodings that the transaction may have; several if its layout is not certain. */
function toCandidates(body: Json): Buffer[] {
  const type = typeOf(body);
  const wrap = (payload: Buffer): Buffer =>
    type === LEGACY_TYPE ? payload : Buffer.concat([toTypeByte(type), payload]);
  if (type === '0x79' || (type === '0x7d' && isAccountAbstraction(body))) {
    return toAccountAbstractionFields(body).map((fields) => wrap(encodeRlp(fields)));
  }
  // The input of a post-exec transaction of the OP Stack is its encoding.
  if (type === '0x7d') return [wrap(bytesOf(body, 'input'))];
  const fields = (STANDARD_TYPES[type] ?? OTHER_TYPES[type])?.(body);
  return fields === undefined ? [] : [wrap(encodeRlp(fields))];
}

/** Base's account abstraction has the type byte of the OP Stack's post-exec transactions. */
const isAccountAbstraction = (body: Json): boolean => body['senderAuth'] !== undefined;

export const LEGACY_TYPE = '0x0';

/**
 * Returns the type of a transaction; legacy if the node omits it, as nodes older than typed
 * transactions do.
 */
export const typeOf = (body: Json): string =>
  optionalHex(body, 'type')?.toLowerCase() ?? LEGACY_TYPE;

/** Returns whether Ethereum has this transaction type. */
export const isStandardType = (type: string): boolean => type in STANDARD_TYPES;

/** @param type a known type other than legacy */
export const toTypeByte = (type: string): Buffer => quantityBytes(type);

type Fields = (body: Json) => RlpItem[] | undefined;

const STANDARD_TYPES: Readonly<Record<string, Fields>> = {
  [LEGACY_TYPE]: (body) =>
    body['ethCompatible'] === false
      ? toCeloLegacyFields(body)
      : [
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
    toList(body['blobVersionedHashes'], 'blobVersionedHashes').map(toBytes),
    ...signatureOf(body),
  ],
  '0x4': (body) => [
    ...feeMarketFieldsOf(body),
    toList(body['authorizationList'], 'authorizationList').map((item) => {
      const each = toObject(item, 'authorization');
      return [
        quantityOf(each, 'chainId'),
        bytesOf(each, 'address'),
        quantityOf(each, 'nonce'),
        ...signatureOf(each),
      ];
    }),
    ...signatureOf(body),
  ],
};

const OTHER_TYPES: Readonly<Record<string, Fields>> = { ...NETWORK_TYPES, '0x76': toTempoFields };
