/**
 * Compiles Solidity types to readers, which decode ABI-encoded data directly from hex. Because the
 * data is untrusted, readers check bounds: they throw {@link MALFORMED_ERROR} for invalid data, and
 * {@link OVERLAP_ERROR} if values share bytes and would be much larger than the data. Otherwise, they
 * read what viem reads; strict readers refuse data that Solidity does not write.
 */
import { canonicalType } from '../signatures.ts';
import type { AbiParameter } from '../../shapes.generated.ts';

/**
 * A decoded value. Integers of any size are bigint, addresses and bytes are hex, and tuples are
 * objects.
 */
export type DecodedValue =
  | string
  | bigint
  | boolean
  | readonly DecodedValue[]
  | { readonly [name: string]: DecodedValue };

/** The error for data that does not encode the type. It is always the same object. */
export const MALFORMED_ERROR = new Error('The data does not encode the type');

/** The error for data whose values share too many bytes. It is always the same object. */
const OVERLAP_ERROR = new Error('Values overlap in the data');

/** The error of strict readers for unused bits that are not zero. It is always the same object. */
const DIRTY_BITS_ERROR = new Error('Unused bits are not zero');

/** Why data can't be decoded: each reason has one of the errors above. */
export type Malformation = 'malformed' | 'overlapping' | 'dirty';

const MALFORMATIONS: ReadonlyMap<unknown, Malformation> = new Map([
  [MALFORMED_ERROR, 'malformed'],
  [OVERLAP_ERROR, 'overlapping'],
  [DIRTY_BITS_ERROR, 'dirty'],
]);

/** Returns the result of `read`, or why the data can't be decoded. */
export function attemptRead<Value extends object>(read: () => Value): Value | Malformation {
  try {
    return read();
  } catch (error) {
    const reason = MALFORMATIONS.get(error);
    if (reason === undefined) throw error;
    return reason;
  }
}

/** Form of decoded text: `exact`, or for a database, with U+FFFD instead of each NUL character. */
export type TextFormat = 'exact' | 'database';

/** PostgreSQL and others cannot store NUL, so it is replaced like invalid UTF-8. */
export const withoutNul = (text: string): string => text.replaceAll('\0', '\uFFFD');

export interface ReadOptions {
  readonly strict: boolean;
  readonly text: TextFormat;
}

/** Reads what viem reads. */
export const LENIENT_OPTIONS: ReadOptions = { strict: false, text: 'exact' };
const STRICT: ReadOptions = { strict: true, text: 'exact' };

export interface Codec {
  /** Whether the value is encoded behind an offset instead of in place. */
  readonly dynamic: boolean;
  /** Number of words that a value takes in place; 1 for the offset of a dynamic value. */
  readonly headWords: number;
  /** Reads the value that starts at character `at` of the source. */
  readonly read: (source: Source, at: number) => DecodedValue;
}

/**
 * Maximum number of times that all bytes are read, on average. Values may share bytes, but a small
 * log must not decode to a large value.
 */
const MAX_READS = 4;

/** ABI-encoded data in hex. Positions are in characters. */
export class Source {
  readonly hex: string;
  readonly options: ReadOptions;
  /** Number of characters that may still be read. */
  #left: number;
  /** Whether each byte was read; only for strict readers. */
  readonly #isRead: Uint8Array | undefined;

  /** `hex` is `0x` and lowercase hex digits. */
  constructor(hex: string, options = LENIENT_OPTIONS) {
    this.hex = hex;
    this.options = options;
    this.#left = MAX_READS * hex.length;
    this.#isRead = options.strict ? new Uint8Array(hex.length / 2) : undefined;
  }

