/**
 * Keccak-256 and HMAC-SHA-256: the platform's own where it has them (Node 26 hashes a 2 KB webhook
 * about ten times faster than JavaScript can), `@noble/hashes` otherwise.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';

export interface HashPlatform {
  /** Lower-case hex without prefix. */
  keccak256(input: string | Uint8Array): string;
  hmacSha256(key: Uint8Array, message: string | Uint8Array): Uint8Array;
}

const encoder = new TextEncoder();
const toBytes = (input: string | Uint8Array): Uint8Array =>
  typeof input === 'string' ? encoder.encode(input) : input;

/** Pure JavaScript; runs everywhere. */
export const portableHashes: HashPlatform = {
  keccak256: (input) => bytesToHex(keccak_256(toBytes(input))),
  hmacSha256: (key, message) => hmac(sha256, key, toBytes(message)),
};

/** The part of `node:crypto` used here; reached without an import, so that bundlers see none. */
interface NodeCrypto {
  readonly hash?: (algorithm: string, input: string | Uint8Array, encoding: 'hex') => string;
  readonly createHmac?: (
    algorithm: string,
    key: Uint8Array,
  ) => { update(message: Uint8Array): { digest(): Uint8Array } };
}

const KECCAK_OF_ABC = '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45';

/** What the platform hashes natively; a member is absent where it does not. */
export function nativeHashes(): Partial<HashPlatform> {
  const { process } = globalThis as { process?: { getBuiltinModule?: (id: string) => unknown } };
  const native: Partial<HashPlatform> = {};
  try {
    const crypto = process?.getBuiltinModule?.('node:crypto') as NodeCrypto | undefined;
    const createHmac = crypto?.createHmac;
    if (createHmac) {
      native.hmacSha256 = (key, message) =>
        Uint8Array.from(createHmac('sha256', key).update(toBytes(message)).digest());
    }
    const hash = crypto?.hash;
    if (hash?.('keccak-256', 'abc', 'hex') === KECCAK_OF_ABC) {
      native.keccak256 = (input) => hash('keccak-256', input, 'hex');
    }
  } catch {
    // An older Node throws at the name of an algorithm it lacks: what was found stays.
  }
  return native;
}

let platform: HashPlatform | undefined;
const hashes = (): HashPlatform => (platform ??= { ...portableHashes, ...nativeHashes() });

/** Keccak-256 as `0x` and 64 lower-case hex digits. A string is hashed as UTF-8. */
export function keccak256(input: string | Uint8Array): string {
  return `0x${hashes().keccak256(input)}`;
}

/** HMAC-SHA-256, 32 bytes. A string is taken as UTF-8. */
export function hmacSha256(key: Uint8Array, message: string | Uint8Array): Uint8Array {
  return hashes().hmacSha256(key, message);
}
