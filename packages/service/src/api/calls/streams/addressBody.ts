/**
 * Bodies of the address calls: one address or up to a million, with or without labels. The shape that
 * clients send, `{"address": […], "labels": {…}}`, is read from the bytes as they came, in steps that
 * leave the event loop room, and kept packed; anything else goes the way of every other body, while it
 * is no longer than one.
 */
import { CallerError } from '../base/errors.ts';
import type { Context } from 'hono';
import {
  type AddressesBody,
  type ChainFamily,
  type LabelledAddressesBody,
  aptosAddressesSchema,
  aptosLabelledAddressesSchema,
  evmAddressesSchema,
  evmLabelledAddressesSchema,
  isAddressLabel,
  padAptosAddress,
  toAddress,
  cutText,
} from '@sluice/kit/contract';
import { parseJson } from '../base/json.ts';
import {
  compareAt,
  countAddresses,
  packAddresses,
  sortAddresses,
} from '../store/addresses/packedAddresses.ts';
import type { AddressList } from '../store/addresses/contract.ts';
import { HttpError, check, refuseTooMany, validationFailed } from './answers.ts';
import { BODY_LIMIT_BYTES, readBytes, readJson } from './body.ts';
import { takeQueryField } from './query.ts';

export interface AddressBody {
  addresses: AddressList;
  /** By address, lower case. */
  labels: ReadonlyMap<string, string>;
  /** The JSON of `address`, as it came. */
  sent: Uint8Array;
}

/** Bytes read, and addresses compared, between two turns of the event loop. */
const STEP_BYTES = 1 << 19;
const COMPARED = 50_000;
/** Of space between two parts of a body, and of a text in it: more is no plain body. */
const MOST_SPACE = 1_024;
const MOST_TEXT = 4_096;
/** A body of the shape that clients send. */
interface PlainBody extends AddressBody {
  /** The keys of `labels`. */
  labelled: AddressList;
}

/** What an address is on the chains of a family. */
const FAMILIES = {
  evm: {
    width: 20,
    schema: evmAddressesSchema,
    labelledSchema: evmLabelledAddressesSchema,
    /** Lower case, with no leading zero left out. */
    toAddress,
    should: 'an EVM address: 0x and 40 hex digits',
  },
  aptos: {
    width: 32,
    schema: aptosAddressesSchema,
    labelledSchema: aptosLabelledAddressesSchema,
    toAddress: (text: string) => padAptosAddress(text)?.toLowerCase(),
    should: 'an Aptos address: 0x and up to 64 hex digits',
  },
} as const satisfies Record<ChainFamily, unknown>;
type Family = (typeof FAMILIES)[ChainFamily];

const ECHO_LIMIT = 200;

/** @throws HttpError 400 or 422 that names the field, its value and what it should be */
export async function readAddressBody(
  context: Context,
  { family: name, takesLabels }: { family: ChainFamily; takesLabels: boolean },
): Promise<AddressBody> {
  const family = FAMILIES[name];
  const bytes = readBytes(context);
  const read = await createReader(bytes, family).read(takesLabels);
  if (read !== undefined) {
    await checkLabelled(read);
    return read;
  }
  if (bytes.length > BODY_LIMIT_BYTES) {
    throw new HttpError(
      400,
      `A body of more than ${BODY_LIMIT_BYTES} bytes should be {"address":[…]}` +
        `${takesLabels ? ', with or without "labels"' : ''}, each address as "0x…" of ${2 * family.width} digits`,
    );
  }
  return readAny(readJson(context), family, { takesLabels, where: 'requestBody' });
}

/** `{}`, with room around it. */
const EMPTY_BODY_BYTES = 16;

/** Addresses to remove: in the body, or in the query (`?address=…`, once or several times) without one. */
export async function readRemovedAddresses(
  context: Context,
  family: ChainFamily,
): Promise<AddressBody> {
  const bytes = readBytes(context);
  const isEmpty =
    bytes.length <= EMPTY_BODY_BYTES && ['', '{}'].includes(bytes.toString().replace(/\s/g, ''));
  const [first, ...others] = isEmpty ? takeQueryField(context, 'address') : [];
  if (first === undefined) return readAddressBody(context, { family, takesLabels: false });
  const address = others.length === 0 ? first : [first, ...others];
  return readAny({ address }, FAMILIES[family], { takesLabels: false, where: 'query' });
}