  /**
   * Marks the characters between two positions as read. Throws {@link MALFORMED_ERROR} if they extend
   * past the end of the data, and {@link OVERLAP_ERROR} if too many were already read; for strict
   * readers, if any was.
   */
  take(start: number, end: number): void {
    if (end > this.hex.length) throw MALFORMED_ERROR;
    this.#left -= end - start;
    if (this.#left < 0) throw OVERLAP_ERROR;
    if (this.#isRead === undefined) return;
    for (let byte = start / 2; byte < end / 2; byte++) {
      if (this.#isRead[byte] === 1) throw OVERLAP_ERROR;
      this.#isRead[byte] = 1;
    }
  }
}

/** Number of hex digits in a word. */
const WORD = 64;
const ZEROS = '0'.repeat(WORD);
const ONES = 'f'.repeat(WORD);

/** Maximum nesting of tuples and arrays. */
export const MAX_DEPTH = 16;

/**
 * Compiles the type of a parameter. Returns undefined if the type does not exist or the kit does
 * not support it. `readAddress` decodes the addresses in values.
 */
export function compileType(
  parameter: AbiParameter,
  readAddress: ReadWord,
  depth = 0,
): Codec | undefined {
  const { type, components } = parameter;
  if (depth > MAX_DEPTH) return undefined;
  const bracket = type.lastIndexOf('[');
  if (bracket > 0 && /^\[\d*\]$/.test(type.slice(bracket))) {
    const element = type.slice(0, bracket);
    const length = type.slice(bracket + 1, -1);
    const codec = compileType({ ...parameter, type: element }, readAddress, depth + 1);
    if (!codec) return undefined;
    if (length === '') return arrayCodec(codec);
    // Rejects arrays of length 0, which Solidity lacks, so that each element takes at least a word.
    return Number(length) > 0 ? fixedArrayCodec(codec, Number(length)) : undefined;
  }
  if (type === 'tuple') return compileTuple(components ?? [], readAddress, depth + 1);
  const canonical = canonicalType(type);
  if (canonical === 'bytes') return bytesCodec;
  if (canonical === 'string') return stringCodec;
  const readWord = canonical === undefined ? undefined : wordReader(canonical, readAddress);
  return readWord && { dynamic: false, headWords: 1, read: fromWord(readWord) };
}

/** A compiled list of parameters. */
export interface CompiledParameters {
  /** Size of the encoded values; undefined if it varies. */
  readonly sizeBytes: number | undefined;
  /**
   * Decodes the values; strictly by default. Throws {@link MALFORMED_ERROR}, {@link OVERLAP_ERROR} or
   * {@link DIRTY_BITS_ERROR}.
   */
  readonly decode: (data: string, options?: ReadOptions) => DecodedValue[];
}

/**
 * Compiles a list of parameters, such as the outputs of a function. Returns undefined if
 * {@link compileType} does not support one of the types.
 */
export function compileParameters(
  parameters: readonly AbiParameter[],
  readAddress: ReadWord = readLowerAddress,
): CompiledParameters | undefined {
  const codecs: Codec[] = [];
  for (const parameter of parameters) {
    const codec = compileType(parameter, readAddress);
    if (!codec) return undefined;
    codecs.push(codec);
  }
  const words = codecs.reduce((sum, { headWords }) => sum + headWords, 0);
  return {
    sizeBytes: codecs.some(({ dynamic }) => dynamic) ? undefined : words * 32,
    decode(data, options = STRICT) {
      const hex = toHex(data);
      if (hex === undefined) throw MALFORMED_ERROR;
      const source = new Source(hex, options);
      let at = '0x'.length;
      return codecs.map((codec) => {
        const value = readMember(codec, source, 2, at);
        at += codec.headWords * WORD;
        return value;
      });
    },
  };
}

const HEX = /^0x[0-9a-f]*$/;

/**
 * Converts a value to lowercase hex. Returns undefined if it is not `0x` and an even number of hex
 * digits.
 */
export function toHex(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length % 2 !== 0) return undefined;
  if (HEX.test(value)) return value;
  const lower = value.toLowerCase();
  return HEX.test(lower) ? lower : undefined;
}

function compileTuple(
  components: readonly AbiParameter[],
  readAddress: ReadWord,
  depth: number,
): Codec | undefined {
  if (components.length === 0) return undefined;
  const members: Codec[] = [];
  for (const component of components) {
    const codec = compileType(component, readAddress, depth);
    if (!codec) return undefined;
    members.push(codec);
  }
  return tupleCodec(members, parameterNames(components));
}

/**
 * Returns a unique name for each parameter. An unnamed parameter gets `arg` and its position; a
 * repeated name gets underscores.
 */
export function parameterNames(parameters: readonly { name?: string | undefined }[]): string[] {
  /**
   * Maps each used name to the next candidate, so that searches are short if an ABI repeats a name
   * often.
   */
  const names = new Map<string, string>();
  for (const [position, parameter] of parameters.entries()) {
    let name = parameter.name || `arg${position}`;
    const taken: string[] = [];
    for (let longer; (longer = names.get(name)) !== undefined; name = longer) taken.push(name);
    for (const each of taken) names.set(each, name);
    names.set(name, `${name}_`);
  }
  return [...names.keys()];
}

/** Sets a property of a decoded object. Unlike assignment, it also works for `__proto__`. */
export function setNamed(object: Record<string, DecodedValue>, name: string, value: DecodedValue) {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}

/** Reads the word that starts at character `at`, such as a topic. */
export type ReadWord = (hex: string, at: number, strict: boolean) => string | bigint | boolean;

/** Returns the reader of a type that fits into one word; undefined for other types. */
export function wordReader(canonical: string, readAddress: ReadWord): ReadWord | undefined {
  if (canonical === 'address') return readAddress;
  if (canonical === 'bool') return readBool;
  if (canonical === 'function') return bytesReader(24);
  const [, base, size] = /^(uint|int|bytes)(\d+)$/.exec(canonical) ?? [];
  if (base === 'uint') return uintReader(Number(size));
  if (base === 'int') return intReader(Number(size));
  return base === 'bytes' ? bytesReader(Number(size)) : undefined;
}

const fromWord =
  (readWord: ReadWord) =>
  (source: Source, at: number): DecodedValue => {
    source.take(at, at + WORD);
    return readWord(source.hex, at, source.options.strict);
  };

const PADDING_OF_ADDRESS = ZEROS.slice(40);

/** Reads an address, in lowercase like the source. */
export const readLowerAddress = (hex: string, at: number, strict: boolean): string => {
  if (strict && !hex.startsWith(PADDING_OF_ADDRESS, at)) throw DIRTY_BITS_ERROR;
  return `0x${hex.slice(at + 24, at + WORD)}`;
};

const PADDING_OF_BOOL = ZEROS.slice(1);

const readBool: ReadWord = (hex, at) => {
  const digit = hex.charCodeAt(at + WORD - 1) - 48;
  if (digit > 1 || !hex.startsWith(PADDING_OF_BOOL, at)) throw MALFORMED_ERROR;
  return digit === 1;
};

/** Maximum size of the integers that viem reads as numbers. */
const NUMBER_BITS = 48;

/**
 * Returns an integer whose upper bits do not fit its type. Like viem, it reads the entire word, but
 * not as a small integer if it exceeds the safe integers of JavaScript.
 */
function readDirty(value: bigint, bits: number, strict: boolean): bigint {
  if (strict) throw DIRTY_BITS_ERROR;
  if (bits <= NUMBER_BITS && !Number.isSafeInteger(Number(value))) throw MALFORMED_ERROR;
  return value;
}

function uintReader(bits: number): ReadWord {
  const padding = ZEROS.slice(bits / 4);
  return (hex, at, strict) => {
    const value = toBigInt(hex, at);
    return hex.startsWith(padding, at) ? value : readDirty(value, bits, strict);
  };
}

function intReader(bits: number): ReadWord {
  const positive = ZEROS.slice(bits / 4);
  const negative = ONES.slice(bits / 4);
  const signAt = WORD - bits / 4;
  return (hex, at, strict) => {
    const value = BigInt.asIntN(256, toBigInt(hex, at));
    const isNegative = hex.charAt(at + signAt) >= '8';
    const isClean = hex.startsWith(isNegative ? negative : positive, at);
    return isClean ? value : readDirty(value, bits, strict);
  };
}

function bytesReader(size: number): ReadWord {
  const padding = ZEROS.slice(size * 2);
  return (hex, at, strict) => {
    if (strict && !hex.startsWith(padding, at + size * 2)) throw DIRTY_BITS_ERROR;
    return `0x${hex.slice(at, at + size * 2)}`;
  };
}

const toBigInt = (hex: string, at: number): bigint => BigInt(`0x${hex.slice(at, at + WORD)}`);

/** The zeros before an offset or length, which never exceeds 32 bits in valid data. */
const PADDING_OF_SIZE = ZEROS.slice(8);

function readSize(source: Source, at: number): number {
  source.take(at, at + WORD);
  if (!source.hex.startsWith(PADDING_OF_SIZE, at)) throw MALFORMED_ERROR;
  return Number.parseInt(source.hex.slice(at + WORD - 8, at + WORD), 16);
}

/**
 * Reads the member at `at` of a tuple, array or parameter list. Offsets in the data are relative to
 * `base`.
 */
export const readMember = (codec: Codec, source: Source, base: number, at: number): DecodedValue =>
  codec.dynamic ? codec.read(source, base + readSize(source, at) * 2) : codec.read(source, at);

/**
 * Reads the contents of a `bytes` or `string` as hex digits. Padding at the end of the data may be
 * missing.
 */
function readDigits(source: Source, at: number): string {
  const { hex, options } = source;
  const size = readSize(source, at);
  const start = at + WORD;
  const end = start + size * 2;
  source.take(start, end);
  if (options.strict) {
    const padding = Math.min(start + Math.ceil(size / 32) * WORD, hex.length) - end;
    if (!hex.startsWith(ZEROS.slice(0, padding), end)) throw DIRTY_BITS_ERROR;
  }
  return hex.slice(start, end);
}

const bytesCodec: Codec = {
  dynamic: true,
  headWords: 1,
  read: (source, at) => `0x${readDigits(source, at)}`,
};

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

const stringCodec: Codec = {
  dynamic: true,
  headWords: 1,
  read(source, at) {
    const digits = readDigits(source, at);
    const bytes = new Uint8Array(digits.length / 2);
    for (let index = 0; index < bytes.length; index++) {
      bytes[index] =
        (digitOf(digits.charCodeAt(index * 2)) << 4) | digitOf(digits.charCodeAt(index * 2 + 1));
    }
    const text = utf8.decode(bytes);
    return source.options.text === 'database' ? withoutNul(text) : text;
  },
};

/** Converts the character code of a lowercase hex digit to its value. */
const digitOf = (code: number): number => (code < 58 ? code - 48 : code - 87);

function readElements(codec: Codec, length: number, source: Source, base: number): DecodedValue[] {
  const stride = codec.headWords * WORD;
  // Checks that all heads exist before anything is allocated.
  if (base + stride * length > source.hex.length) throw MALFORMED_ERROR;
  const elements: DecodedValue[] = [];
  for (let index = 0; index < length; index++) {
    elements.push(readMember(codec, source, base, base + index * stride));
  }
  return elements;
}

const arrayCodec = (element: Codec): Codec => ({
  dynamic: true,
  headWords: 1,
  read: (source, at) => readElements(element, readSize(source, at), source, at + WORD),
});

const fixedArrayCodec = (element: Codec, length: number): Codec => ({
  dynamic: element.dynamic,
  headWords: element.dynamic ? 1 : element.headWords * length,
  read: (source, at) => readElements(element, length, source, at),
});

function tupleCodec(members: readonly Codec[], names: readonly string[]): Codec {
  const dynamic = members.some((member) => member.dynamic);
  const headWords = members.reduce((sum, member) => sum + member.headWords, 0);
  return {
    dynamic,
    headWords: dynamic ? 1 : headWords,
    read(source, base) {
      const values: Record<string, DecodedValue> = {};
      let at = base;
      for (let index = 0; index < members.length; index++) {
        const member = members[index] as Codec;
        setNamed(values, names[index] as string, readMember(member, source, base, at));
        at += member.headWords * WORD;
      }
      return values;
    },
  };
}
