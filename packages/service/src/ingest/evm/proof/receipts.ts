/** Encodes receipts as in the receipts root of a header (EIP-658, EIP-2718). */
import { type Json, list, object } from '../../json.ts';
import { bloomOf, type KnownBits, toBloomItem } from '../bloom.ts';
import { SourceError } from '../../source.ts';
import { bytesOf, optionalBytes, quantityOf, toBytes } from './fields.ts';
import { type RlpItem, encodeRlp } from './rlp.ts';
import { LEGACY, toTypeByte } from './transactions.ts';

/** @param type type of the receipt's transaction */
export function encodeReceipt(receipt: Json, type: string, known: KnownBits): Buffer {
  const logs = list(receipt['logs'], 'logs').map((item) => object(item, 'log'));
  const fields: RlpItem[] = [
    outcomeOf(receipt),
    quantityOf(receipt, 'cumulativeGasUsed'),
    bloomOf(logs.map(toBloomItem), known),
    logs.map((log) => [
      bytesOf(log, 'address'),
      list(log['topics'], 'topics').map(toBytes),
      bytesOf(log, 'data'),
    ]),
  ];
  if (receipt['depositReceiptVersion'] != null) {
    // Receipts of OP Stack deposits have had these fields since the Canyon fork.
    fields.push(quantityOf(receipt, 'depositNonce'), quantityOf(receipt, 'depositReceiptVersion'));
  }
  const encoded = encodeRlp(fields);
  return type === LEGACY ? encoded : Buffer.concat([toTypeByte(type), encoded]);
}

/** Returns the status, or the state root that receipts had instead before Byzantium. */
function outcomeOf(receipt: Json): Buffer {
  const root = optionalBytes(receipt, 'root');
  if ((root.length === 0) === (receipt['status'] == null)) {
    throw new SourceError('inconsistent', 'a receipt has both a status and a root, or neither');
  }
  return root.length === 0 ? quantityOf(receipt, 'status') : root;
}
