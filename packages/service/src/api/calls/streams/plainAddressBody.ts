/**
 * Reads the usual address body, `{"address": […], "labels": {…}}`, into packed addresses,
 * and regularly yields to the event loop.
 */
import { isAddressLabel } from '@sluice/kit/contract';
import { CallerError } from '../../../base/errors.ts';
import type { AddressList } from '../../../store/addresses/contract.ts';
import {
  compareAt,
  countAddresses,
  sortAddresses,
} from '../../../store/addresses/packedAddresses.ts';
import { type HttpError, validationFailed } from '../../httpErrors.ts';
import type { AddressFormat } from '../../family.ts';
import { invalidAddress } from './invalidAddress.ts';
import { type JsonScanner, byteOf, createJsonScanner, unexpectedShape } from './jsonScanner.ts';

export interface AddressBody {
  addresses: AddressList;
  /** Labels by lowercase address. */
  labels: ReadonlyMap<string, string>;
  /** The JSON of `address`, as sent. */
  sent: Uint8Array;
}

/** Number of bytes to read, and of addresses to compare, before yielding to the event loop. */
const STEP_BYTES = 1 << 19;
const COMPARED = 50_000;

/**
 * Reads a body in the usual shape; returns undefined for any other shape.
 * @throws HttpError 400 or 422 that names the field, its value and what it should be
 */
export async function readPlainBody(
  bytes: Buffer,
  format: AddressFormat,
  takesLabels: boolean,
): Promise<AddressBody | undefined> {
  const scanner = createJsonScanner(bytes);
  let addresses: AddressList | undefined;
  let sent: Uint8Array | undefined;
  let labeling: Labeling | undefined;
  try {
    scanner.need('{');
    do {
      const key = scanner.readPlain();
      scanner.need(':');
      scanner.skipSpaces();
      const start = scanner.position;
      if (key === 'address' && addresses === undefined) {
        addresses = await readAddresses(bytes, scanner, format);
        sent = bytes.subarray(start, scanner.position);
      } else if (key === 'labels' && takesLabels && labeling === undefined) {
        labeling = await readLabels(bytes, scanner, format);
      } else return undefined;
    } while (scanner.take(','));
    scanner.need('}');
    scanner.skipSpaces();
    if (scanner.position < bytes.length) return undefined;
  } catch (error) {
    if (error instanceof CallerError) return undefined;
    throw error;
  }
  if (addresses === undefined || sent === undefined) return undefined;
  if (labeling !== undefined && labeling.labels.size > 0)
    await refuseStrayLabels(addresses, labeling);
  return { addresses, labels: labeling?.labels ?? new Map(), sent };
}

/**
 * Returns a function that yields to the event loop after every `STEP_BYTES` that the scanner read.
 */
function createYield(scanner: JsonScanner): () => Promise<void> {
  let nextTurn = scanner.position + STEP_BYTES;
  return async () => {
    if (scanner.position < nextTurn) return;
    nextTurn = scanner.position + STEP_BYTES;
    await new Promise(setImmediate);
  };
}

/** Returns the number of characters in a quoted address of `width` bytes. */
const quotedLength = (width: number): number => 2 + 2 * width + 2;
/** Returns the maximum number of bytes that the addresses of a body take when packed. */
const roomFor = (bytes: Uint8Array, width: number): number =>
  Math.ceil(bytes.length / quotedLength(width)) * width;

const QUOTE = byteOf('"');
const NO_DIGIT = 0xff;
const DIGITS = new Uint8Array(256).fill(NO_DIGIT);
for (const digit of '0123456789abcdefABCDEF') {
  DIGITS[byteOf(digit)] = Number.parseInt(digit, 16);
}

/**
 * Packs the quoted address of `width` bytes that starts at `at`; returns false if there is none.
 */