/** Whatever JSON allows: escapes in texts, keys twice. Finds out what is wrong where something is. */
function readAny(
  body: unknown,
  family: Family,
  { takesLabels, where }: { takesLabels: boolean; where: 'requestBody' | 'query' },
): AddressBody {
  refuseTooMany(where, body);
  const schema = takesLabels ? family.labelledSchema : family.schema;
  const parsed = schema.safeParse(body);
  if (!parsed.success) {
    refuseBadAddress(body, family, where);
    return check(schema, where, body) as never;
  }
  const { address, labels = {} } = parsed.data as LabelledAddressesBody;
  return {
    addresses: packAddresses([address].flat(), family.width),
    labels: new Map(Object.entries(labels)),
    sent: Buffer.from(JSON.stringify((body as AddressesBody).address)),
  };
}

function refuseBadAddress(body: unknown, family: Family, where: 'requestBody' | 'query'): void {
  const address = (body as { address?: unknown } | null)?.address;
  const list: unknown[] = Array.isArray(address) ? address : [address];
  const at = list.findIndex(
    (each) => typeof each === 'string' && family.toAddress(each) === undefined,
  );
  if (at < 0) return;
  const place = Array.isArray(address) ? `address.${at}` : 'address';
  throw invalidAddress(family, `${where}.${place}`, String(list[at]));
}

const invalidAddress = ({ should }: Family, field: string, value: string): HttpError =>
  new HttpError(400, 'Invalid address provided', {
    [field]: {
      message: `should be ${should}`,
      value: cutText(value, ECHO_LIMIT),
    },
  });

const wrongLabel = (address: string, message: string, value: string): HttpError =>
  validationFailed('requestBody', [{ path: ['labels', address], message }], {
    labels: { [address]: value },
  });

/** Labels are of addresses of the same request. */
async function checkLabelled({ addresses, labels, labelled }: PlainBody): Promise<void> {
  if (labels.size === 0) return;
  const sorted = await sortAddresses(addresses);
  const wanted = await sortAddresses(labelled);
  let at = 0;
  for (let n = 0; n < countAddresses(wanted); n++) {
    if (n % COMPARED === 0) await new Promise(setImmediate);
    while (at < countAddresses(sorted) && compareAt(sorted, at, wanted, n) < 0) at++;
    if (at < countAddresses(sorted) && compareAt(sorted, at, wanted, n) === 0) continue;
    const bytes = wanted.bytes.subarray(n * wanted.width, (n + 1) * wanted.width);
    const address = `0x${Buffer.from(bytes).toString('hex')}`;
    throw wrongLabel(address, 'should be of an address of this request', labels.get(address)!);
  }
}

const byteOf = (character: string): number => character.charCodeAt(0);
const QUOTE = byteOf('"');
const BACKSLASH = byteOf('\\');
const SPACES: ReadonlySet<number | undefined> = new Set([' ', '\t', '\r', '\n'].map(byteOf));
const NO_DIGIT = 0xff;
const DIGITS = new Uint8Array(256).fill(NO_DIGIT);
for (const digit of '0123456789abcdefABCDEF') {
  DIGITS[byteOf(digit)] = Number.parseInt(digit, 16);
}

/** Something in the body is not of the one shape. */
const otherShape = (): CallerError => new CallerError('validation_failed', 'another shape');

