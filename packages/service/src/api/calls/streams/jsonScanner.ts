/**
 * Scans the bytes of JSON that has a known shape, without parsing it. Throws `unexpectedShape` for any
 * other JSON, which must be parsed instead.
 */
import { CallerError } from '../../../base/errors.ts';
import { parseJson } from '../../../base/json.ts';

export interface JsonScanner {
  readonly position: number;
  skipSpaces(): void;
  skip(count: number): void;
  /** Skips white space, then this character. Returns false if another character comes next. */
  take(character: string): boolean;
  /** Skips white space and this character, which must come next. */
  need(character: string): void;
  /** Reads a string, which must not contain escapes. */
  readPlain(): string;
  /** Reads a string, which may contain escapes. */
  readText(): string;
}

/**
 * Maximum bytes of white space between two tokens, and of a string. Above these limits, the JSON is
 * parsed.
 */
const MAX_SPACE = 1_024;
const MAX_TEXT = 4_096;

export const byteOf = (character: string): number => character.charCodeAt(0);
const QUOTE = byteOf('"');
const BACKSLASH = byteOf('\\');
const SPACES: ReadonlySet<number | undefined> = new Set([' ', '\t', '\r', '\n'].map(byteOf));

/** Creates the error that the scanner and its callers throw if the JSON has a different shape. */
export const unexpectedShape = (): CallerError =>
  new CallerError('validation_failed', 'another shape');

export function createJsonScanner(bytes: Buffer): JsonScanner {
  let at = 0;
  const decoder = new TextDecoder();

  const skipSpaces = (): void => {
    const last = at + MAX_SPACE;
    while (SPACES.has(bytes[at])) if (++at > last) throw unexpectedShape();
  };
  const take = (character: string): boolean => {
    skipSpaces();
    if (bytes[at] !== byteOf(character)) return false;
    at++;
    return true;
  };

  return {
    get position() {
      return at;
    },
    skipSpaces,
    skip(count) {
      at += count;
    },
    take,
    need(character) {
      if (!take(character)) throw unexpectedShape();
    },
    readPlain() {
      skipSpaces();
      const start = at + 1;
      const length = bytes.subarray(start, start + MAX_TEXT).indexOf(QUOTE);
      if (bytes[at] !== QUOTE || length < 0) throw unexpectedShape();
      const text = decoder.decode(bytes.subarray(start, start + length));
      if (text.includes('\\')) throw unexpectedShape();
      at = start + length + 1;
      return text;
    },
    readText() {
      skipSpaces();
      if (bytes[at] !== QUOTE) throw unexpectedShape();
      let end = at + 1;
      const last = Math.min(at + MAX_TEXT, bytes.length);
      while (bytes[end] !== QUOTE && end < last) end += bytes[end] === BACKSLASH ? 2 : 1;
      try {
        const text = parseJson(decoder.decode(bytes.subarray(at, end + 1))) as string;
        at = end + 1;
        return text;
      } catch {
        throw unexpectedShape();
      }
    },
  };
}
