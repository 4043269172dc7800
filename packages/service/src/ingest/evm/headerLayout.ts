/** Interim: replaced by the module that searches layouts. */
import { keccak256 } from '@sluice/kit/contract';
import type { Json } from '../json.ts';
import { bytesOf, quantityOf } from './proof/fields.ts';
import { encodeRlp } from './proof/rlp.ts';
import { toTempoHeader } from './proof/tempo.ts';

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

export type HeaderProof =
  | { result: 'passed'; encoded: Buffer }
  | { result: 'failed' }
  | { result: 'not-applicable'; reason: string };

export interface HeaderProver {
  check(header: Json): HeaderProof;
  prove(header: Json, node: string): Promise<HeaderProof>;
}

export function createHeaderProver(): HeaderProver {
  const check = (block: Json): HeaderProof => {
    const fields = BYTES_OR_NUMBERS.filter(([name]) => block[name] != null).map(([name, kind]) =>
      kind === 'bytes' ? bytesOf(block, name) : quantityOf(block, name),
    );
    const encoded = [fields, toTempoHeader(block, fields)]
      .flatMap((each) => (each === undefined ? [] : [encodeRlp(each)]))
      .find((each) => keccak256(each) === block['hash']);
    if (encoded !== undefined) return { result: 'passed', encoded };
    const unknown = Object.keys(block).filter((name) => !KNOWN.has(name));
    if (unknown.length === 0) return { result: 'failed' };
    return { result: 'not-applicable', reason: `unknown header fields ${unknown.join(', ')}` };
  };
  return { check, prove: async (header) => check(header) };
}
