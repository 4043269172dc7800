/**
 * Keccak-256 and HMAC-SHA-256: native if available (about ten times faster for a 2 KB webhook),
 * otherwise from `@noble/hashes`. Each hash has its own functions, so that a bundle that verifies
 * only `x-signature` excludes HMAC.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** Returns the Keccak-256 in lowercase hex, without a prefix. */
type Keccak = (input: string | Uint8Array) => string;
/** Returns the HMAC-SHA-256 in base64. */
type Hmac = (key: Uint8Array, ...message: (string | Uint8Array)[]) => string;

const toBytes = (input: string | Uint8Array): Uint8Array =>
  typeof input === 'string' ? new TextEncoder().encode(input) : input;

/** Keccak-256 in pure JavaScript, for all platforms. */
export const portableKeccak: Keccak = (input) => bytesToHex(keccak_256(toBytes(input)));

/** HMAC-SHA-256 in pure JavaScript, for all platforms. */
export const portableHmac: Hmac = (key, ...message) => {
  const state = hmac.create(sha256, key);
  for (const part of message) state.update(toBytes(part));
  return btoa(String.fromCharCode(...state.digest()));
};

/**
 * The part of `node:crypto` that is used. The module is loaded without an import, which bundlers
 * would try to resolve.
 */
interface NodeCrypto {
  readonly hash?: (algorithm: string, input: string | Uint8Array, encoding: 'hex') => string;
  readonly createHmac?: (
    algorithm: string,
    key: Uint8Array,
  ) => { update(part: string | Uint8Array): unknown; digest(encoding: 'base64'): string };
}

function nodeCrypto(): NodeCrypto | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (id: string) => unknown } };
  return process?.getBuiltinModule?.('node:crypto') as NodeCrypto | undefined;
}

const KECCAK_OF_ABC = '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45';

/** Returns the native Keccak-256, or undefined if it is missing or incorrect. */
export function nativeKeccak(): Keccak | undefined {
  try {
    const hash = nodeCrypto()?.hash;
    if (hash?.('keccak-256', 'abc', 'hex') !== KECCAK_OF_ABC) return undefined;
    return (input) => hash('keccak-256', input, 'hex');
  } catch {
    // Some platforms throw if they do not support the algorithm.
    return undefined;
  }
}

/** Returns the native HMAC-SHA-256, or undefined if it is missing. */
export function nativeHmac(): Hmac | undefined {
  try {
    const createHmac = nodeCrypto()?.createHmac;
    return (
      createHmac &&
      ((key, ...message) => {
        const state = createHmac('sha256', key);
        for (const part of message) state.update(part);
        return state.digest('base64');
      })
    );
  } catch {
    return undefined;
  }
}

let keccak: Keccak | undefined;
let hmacOf: Hmac | undefined;

/** Returns the Keccak-256 as `0x` and 64 lowercase hex digits. Strings are encoded as UTF-8. */
export function keccak256(input: string | Uint8Array): string {
  keccak ??= nativeKeccak() ?? portableKeccak;
  return `0x${keccak(input)}`;
}

/**
 * Returns the HMAC-SHA-256 of the concatenated parts of a message, in base64. Strings are encoded
 * as UTF-8.
 */
export function hmacSha256(key: Uint8Array, ...message: (string | Uint8Array)[]): string {
  hmacOf ??= nativeHmac() ?? portableHmac;
  return hmacOf(key, ...message);
}