function packQuoted(
  bytes: Uint8Array,
  at: number,
  width: number,
  packed: Uint8Array,
  packedAt: number,
): boolean {
  if (bytes[at] !== QUOTE || bytes[at + quotedLength(width) - 1] !== QUOTE) return false;
  if (bytes[at + 1] !== byteOf('0') || (bytes[at + 2]! | 0x20) !== byteOf('x')) return false;
  for (let n = 0; n < width; n++) {
    const high = DIGITS[bytes[at + 3 + 2 * n]!]!;
    const low = DIGITS[bytes[at + 4 + 2 * n]!]!;
    if (high === NO_DIGIT || low === NO_DIGIT) return false;
    packed[packedAt + n] = (high << 4) | low;
  }
  return true;
}

/** Reads an address or a list of addresses, and packs them. */
async function readAddresses(
  bytes: Buffer,
  scanner: JsonScanner,
  format: AddressFormat,
): Promise<AddressList> {
  const { width } = format;
  const breathe = createYield(scanner);
  const packed = new Uint8Array(roomFor(bytes, width));
  let length = 0;
  /** @param number index of the address in a list; undefined for a single address */
  const readAddress = (number: number | undefined): void => {
    scanner.skipSpaces();
    if (!packQuoted(bytes, scanner.position, width, packed, length)) {
      const text = scanner.readPlain();
      // The address is valid, but in a different notation.
      if (format.toAddress(text) !== undefined) throw unexpectedShape();
      const place = number === undefined ? '' : `.${number}`;
      throw invalidAddress(format, `requestBody.address${place}`, text);
    }
    length += width;
    scanner.skip(quotedLength(width));
  };

  if (scanner.take('[')) {
    let number = 0;
    do {
      readAddress(number++);
      await breathe();
    } while (scanner.take(','));
    scanner.need(']');
  } else readAddress(undefined);
  return { width, bytes: packed.subarray(0, length) };
}

interface Labeling {
  labels: ReadonlyMap<string, string>;
  /** The keys of `labels`, as packed addresses. */
  labeled: AddressList;
}

async function readLabels(
  bytes: Buffer,
  scanner: JsonScanner,
  format: AddressFormat,
): Promise<Labeling> {
  const { width } = format;
  const breathe = createYield(scanner);
  const labels = new Map<string, string>();
  const labeled = Buffer.from(new ArrayBuffer(roomFor(bytes, width)));
  let length = 0;
  scanner.need('{');
  if (!scanner.take('}')) {
    do {
      const key = scanner.readPlain();
      scanner.need(':');
      const value = scanner.readText();
      const address = format.toAddress(key);
      if (address === undefined) throw wrongLabel(key, `should label ${format.should}`, value);
      if (!isAddressLabel(value)) {
        throw wrongLabel(key, 'should be at most 64 characters, without control characters', value);
      }
      if (key.length !== address.length) throw unexpectedShape();
      labels.set(address, value);
      length += labeled.write(address.slice(2), length, 'hex');
      await breathe();
    } while (scanner.take(','));
    scanner.need('}');
  }
  return { labels, labeled: { width, bytes: labeled.subarray(0, length) } };
}

/** Rejects labels of addresses that the request does not contain. */
async function refuseStrayLabels(
  addresses: AddressList,
  { labels, labeled }: Labeling,
): Promise<void> {
  const sorted = await sortAddresses(addresses);
  const wanted = await sortAddresses(labeled);
  let at = 0;
  for (let n = 0; n < countAddresses(wanted); n++) {
    if (n % COMPARED === 0) await new Promise(setImmediate);
    while (at < countAddresses(sorted) && compareAt(sorted, at, wanted, n) < 0) at++;
    if (at < countAddresses(sorted) && compareAt(sorted, at, wanted, n) === 0) continue;
    const bytes = wanted.bytes.subarray(n * wanted.width, (n + 1) * wanted.width);
    const address = `0x${Buffer.from(bytes).toString('hex')}`;
    throw wrongLabel(address, 'should be for an address in this request', labels.get(address)!);
  }
}

const wrongLabel = (address: string, message: string, value: string): HttpError =>
  validationFailed('requestBody', [{ path: ['labels', address], message }], {
    labels: { [address]: value },
  });
