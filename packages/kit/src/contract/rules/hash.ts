/**
 * Keccak-256 and HMAC-SHA-256: the platform's own where it has them (Node 26 hashes a 2 KB webhook
 * about ten times faster than JavaScript can), `@noble/hashes` otherwise. The two stand apart, so
 * that a bundle which verifies `x-signature` only leaves HMAC out.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** Gives lower-case hex without a prefix. */
type Keccak = (input: string | Uint8Array) => string;
/** Gives base64. */
type Hmac = (key: Uint8Array, ...message: (string | Uint8Array)[]) => string;

const toBytes = (input: string | Uint8Array): Uint8Array =>
  typeof input === 'string' ? new TextEncoder().encode(input) : input;

/** In JavaScript; runs everywhere. */
export const portableKeccak: Keccak = (input) => bytesToHex(keccak_256(toBytes(input)));

/** In JavaScript; runs everywhere. */
export const portableHmac: Hmac = (key, ...message) => {
  const state = hmac.create(sha256, key);
  for (const part of message) state.update(toBytes(part));
  return btoa(String.fromCharCode(...state.digest()));
};

/** The part of `node:crypto` used here; reached without an import, so that bundlers see none. */
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

/** The platform's own, or undefined where it has none that computes what it should. */
export function nativeKeccak(): Keccak | undefined {
  try {
    const hash = nodeCrypto()?.hash;
    if (hash?.('keccak-256', 'abc', 'hex') !== KECCAK_OF_ABC) return undefined;
    return (input) => hash('keccak-256', input, 'hex');
  } catch {
    // Platforms throw at the name of an algorithm they lack.
    return undefined;
  }
}

/** The platform's own, or undefined where it has none. */
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

/** Keccak-256 as `0x` and 64 lower-case hex digits. A string is hashed as UTF-8. */
export function keccak256(input: string | Uint8Array): string {
  keccak ??= nativeKeccak() ?? portableKeccak;
  return `0x${keccak(input)}`;
}

/** HMAC-SHA-256, in base64, of a message given in one or more parts. A string is taken as UTF-8. */
export function hmacSha256(key: Uint8Array, ...message: (string | Uint8Array)[]): string {
  hmacOf ??= nativeHmac() ?? portableHmac;
  return hmacOf(key, ...message);
}
