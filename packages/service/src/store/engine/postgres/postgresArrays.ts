/**
 * Arrays in PostgreSQL's binary format, which the server copies instead of parsing it, as it would
 * parse JSON. The format is that of `array_recv` in PostgreSQL's `arrayfuncs.c`: the number of
 * dimensions, a flag for nulls, the type of the elements, the length and lower bound of the
 * dimension, then each element after its length. All integers are big-endian.
 */
import type { ColumnType } from '../engine.ts';
import { toLedgerText } from '../ledgerText.ts';

export type ArrayValue = string | number | null | undefined;

const TYPE_IDS: Record<ColumnType, number> = { bigint: 20, text: 25 };
const EMPTY_BYTES = 12;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const BIGINT_BYTES = 8;
const NULL_LENGTH = -1;
const HIGH_WORD = 2 ** 32;

/**
 * Encodes an array with one dimension; undefined is encoded as null.
 * @throws RangeError if a value of a `bigint` array is not a safe integer
 */
export function toBinaryArray(values: readonly ArrayValue[], type: ColumnType): Buffer {
  const elements = values.map((value) =>
    value == null ? null : type === 'text' ? toLedgerText(String(value)) : toInteger(value),
  );
  const bytes = elements.reduce(
    (sum: number, each) => sum + LENGTH_BYTES + bytesOf(each),
    HEADER_BYTES,
  );
  const array = Buffer.allocUnsafe(bytes);
  let at = array.writeInt32BE(Math.sign(elements.length), 0);
  at = array.writeInt32BE(1, at);
  at = array.writeInt32BE(TYPE_IDS[type], at);
  at = array.writeInt32BE(elements.length, at);
  at = array.writeInt32BE(1, at);
  for (const each of elements) {
    if (each === null) {
      at = array.writeInt32BE(NULL_LENGTH, at);
    } else if (typeof each === 'number') {
      at = array.writeInt32BE(BIGINT_BYTES, at);
      at = array.writeInt32BE(Math.floor(each / HIGH_WORD), at);
      at = array.writeUInt32BE(each >>> 0, at);
    } else {
      const written = array.write(each, at + LENGTH_BYTES);
      at = array.writeInt32BE(written, at) + written;
    }
  }
  return elements.length === 0 ? array.subarray(0, EMPTY_BYTES) : array;
}

function toInteger(value: string | number): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`not a safe integer: ${value}`);
  return number;
}

const bytesOf = (element: string | number | null): number =>
  element === null ? 0 : typeof element === 'number' ? BIGINT_BYTES : Buffer.byteLength(element);
