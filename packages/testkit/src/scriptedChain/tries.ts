import type { Hex } from 'viem';
import { fromHex, keccak, toHex } from './keccak.ts';
import { type RlpItem, encodeRlp, rlpNumber } from './rlp.ts';

/** The fields of a transaction that its hash covers, including the signature. */
export interface SignedFields {
  type: 'legacy' | 'eip1559';
  chainId: number;
  nonce: bigint;
  gasPrice: bigint;
  priorityFee: bigint;
  maxFee: bigint;
  gas: bigint;
  to: Hex | null;
  value: bigint;
  input: Hex;
  v: bigint;
  r: bigint;
  s: bigint;
}

/**
 * Encodes a transaction as in the transactions trie of its block. The Keccak of the encoding is the
 * transaction's hash.
 */
export function encodeTransaction(fields: SignedFields): Buffer {
  const call = [
    rlpNumber(fields.gas),
    fields.to === null ? Buffer.alloc(0) : fromHex(fields.to),
    rlpNumber(fields.value),
    fromHex(fields.input),
  ];
  const signature = [fields.v, fields.r, fields.s].map(rlpNumber);
  const nonce = rlpNumber(fields.nonce);
  if (fields.type === 'legacy') {
    return encodeRlp([nonce, rlpNumber(fields.gasPrice), ...call, ...signature]);
  }
  const fees = [rlpNumber(fields.priorityFee), rlpNumber(fields.maxFee)];
  const chainId = rlpNumber(BigInt(fields.chainId));
  const payload = encodeRlp([chainId, nonce, ...fees, ...call, [], ...signature]);
  return Buffer.concat([Buffer.of(2), payload]);
}

/** Encodes a receipt as in the receipts trie of its block. */
export function encodeReceipt(receipt: {
  type: 'legacy' | 'eip1559';
  status: 'success' | 'reverted';
  cumulativeGasUsed: bigint;
  logsBloom: Hex;
  logs: readonly { address: Hex; topics: readonly Hex[]; data: Hex }[];
}): Buffer {
  const payload = encodeRlp([
    rlpNumber(receipt.status === 'success' ? 1n : 0n),
    rlpNumber(receipt.cumulativeGasUsed),
    fromHex(receipt.logsBloom),
    receipt.logs.map(({ address, topics, data }) => [
      fromHex(address),
      topics.map(fromHex),
      fromHex(data),
    ]),
  ]);
  return receipt.type === 'legacy' ? payload : Buffer.concat([Buffer.of(2), payload]);
}

/**
 * Returns the root of a list's Merkle Patricia trie, as defined in the yellow paper, appendix D.
 * Not optimized for speed.
 */
export function rootOf(values: readonly Uint8Array[]): Hex {
  const entries = values.map((value, n): Entry => [
    encodeRlp(rlpNumber(BigInt(n))).toString('hex'),
    value,
  ]);
  return toHex(keccak(encodeRlp(entries.length === 0 ? Buffer.alloc(0) : nodeOf(entries))));
}

/** A key in hex, one digit per nibble, and its value. */
type Entry = [key: string, value: Uint8Array];

function nodeOf(entries: readonly Entry[]): RlpItem {
  const [first, ...others] = entries as [Entry, ...Entry[]];
  if (others.length === 0) return [pack(first[0], 2), first[1]];
  let shared = 0;
  while (others.every(([key]) => key[shared] === first[0][shared])) shared++;
  const below = (prefix: string) =>
    referTo(
      nodeOf(
        entries
          .filter(([key]) => key.startsWith(prefix))
          .map(([key, value]): Entry => [key.slice(prefix.length), value]),
      ),
    );
  const prefix = first[0].slice(0, shared);
  if (shared > 0) return [pack(prefix, 0), below(prefix)];
  const branches = Array.from({ length: 16 }, (_, nibble) => {
    const digit = nibble.toString(16);
    return entries.some(([key]) => key.startsWith(digit)) ? below(digit) : Buffer.alloc(0);
  });
  return [...branches, Buffer.alloc(0)];
}

function referTo(node: RlpItem): RlpItem {
  const encoded = encodeRlp(node);
  return encoded.length < 32 ? node : keccak(encoded);
}

/**
 * Encodes a node's part of the key, in the hex-prefix encoding of the yellow paper.
 *
 * @param kind 2 for a leaf, 0 for an extension
 */
function pack(nibbles: string, kind: 0 | 2): Buffer {
  return Buffer.from(
    nibbles.length % 2 === 1 ? `${kind + 1}${nibbles}` : `${kind}0${nibbles}`,
    'hex',
  );
}
