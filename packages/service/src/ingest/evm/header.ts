/**
 * A block's header, and where it can be proved, proved: on Ethereum and its test networks the hash is
 * the Keccak of the header's fields in RLP (Yellow Paper 4.4.3), so a node cannot change a parent, a
 * bloom or a time without the hash giving it away. Other chains hash other fields or in another way;
 * there a header is held against its neighbours and against other nodes only.
 */
import { keccak256 } from '@sluice/kit/contract';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { type Json, hash, hex, list, toNumber } from '../json.ts';
import { SourceError } from '../source.ts';

/** Ethereum, Sepolia, Hoodi, Holesky: known to hash as below since their first block. */
const PROVABLE_CHAINS = new Set(['0x1', '0xaa36a7', '0x88bb0', '0x4268']);

const EMPTY_TRIE_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

/** In the order they are hashed; those of later forks are left out of older blocks, from the end. */
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
/** What else stands in the block without being part of its hash. */
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

/** Whether the chain has Ethereum's rules, by which a block is right or wrong and nothing between. */
export const isProvableChain = (chain: string): boolean => PROVABLE_CHAINS.has(chain);

/** Throws a SourceError, `inconsistent`, for a header that is not of its own hash. */
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
      `the header of block ${number} is not of its hash ${hash}`,
    );
  }
  const isEmpty = list(block['transactions'], 'transactions').length === 0;
  if (isEmpty !== (block['transactionsRoot'] === EMPTY_TRIE_ROOT)) {
    throw new SourceError(
      'missing',
      `block ${number} came ${isEmpty ? 'without' : 'with'} transactions, its header says otherwise`,
    );
  }
}

/** A field we do not know belongs to a fork that came after us: we cannot tell its hash. */
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

/** A number in RLP has no leading zeros, and nothing for 0. */
const toMinimalBytes = (quantity: string): Buffer =>
  toBytes(`0x${quantity.slice(2).replace(/^0+/, '')}`);

/** RLP of a string of bytes (Yellow Paper, appendix B). */
function encodeItem(bytes: Buffer): Buffer {
  if (bytes.length === 1 && bytes[0]! < 0x80) return bytes;
  return Buffer.concat([toPrefix(0x80, bytes.length), bytes]);
}

function toPrefix(offset: number, length: number): Buffer {
  if (length < 56) return Buffer.of(offset + length);
  const lengthBytes = toBytes(`0x${length.toString(16)}`);
  return Buffer.concat([Buffer.of(offset + 55 + lengthBytes.length), lengthBytes]);
}
