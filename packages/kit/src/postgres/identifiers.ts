/** Names of tables and columns. */
import { sha256Hex } from '../records/ids.ts';

/** Maximum length of a PostgreSQL identifier in bytes. */
const MAX_BYTES = 63;

/** Hexadecimal digits of the hash in a shortened name. */
const HASH_DIGITS = 8;

/** Converts a name such as `amount0In` to `amount0_in`, with only the characters `a-z 0-9 _`. */
export const toSnakeCase = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/g, '_');

/** Shortens a name that is too long, and adds a hash of it so that it stays unique. */
export const fitName = (name: string): string =>
  name.length <= MAX_BYTES
    ? name
    : `${name.slice(0, MAX_BYTES - HASH_DIGITS - 1)}_${shortHash(name)}`;

/** Adds a hash of `distinct` to a name. */
export const withHash = (name: string, distinct: string): string =>
  fitName(`${name.slice(0, MAX_BYTES - HASH_DIGITS - 1)}_${shortHash(distinct)}`);

const shortHash = (text: string): string => sha256Hex(text).slice(2, 2 + HASH_DIGITS);

/** Quotes an identifier. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
