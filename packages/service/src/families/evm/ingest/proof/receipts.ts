/** Encodes receipts as in the receipts root of a header (EIP-658, EIP-2718). */
import { type Json, toList, toObject, toHex } from '../../../../ingest/json.ts';
import { bloomOf, type KnownBits } from '../bloom.ts';
import { SourceError } from '../../../../ingest/source.ts';
import { emitterOf } from '../values.ts';
import { bytesOf, optionalBytes, quantityOf, toBytes } from './fields.ts';
import { type RlpItem, encodeRlp } from './rlp.ts';
import { LEGACY_TYPE, toTypeByte } from './transactions.ts';

/**
 * Encodes a receipt; returns undefined if a part of it is unknown or has an unexpected form.
 *
 * @param type type of the receipt's transaction
 */
export function encodeReceipt(receipt: Json, type: string, known: KnownBits): Buffer | undefined {
  try {
    return encode(receipt, type, known);
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
}

function encode(receipt: Json, type: string, known: KnownBits): Buffer | undefined {
  const logs = toList(receipt['logs'], 'logs').map((item) => toObject(item, 'log'));
  const fields: RlpItem[] = [
    outcomeOf(receipt),
    quantityOf(receipt, 'cumulativeGasUsed'),
    bloomOf(logs.map(emitterOf), known),
    logs.map((log) => [
      bytesOf(log, 'address'),
      toList(log['topics'], 'topics').map(toBytes),
      bytesOf(log, 'data'),
    ]),
  ];
  if (receipt['depositReceiptVersion'] != null) {
    // Receipts of OP Stack deposits have had these fields since the Canyon fork.
    fields.push(quantityOf(receipt, 'depositNonce'), quantityOf(receipt, 'depositReceiptVersion'));
  }
  if (type === CIP64 && isOfCeloL2(receipt)) {
    if (receipt['baseFee'] == null) return undefined;
    fields.push(quantityOf(receipt, 'baseFee'));
  }
  const encoded = encodeRlp(fields);
  return type === LEGACY_TYPE ? encoded : Buffer.concat([toTypeByte(type), encoded]);
}

/** Returns the status, or the state root that receipts had instead before Byzantium. */
function outcomeOf(receipt: Json): Buffer {
  const root = optionalBytes(receipt, 'root');
  if ((root.length === 0) === (receipt['status'] == null)) {
    throw new SourceError('inconsistent', 'a receipt has both a status and a root, or neither');
  }
  return root.length === 0 ? quantityOf(receipt, 'status') : root;
}

/** Type of Celo's transactions that pay fees in another currency. */
const CIP64 = '0x7b';
/** Celo's receipts have had these fields, and a base fee in the receipts root, since it is an L2. */
const isOfCeloL2 = (receipt: Json): boolean =>
  receipt['l1Fee'] != null || receipt['baseFee'] != null;

/**
 * Adds the base fee to a receipt of a CIP-64 transaction. Nodes do not return it, but it follows
 * from the effective gas price unless the price is limited by the transaction's maximum.
 */
export function withBaseFee(receipt: Json, transaction: Json): Json {
  const price = receipt['effectiveGasPrice'];
  if (transaction['type'] !== CIP64 || receipt['baseFee'] != null) return receipt;
  if (!isOfCeloL2(receipt) || !isQuantity(price)) return receipt;
  const { maxFeePerGas: most, maxPriorityFeePerGas: tip } = transaction;
  if (!isQuantity(most) || !isQuantity(tip)) return receipt;
  const baseFee = BigInt(price) - BigInt(tip);
  const isKnown = baseFee >= 0n && BigInt(price) < BigInt(most);
  return isKnown ? { ...receipt, baseFee: toHex(baseFee) } : receipt;
}

const isQuantity = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value);
