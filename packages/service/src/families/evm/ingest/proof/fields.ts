/** Converts fields of a node's JSON to the bytes that are hashed. */
import { type Json, toList, toObject, showValue, toHex } from '../../../../ingest/json.ts';
import { SourceError } from '../../../../ingest/source.ts';
import { readQuantity } from '../values.ts';
import type { RlpItem } from './rlp.ts';

/**
 * Converts hex digits to bytes. Throws a SourceError for any other value, because Buffer would
 * silently truncate it.
 */
export function toBytes(value: unknown): Buffer {
  if (typeof value === 'string' && value.startsWith('0x')) {
    const bytes = Buffer.from(value.slice(2), 'hex');
    if (bytes.length * 2 + 2 === value.length) return bytes;
  }
  throw new SourceError('inconsistent', `${showValue(value)} is not bytes in hex`);
}

/** Converts a quantity to its shortest bytes: no leading zeros, and none at all for 0. */
export function quantityBytes(quantity: string): Buffer {
  const digits = quantity.slice(2).replace(/^0+/, '');
  return toBytes(`0x${digits.length % 2 === 0 ? '' : '0'}${digits}`);
}

export const numberBytes = (number: number): Buffer => quantityBytes(toHex(number));

export const bytesOf = (from: Json, key: string): Buffer => toBytes(from[key]);

/** Reads a field as bytes; empty if it is null or missing. */
export const optionalBytes = (from: Json, key: string): Buffer =>
  from[key] == null ? Buffer.alloc(0) : bytesOf(from, key);

/** Reads a field as a quantity; empty, like 0, if it is null or missing. */
export const quantityOf = (from: Json, key: string): Buffer =>
  from[key] == null ? Buffer.alloc(0) : quantityBytes(readQuantity(from, key));

export const accessListOf = (from: Json): RlpItem =>
  toList(from['accessList'] ?? [], 'accessList').map((item) => {
    const each = toObject(item, 'access list entry');
    return [bytesOf(each, 'address'), toList(each['storageKeys'], 'storageKeys').map(toBytes)];
  });

export const feeMarketFieldsOf = (body: Json): RlpItem[] => [
  ...feesOf(body),
  ...callOf(body),
  accessListOf(body),
];

export const feesOf = (body: Json): RlpItem[] => [
  quantityOf(body, 'chainId'),
  quantityOf(body, 'nonce'),
  quantityOf(body, 'maxPriorityFeePerGas'),
  quantityOf(body, 'maxFeePerGas'),
];

export const callOf = (body: Json): RlpItem[] => [
  quantityOf(body, 'gas'),
  optionalBytes(body, 'to'),
  quantityOf(body, 'value'),
  bytesOf(body, 'input'),
];

/** Returns the signature fields. Some nodes return `yParity` instead of `v`. */
export const signatureOf = (body: Json): RlpItem[] => [
  quantityOf(body, body['v'] == null ? 'yParity' : 'v'),
  quantityOf(body, 'r'),
  quantityOf(body, 's'),
];
