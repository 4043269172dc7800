/**
 * Lists the header fields that networks hash, in their order, and encodes a header by each rule
 * that may apply to it.
 */
import { type Json, readHex, toHex } from '../../../../ingest/json.ts';
import { withoutSeals } from './bftSeals.ts';
import { bytesOf, quantityBytes, quantityOf, toBytes } from '../proof/fields.ts';
import { type RlpItem, encodeRlp } from '../proof/rlp.ts';
import { toTempoHeader } from '../proof/tempo.ts';

type Field = readonly [name: string, kind: 'bytes' | 'number'];

/** Fields of every header (Yellow Paper 4.4). */
const FIRST: readonly Field[] = [
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
];
const BASE_FEE: Field = ['baseFeePerGas', 'number'];
const BLOB_GAS: readonly Field[] = [
  ['blobGasUsed', 'number'],
  ['excessBlobGas', 'number'],
  ['parentBeaconBlockRoot', 'bytes'],
];

interface Layout {
  /** The layout applies to headers that have this field; undefined for the layout of all others. */
  mark?: string;
  fields: readonly Field[];
}

/** The first layout whose mark a header has is its layout. */
const LAYOUTS: readonly Layout[] = [
  // https://github.com/ava-labs/avalanchego/blob/master/graft/coreth/plugin/evm/customtypes/header_ext.go
  {
    mark: 'extDataHash',
    fields: [
      ...FIRST,
      ['extDataHash', 'bytes'],
      BASE_FEE,
      ['extDataGasUsed', 'number'],
      ['blockGasCost', 'number'],
      ...BLOB_GAS,
      ['timestampMilliseconds', 'number'],
      ['minDelayExcess', 'number'],
      ['targetExponent', 'number'],
      ['minPriceExponent', 'number'],
      ['settledHeight', 'number'],
      ['settledGasUnix', 'number'],
      ['settledGasNumerator', 'number'],
      ['settledExcess', 'number'],
    ],
  },
  // https://github.com/ava-labs/avalanchego/blob/master/graft/subnet-evm/plugin/evm/customtypes/header_ext.go
  {
    mark: 'blockGasCost',
    fields: [
      ...FIRST,
      BASE_FEE,
      ['blockGasCost', 'number'],
      ...BLOB_GAS,
      ['timestampMilliseconds', 'number'],
      ['minDelayExcess', 'number'],
    ],
  },
  // https://github.com/XinFinOrg/XDPoSChain/blob/dev-upgrade/core/types/block.go
  {
    mark: 'penalties',
    fields: [
      ...FIRST,
      ['validators', 'bytes'],
      ['validator', 'bytes'],
      ['penalties', 'bytes'],
      BASE_FEE,
    ],
  },
  {
    fields: [
      ...FIRST,
      BASE_FEE,
      ['withdrawalsRoot', 'bytes'],
      ...BLOB_GAS,
      ['requestsHash', 'bytes'],
      ['blockAccessListHash', 'bytes'],
      ['slotNumber', 'number'],
      // Berachain (BRIP-0004).
      ['parentProposerPubkey', 'bytes'],
    ],
  },
];

/**
 * Fields of Celo's headers before the Gingerbread fork, which had no gas limit.
 *
 * @see https://github.com/celo-org/op-geth/blob/celo-rebase-12/core/types/celo_block.go
 */
const CELO_BEFORE_GINGERBREAD: readonly Field[] = FIRST.filter(
  ([name]) => !['sha3Uncles', 'difficulty', 'gasLimit', 'mixHash', 'nonce'].includes(name),
);

/** Fields that nodes add to headers; they are not hashed. */
const NOT_HASHED = [
  'hash',
  'size',
  'totalDifficulty',
  'transactions',
  'uncles',
  'withdrawals',
  'author',
  'sealFields',
  'blockExtraData',
  'timestampMs',
  'milliTimestamp',
  'timestampMillis',
  'l1BlockNumber',
  'sendCount',
  'sendRoot',
  'l1BatchNumber',
  'l1BatchTimestamp',
];
const TEMPO = [
  'mainBlockGeneralGasLimit',
  'sharedGasLimit',
  'timestampMillisPart',
  'consensusContext',
];

const KNOWN = new Set([
  ...LAYOUTS.flatMap(({ fields }) => fields.map(([name]) => name)),
  ...NOT_HASHED,
  ...TEMPO,
]);

/** Lists the fields that may be header fields of a fork, in the order of the node. */
export const unknownFieldsOf = (header: Json): string[] =>
  Object.keys(header).filter((name) => !KNOWN.has(name) && header[name] != null);

/**
 * Encodes a field whose kind is unknown: as bytes and as a number, once if both are the same. Empty
 * if the value is neither.
 */
export function encodeUnknown(value: unknown): Buffer[] {
  const text =
    typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? toHex(value) : value;
  if (typeof text !== 'string' || !/^0x[0-9a-f]*$/i.test(text)) return [];
  const number = encodeRlp(quantityBytes(text));
  if (text.length % 2 === 1) return [number];
  const bytes = encodeRlp(toBytes(text));
  return bytes.equals(number) ? [bytes] : [bytes, number];
}

/** A list of fields that may hash to the block hash. */
export interface FieldList {
  fields: RlpItem[];
  /** Whether a fork may have appended fields to the list. */
  isBase: boolean;
}

/**
 * Yields the lists of fields that known rules hash, the most likely one first and bases first.
 *
 * @throws SourceError if a field has an unexpected form
 */
export function* listKnownFields(header: Json): Generator<FieldList> {
  const layout = LAYOUTS.find(({ mark }) => mark === undefined || header[mark] != null)!.fields;
  const raw = toBytes(header['extraData']);
  yield* listBases(header, layout, raw);
  for (const extraData of withoutSeals(header)) yield* listBases(header, layout, extraData);
  // Moonbeam lists a base fee that its headers do not have.
  const last = layout.findLastIndex(([name]) => header[name] != null);
  for (let length = last; length >= FIRST.length; length--) {
    yield { fields: encodeFields(header, layout.slice(0, length), raw), isBase: false };
  }
  if (header['gasLimit'] == null || header['gasLimit'] === '0x0') {
    yield { fields: encodeFields(header, CELO_BEFORE_GINGERBREAD, raw), isBase: false };
  }
}

function* listBases(
  header: Json,
  layout: readonly Field[],
  extraData: Buffer,
): Generator<FieldList> {
  const fields = encodeFields(header, layout, extraData);
  const tempo = toTempoHeader(header, fields);
  if (tempo !== undefined) yield { fields: tempo, isBase: true };
  yield { fields, isBase: true };
  const last = layout.findLastIndex(([name]) => header[name] != null);
  const before = layout.slice(0, last + 1);
  if (before.every(([name]) => header[name] != null)) return;
  // geth hashes an optional field that is missing before another one as an empty field.
  yield { fields: encodeFields(header, before, extraData, true), isBase: true };
}

const encodeFields = (
  header: Json,
  layout: readonly Field[],
  extraData: Buffer,
  hasEmpty = false,
): RlpItem[] =>
  layout
    .filter(([name]) => hasEmpty || header[name] != null)
    .map(([name, kind]) => {
      if (name === 'extraData') return extraData;
      if (header[name] == null) return Buffer.alloc(0);
      return kind === 'bytes' ? bytesOf(header, name) : quantityOf(header, name);
    });

/** Reads the hash of a block in lowercase. */
export const hashOf = (header: Json): string => readHex(header, 'hash').toLowerCase();