function createReader(bytes: Buffer, family: Family) {
  const { width } = family;
  /** Of an address with its quotes. */
  const quotedLength = 2 + 2 * width + 2;
  let at = 0;
  let nextTurn = STEP_BYTES;
  /** As many as the body has room for. */
  const packed = new Uint8Array(Math.ceil(bytes.length / quotedLength) * width);
  let length = 0;
  const labels = new Map<string, string>();
  /** Their keys, one after the other. */
  const labelled = Buffer.from(new ArrayBuffer(packed.length));
  let labelledLength = 0;
  const decoder = new TextDecoder();

  const skipSpaces = (): void => {
    const last = at + MOST_SPACE;
    while (SPACES.has(bytes[at])) if (++at > last) throw otherShape();
  };
  /** Whether this character comes next, which is then passed. */
  const take = (character: string): boolean => {
    skipSpaces();
    if (bytes[at] !== byteOf(character)) return false;
    at++;
    return true;
  };
  const need = (character: string): void => {
    if (!take(character)) throw otherShape();
  };
  const breathe = async (): Promise<void> => {
    if (at < nextTurn) return;
    nextTurn = at + STEP_BYTES;
    await new Promise(setImmediate);
  };

  /** Passes a text that holds no escape, from its first quote on. */
  const readPlain = (): string => {
    skipSpaces();
    const length = bytes.subarray(at + 1, at + 1 + MOST_TEXT).indexOf(QUOTE);
    if (bytes[at] !== QUOTE || length < 0) throw otherShape();
    const end = at + 1 + length;
    const text = decoder.decode(bytes.subarray(at + 1, end));
    if (text.includes('\\')) throw otherShape();
    at = end + 1;
    return text;
  };
  const readText = (): string => {
    skipSpaces();
    if (bytes[at] !== QUOTE) throw otherShape();
    let end = at + 1;
    const last = Math.min(at + MOST_TEXT, bytes.length);
    while (bytes[end] !== QUOTE && end < last) end += bytes[end] === BACKSLASH ? 2 : 1;
    try {
      const text = parseJson(decoder.decode(bytes.subarray(at, end + 1))) as string;
      at = end + 1;
      return text;
    } catch {
      throw otherShape();
    }
  };

  /** Packs the address that comes next; `number` is its place in a list. */
  const readAddress = (number: number | undefined): void => {
    skipSpaces();
    const isQuoted = bytes[at] === QUOTE && bytes[at + quotedLength - 1] === QUOTE;
    let valid =
      isQuoted && bytes[at + 1] === byteOf('0') && (bytes[at + 2]! | 0x20) === byteOf('x');
    for (let n = 0; n < width && valid; n++) {
      const high = DIGITS[bytes[at + 3 + 2 * n]!]!;
      const low = DIGITS[bytes[at + 4 + 2 * n]!]!;
      valid = high !== NO_DIGIT && low !== NO_DIGIT;
      packed[length + n] = (high << 4) | low;
    }
    if (!valid) {
      const text = readPlain();
      // Right, but spelled another way.
      if (family.toAddress(text) !== undefined) throw otherShape();
      throw invalidAddress(
        family,
        number === undefined ? 'requestBody.address' : `requestBody.address.${number}`,
        text,
      );
    }
    length += width;
    at += quotedLength;
  };

  const readAddresses = async (): Promise<void> => {
    if (!take('[')) {
      readAddress(undefined);
      return;
    }
    let number = 0;
    do {
      readAddress(number++);
      await breathe();
    } while (take(','));
    need(']');
  };

  const readLabels = async (): Promise<void> => {
    need('{');
    if (take('}')) return;
    do {
      const key = readPlain();
      need(':');
      const value = readText();
      const address = family.toAddress(key);
      if (address === undefined) throw wrongLabel(key, `should be of ${family.should}`, value);
      if (!isAddressLabel(value)) {
        throw wrongLabel(
          key,
          'should be a text of 1 to 64 characters, without control characters',
          value,
        );
      }
      if (key.length !== address.length) throw otherShape();
      labels.set(address, value);
      labelledLength += labelled.write(address.slice(2), labelledLength, 'hex');
      await breathe();
    } while (take(','));
    need('}');
  };

  return {
    /** Undefined where the body has another shape. */
    async read(takesLabels: boolean): Promise<PlainBody | undefined> {
      let sent: Uint8Array | undefined;
      const keys = new Set<string>();
      try {
        need('{');
        do {
          const key = readPlain();
          if (keys.has(key)) return undefined;
          keys.add(key);
          need(':');
          skipSpaces();
          const start = at;
          if (key === 'address') {
            await readAddresses();
            sent = bytes.subarray(start, at);
          } else if (key === 'labels' && takesLabels) await readLabels();
          else return undefined;
        } while (take(','));
        need('}');
        skipSpaces();
        if (sent === undefined || at < bytes.length) return undefined;
        return {
          addresses: { width, bytes: packed.subarray(0, length) },
          labels,
          labelled: { width, bytes: labelled.subarray(0, labelledLength) },
          sent,
        };
      } catch (error) {
        if (error instanceof CallerError) return undefined;
        throw error;
      }
    },
  };
}
