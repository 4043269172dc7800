/**
 * Encodes RLP, the format in which Ethereum hashes headers, transactions and receipts (Yellow
 * Paper, appendix B).
 */

export type RlpItem = Uint8Array | readonly RlpItem[];

export function encodeRlp(item: RlpItem): Buffer {
  const target = Buffer.allocUnsafe(lengthOf(item));
  write(item, target, 0);
  return target;
}

/** Encodes a list of items that are already encoded. */
export function encodeList(encoded: readonly Uint8Array[]): Buffer {
  const length = encoded.reduce((sum, item) => sum + item.length, 0);
  const target = Buffer.allocUnsafe(prefixLength(length) + length);
  let at = writePrefix(0xc0, length, target, 0);
  for (const item of encoded) {
    target.set(item, at);
    at += item.length;
  }
  return target;
}

/** Splits an encoded list into its encoded items; returns undefined if it is not a valid list. */
export function splitList(encoded: Uint8Array): Uint8Array[] | undefined {
  const list = readPrefix(encoded, 0);
  if (list === undefined || encoded[0]! < 0xc0 || list.end !== encoded.length) return undefined;
  const items: Uint8Array[] = [];
  for (let at = list.start; at < list.end;) {
    const item = readPrefix(encoded, at);
    if (item === undefined) return undefined;
    items.push(encoded.subarray(at, item.end));
    at = item.end;
  }
  return items;
}

/** Returns where the payload of the item at `at` starts and ends; undefined if it is cut off. */
function readPrefix(encoded: Uint8Array, at: number): { start: number; end: number } | undefined {
  const first = encoded[at];
  if (first === undefined) return undefined;
  if (first < 0x80) return { start: at, end: at + 1 };
  const short = (first - 0x80) % 0x40;
  const size = Math.max(short - 55, 0);
  let length = size === 0 ? short : 0;
  for (let n = 1; n <= size; n++) length = length * 256 + (encoded[at + n] ?? 0);
  const start = at + 1 + size;
  return start + length > encoded.length ? undefined : { start, end: start + length };
}

const isBytes = (item: RlpItem): item is Uint8Array => item instanceof Uint8Array;

/** Returns whether these bytes are a single byte below 0x80, which is encoded as itself. */
const isOwnEncoding = (bytes: Uint8Array): boolean => bytes.length === 1 && bytes[0]! < 0x80;

function payloadLength(item: RlpItem): number {
  if (isBytes(item)) return item.length;
  let sum = 0;
  for (const each of item) sum += lengthOf(each);
  return sum;
}

function lengthOf(item: RlpItem): number {
  if (isBytes(item) && isOwnEncoding(item)) return 1;
  const length = payloadLength(item);
  return prefixLength(length) + length;
}

/** Writes an item and returns the position after it. */
function write(item: RlpItem, target: Buffer, at: number): number {
  if (!isBytes(item)) {
    let next = writePrefix(0xc0, payloadLength(item), target, at);
    for (const each of item) next = write(each, target, next);
    return next;
  }
  const start = isOwnEncoding(item) ? at : writePrefix(0x80, item.length, target, at);
  target.set(item, start);
  return start + item.length;
}

const prefixLength = (length: number): number => (length < 56 ? 1 : 1 + bytesOfLength(length));

const bytesOfLength = (length: number): number => Math.ceil((32 - Math.clz32(length)) / 8);

function writePrefix(offset: number, length: number, target: Buffer, at: number): number {
  if (length < 56) return target.writeUInt8(offset + length, at);
  const bytes = bytesOfLength(length);
  target.writeUInt8(offset + 55 + bytes, at);
  return target.writeUIntBE(length, at + 1, bytes);
}
