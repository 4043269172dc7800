/** Signs webhooks. */
import { createPrivateKey, hash, type KeyObject, sign } from 'node:crypto';
import { keccak256, readStandardWebhookKey } from '@sluice/kit/contract';

export interface Signatures {
  /** The `x-signature` header. */
  signature: string;
  /** The `webhook-signature` header, with one value per secret and private key. */
  standardSignature: string;
}

export interface Signer {
  sign(webhook: {
    id: string;
    /** Timestamp in Unix seconds. */
    timestamp: number;
    /** UTF-8. */
    body: Uint8Array;
    /** The account's secret, used for both signatures. */
    secret: string;
    /** The stream's own secrets, whose signatures come first in `webhook-signature`. */
    secrets: readonly string[];
    /** The private keys, whose signatures come last in `webhook-signature`. */
    privateKeys: readonly string[];
  }): Signatures;
  /** Clears the cached keys. */
  forget(): void;
}

/** Block size of SHA-256, to which HMAC pads its key. */
const BLOCK_BYTES = 64;
/** Size of the reused buffer. Larger bodies are rare and get a separate buffer. */
const HELD_BYTES = 64 * 1024;

/**
 * The padded HMAC key: `inner` is hashed before the message, and `outer` before the inner hash (RFC
 * 2104).
 */
interface Pads {
  inner: Uint8Array;
  outer: Uint8Array;
}

/**
 * Signs thousands of webhooks per second with the same results as `signWebhook` and
 * `signStandardWebhook` of the contract. The body is copied only once, into a buffer between its
 * prefix and suffix, and each signature hashes it there.
 */
export function createSigner(): Signer {
  const held = Buffer.allocUnsafeSlow(HELD_BYTES);
  const outer = Buffer.allocUnsafeSlow(BLOCK_BYTES + 32);
  const pads = new Map<string, Pads>();
  const keys = new Map<string, KeyObject>();

  const keyOf = (privateKey: string): KeyObject => {
    let found = keys.get(privateKey);
    if (found === undefined) keys.set(privateKey, (found = toKey(privateKey)));
    return found;
  };

  const padsOf = (secret: string): Pads => {
    let found = pads.get(secret);
    if (found === undefined) pads.set(secret, (found = toPads(readStandardWebhookKey(secret))));
    return found;
  };

  return {
    sign({ id, timestamp, body, secret, secrets, privateKeys }) {
      const before = `${id}.${timestamp}.`;
      const most = BLOCK_BYTES + 3 * (before.length + secret.length) + body.length;
      const laid = most > HELD_BYTES ? Buffer.allocUnsafe(most) : held;
      const bodyAt = BLOCK_BYTES + laid.write(before, BLOCK_BYTES);
      laid.set(body, bodyAt);
      const bodyEnd = bodyAt + body.length;
      const message = laid.subarray(0, bodyEnd);
      const hmac = (each: string): string => {
        const pad = padsOf(each);
        laid.set(pad.inner);
        outer.set(pad.outer);
        outer.set(hash('sha256', message, 'buffer'), BLOCK_BYTES);
        return `v1,${hash('sha256', outer, 'base64')}`;
      };
      const ed25519 = (each: string): string => {
        const signature = sign(null, laid.subarray(BLOCK_BYTES, bodyEnd), keyOf(each));
        return `v1a,${signature.toString('base64')}`;
      };
      const end = bodyEnd + laid.write(secret, bodyEnd);
      return {
        signature: keccak256(laid.subarray(bodyAt, end)),
        standardSignature: [...[...secrets, secret].map(hmac), ...privateKeys.map(ed25519)].join(
          ' ',
        ),
      };
    },
    forget() {
      pads.clear();
      keys.clear();
    },
  };
}

function toPads(key: Uint8Array): Pads {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key);
  return { inner: block.map((byte) => byte ^ 0x36), outer: block.map((byte) => byte ^ 0x5c) };
}

/** Bytes before the seed of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SEED_BYTES = 32;

/** @param privateKey `whsk_` and base64, which starts with the seed */
function toKey(privateKey: string): KeyObject {
  const seed = Buffer.from(privateKey.slice('whsk_'.length), 'base64').subarray(0, SEED_BYTES);
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
}
