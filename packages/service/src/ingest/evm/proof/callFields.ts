/** Encodes the groups of fields that several types of transactions have in common. */
import type { Json } from '../../json.ts';
import { accessListOf, bytesOf, optionalBytes, quantityOf } from './fields.ts';
import type { RlpItem } from './rlp.ts';

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
