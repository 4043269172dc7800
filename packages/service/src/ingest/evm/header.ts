/**
 * Parses block headers, and proves them where possible. On Ethereum and its test networks the hash
 * is the Keccak of the RLP-encoded header fields (Yellow Paper 4.4.3), so a node can't change a
 * parent, bloom or timestamp unnoticed. Other chains hash differently; their headers are checked
 * only against neighbors and other nodes.
 */
import { keccak256 } from '@sluice/kit/contract';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { type Json, hash, hex, list, toNumber } from '../json.ts';
import { SourceError } from '../source.ts';

/** Ethereum, Sepolia, Hoodi and Holesky: their hashes follow this scheme since the first block. */
const PROVABLE_CHAINS = new Set(['0x1', '0xaa36a7', '0x88bb0', '0x4268']);

const EMPTY_TRIE_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

/** In hash order; older blocks lack the fields of later forks, which are at the end. */
const BYTES_OR_NUMBERS: readonly [name: string, kind: 'bytes' | 'number'][] = [
  ['parentHash', 'bytes'],
  ['sha3Uncles', 'bytes'],
  ['miner', 'bytes'],
  ['stateRoot', 'bytes'],
  ['transactionsRoot', 'bytes'],
  ['receiptsRoot', 'bytes'],
  ['logsBloom', 'bytes'],
  ['difficulty', 'number'],
  ['number', 'number'],
  ['gasLimit', 'number'],
  ['gasUsed', 'number'],
  ['timestamp', 'number'],
  ['extraData', 'bytes'],
  ['mixHash', 'bytes'],
  ['nonce', 'bytes'],
  ['baseFeePerGas', 'number'],
  ['withdrawalsRoot', 'bytes'],
  ['blobGasUsed', 'number'],
  ['excessBlobGas', 'number'],
  ['parentBeaconBlockRoot', 'bytes'],
  ['requestsHash', 'bytes'],
];
/** Fields of a block that are not part of its hash. */
const BESIDE_THE_HASH = new Set([
  'hash',
  'size',
  'totalDifficulty',
  'transactions',
  'uncles',
  'withdrawals',
  'author',
  'sealFields',
]);
const FIELDS = new Set(BYTES_OR_NUMBERS.map(([name]) => name));

/**
 * Whether the chain follows Ethereum's rules exactly, so that any violation proves a block wrong.
 */
export const isProvableChain = (chain: string): boolean => PROVABLE_CHAINS.has(chain);

/** Throws a SourceError, `inconsistent`, when the header does not match its hash. */
export function toHeader(chain: string, block: Json): BlockHeader {
  const header = {
    number: toNumber(hex(block, 'number')),
    hash: hash(block, 'hash'),
    parentHash: hash(block, 'parentHash'),
    timestamp: toNumber(hex(block, 'timestamp')),
  };
  if (isProvableChain(chain) && isProvable(block)) prove(header, block);
  return header;
}

function prove({ number, hash }: BlockHeader, block: Json): void {
  if (hashOf(block) !== hash) {
    throw new SourceError(
      'inconsistent',
      `the header of block ${number} does not match its hash ${hash}`,
    );
  }
  const isEmpty = list(block['transactions'], 'transactions').length === 0;
  if (isEmpty !== (block['transactionsRoot'] === EMPTY_TRIE_ROOT)) {
    throw new SourceError(
      'missing',
      `block ${number} has ${isEmpty ? 'no transactions' : 'transactions'}, but its header shows otherwise`,
    );
  }
}

/** An unknown field belongs to a later fork, whose hash we can't compute. */
const isProvable = (block: Json): boolean =>
  Object.keys(block).every((name) => FIELDS.has(name) || BESIDE_THE_HASH.has(name));

function hashOf(block: Json): string {
  const fields = BYTES_OR_NUMBERS.filter(([name]) => block[name] != null).map(([name, kind]) =>
    encodeItem(kind === 'bytes' ? toBytes(hex(block, name)) : toMinimalBytes(hex(block, name))),
  );
  const payload = Buffer.concat(fields);
  return keccak256(Buffer.concat([toPrefix(0xc0, payload.length), payload]));
}

const toBytes = (text: string): Buffer =>
  Buffer.from(text.length % 2 === 0 ? text.slice(2) : `0${text.slice(2)}`, 'hex');

/** RLP numbers have no leading zeros; 0 is empty. */
const toMinimalBytes = (quantity: string): Buffer =>
  toBytes(`0x${quantity.slice(2).replace(/^0+/, '')}`);

/** Encodes a byte string in RLP (Yellow Paper, appendix B). */
function encodeItem(bytes: Buffer): Buffer {
  if (bytes.length === 1 && bytes[0]! < 0x80) return bytes;
  return Buffer.concat([toPrefix(0x80, bytes.length), bytes]);
}

function toPrefix(offset: number, length: number): Buffer {
  if (length < 56) return Buffer.of(offset + length);
  const lengthBytes = toBytes(`0x${length.toString(16)}`);
  return Buffer.concat([Buffer.of(offset + 55 + lengthBytes.length), lengthBytes]);
}
