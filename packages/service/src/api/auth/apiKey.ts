/** Creates and parses API keys: `sluice_<id>_<secret>`, where the secret is 32 random bytes. */
import { createHash, randomBytes } from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
/** Number of digits that can represent 256 bits: 62^43 exceeds 2^256. */
const SECRET_DIGITS = 43;
const ID_BYTES = 9;
const ID_DIGITS = 13;

/**
 * Literal patterns, because linters can check them. Their lengths must match `ID_DIGITS` and
 * `SECRET_DIGITS`.
 */
const KEY_ID = /^[0-9A-Za-z]{13}$/;
const KEY = /^sluice_([0-9A-Za-z]{13})_[0-9A-Za-z]{43}$/;

export function createKey(): { id: string; key: string; hash: string } {
  const id = randomDigits(ID_BYTES, ID_DIGITS);
  const key = `sluice_${id}_${randomDigits(SECRET_BYTES, SECRET_DIGITS)}`;
  return { id, key, hash: hashKey(key) };
}

/** Returns the id in a key, or undefined if the text does not have the format of a key. */
export const idOfKey = (key: string): string | undefined => KEY.exec(key)?.[1];

export const isKeyId = (text: string): boolean => KEY_ID.test(text);

/** Hashes a key for storage. Keys are random, so a single hash without a salt is enough. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex');

function randomDigits(bytes: number, length: number): string {
  let number = BigInt(`0x${randomBytes(bytes).toString('hex')}`);
  let text = '';
  for (; text.length < length; number /= 62n) text = DIGITS[Number(number % 62n)] + text;
  return text;
}
