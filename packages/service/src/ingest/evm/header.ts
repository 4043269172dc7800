/**
 * Parses block headers, and proves them where possible. Under the standard rules, the hash of a
 * block is the Keccak-256 hash of its RLP-encoded header fields (Yellow Paper 4.4.3), so a node
 * can't forge a field.
 */
import { keccak256 } from '@sluice/kit/contract';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { type Json, hash, hex, list, toNumber } from '../json.ts';
import { SourceError } from '../source.ts';
import { bytesOf, quantityOf } from './proof/fields.ts';
import { encodeRlp } from './proof/rlp.ts';
import { toTempoHeader } from './proof/tempo.ts';
import { EMPTY_ROOT } from './proof/trie.ts';

/**
 * Ethereum, Sepolia, Hoodi and Holesky, which have followed the standard rules since their first
 * block.
 */
const PROVABLE_CHAINS = new Set(['0x1', '0xaa36a7', '0x88bb0', '0x4268']);

/**
 * Header fields in the order in which they are hashed. Forks added the fields at the end, so older
 * blocks do not have them.
 */
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
/** Known fields of a block. Any other field may be a header field of a later fork. */
const KNOWN = new Set([
  ...BYTES_OR_NUMBERS.map(([name]) => name),
  'hash',
  'size',
  'totalDifficulty',
  'transactions',
  'uncles',
  'withdrawals',
  'author',
  'sealFields',
]);

/** Returns whether the chain is known to have followed the standard rules since its first block. */
export const isProvableChain = (chain: string): boolean => PROVABLE_CHAINS.has(chain);

/**
 * Strictness of header checks: `none` checks nothing, `known` exempts headers with unknown fields,
 * which a later fork may have added, and `strict` checks every header.
 */
export type HeaderProof = 'none' | 'known' | 'strict';

/**
 * Parses a header that a node pushed, which comes without the hashes of the block's transactions.
 *
 * @throws SourceError `inconsistent` if a header that is not exempt does not match its hash
 */
export function toPushedHeader(header: Json, proof: HeaderProof): BlockHeader {
  const parsed = {
    number: toNumber(hex(header, 'number')),
    hash: hash(header, 'hash'),
    parentHash: hash(header, 'parentHash'),
    timestamp: toNumber(hex(header, 'timestamp')),
  };
  if (isExempt(header, proof) || isHeaderProven(header)) return parsed;
  const unknown = unknownFields(header).join(', ');
  throw new SourceError(
    'inconsistent',
    `the header of block ${parsed.number} does not match its hash ${parsed.hash}${
      unknown === ''
        ? ''
        : `. This version of Sluice does not know ${unknown}; if a fork added it, upgrade, or pass proof=off with --chain`
    }`,
  );
}

/**
 * Parses the header of a block. Throws a SourceError unless the header is exempt: `inconsistent` if
 * it does not match its hash, `missing` if its transactions root contradicts the transactions.
 */
export function toHeader(block: Json, proof: HeaderProof): BlockHeader {
  const header = toPushedHeader(block, proof);
  if (isExempt(block, proof)) return header;
  const isEmpty = list(block['transactions'], 'transactions').length === 0;
  if (isEmpty !== (block['transactionsRoot'] === EMPTY_ROOT)) {
    throw new SourceError(
      'missing',
      `block ${header.number} has ${isEmpty ? 'no transactions' : 'transactions'}, but its header shows otherwise`,
    );
  }
  return header;
}

const isExempt = (header: Json, proof: HeaderProof): boolean =>
  proof === 'none' || (proof === 'known' && unknownFields(header).length > 0);

/** Returns whether a known rule derives the block's hash from its fields. */
export const isHeaderProven = (block: Json): boolean => encodeHeader(block) !== undefined;

/**
 * Returns the bytes whose Keccak-256 hash is the block hash; undefined if no known rule produces
 * it.
 */
export function encodeHeader(block: Json): Buffer | undefined {
  const fields = BYTES_OR_NUMBERS.filter(([name]) => block[name] != null).map(([name, kind]) =>
    kind === 'bytes' ? bytesOf(block, name) : quantityOf(block, name),
  );
  return [fields, toTempoHeader(block, fields)]
    .flatMap((each) => (each === undefined ? [] : [encodeRlp(each)]))
    .find((each) => keccak256(each) === block['hash']);
}

const unknownFields = (block: Json): string[] =>
  Object.keys(block).filter((name) => !KNOWN.has(name));
