/** Reads values of a node's JSON in the forms that nodes use, into one form each. */
import type { EvmLog } from '../match/block.ts';
import { type Json, readHex, toList, showValue, toHex, toNumber } from '../../../ingest/json.ts';
import { SourceError } from '../../../ingest/source.ts';

/**
 * Reads a quantity and returns it in hex. Most nodes return hex digits (Ethereum JSON-RPC); some
 * return `0x` for 0, decimal digits, or a JSON number.
 */
export function readQuantity(from: Json, key: string): string {
  const value = from[key];
  if (typeof value === 'string') {
    if (/^0x[0-9a-fA-F]+$/.test(value)) return value;
    if (value === '0x') return '0x0';
    if (/^[0-9]{1,78}$/.test(value)) return toHex(BigInt(value));
  }
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
    return toHex(value);
  }
  throw new SourceError('inconsistent', `${key} is invalid: ${showValue(value)}`);
}

export const optionalQuantity = (from: Json, key: string): string | null =>
  from[key] == null ? null : readQuantity(from, key);

export const readNumber = (from: Json, key: string): number => toNumber(readQuantity(from, key));

const ADDRESS_LENGTH = 42;

/** Reads an address in lowercase. XDC's nodes may write `xdc` instead of `0x`. */
export function readAddress(from: Json, key: string): string {
  const value = from[key];
  const plain =
    typeof value === 'string' && /^xdc/i.test(value)
      ? { [key]: `0x${value.slice('xdc'.length)}` }
      : from;
  const found = readHex(plain, key).toLowerCase();
  if (found.length === ADDRESS_LENGTH) return found;
  throw new SourceError('inconsistent', `${key} is invalid: ${showValue(value)}`);
}

/** Reads an address; null if it is null, missing or empty, as in a contract creation. */
export const optionalAddress = (from: Json, key: string): string | null =>
  from[key] == null || from[key] === '0x' || from[key] === '' ? null : readAddress(from, key);

const TOPIC = /^0x[0-9a-fA-F]*$/;

/** Reads the address and the topics of a log in lowercase, which its bloom covers. */
export const emitterOf = (log: Json): Pick<EvmLog, 'address' | 'topics'> => ({
  address: readAddress(log, 'address'),
  topics: toList(log['topics'], 'topics').map((topic, n) => {
    if (typeof topic === 'string' && TOPIC.test(topic)) return topic.toLowerCase();
    throw new SourceError('inconsistent', `topics.${n} is invalid: ${showValue(topic)}`);
  }),
});
