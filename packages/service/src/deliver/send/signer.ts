/**
 * The signatures of a webhook, for thousands of them a second: exactly what `signWebhook` and
 * `signStandardWebhook` of the contract give. All of them are over the same body, so it is laid out once, between
 * what goes before it and what goes behind it, and each is one or two calls of the platform's hash.
 */
import { hash } from 'node:crypto';
import { keccak256, readStandardWebhookKey } from '@sluice/kit/contract';

export interface Signatures {
  /** `x-signature` */
  signature: string;
  /** `webhook-signature`, one value for each secret. */
  standardSignature: string;
}

export interface Signer {
  sign(webhook: {
    id: string;
    /** Unix seconds. */
    timestamp: number;
    /** UTF-8. */
    body: Uint8Array;
    /** The account's, which signs both. */
    secret: string;
    /** The stream's own, which come first. */
    secrets: readonly string[];
  }): Signatures;
  /** Forgets secrets that were signed with. */
  forget(): void;
}

/** Of SHA-256, and so of what an HMAC puts before a message. */
const BLOCK_BYTES = 64;
/** Larger bodies are rare, and their memory is not held. */
const HELD_BYTES = 64 * 1024;

/** The key of an HMAC as it goes before the message, and before the hash of that (RFC 2104). */
interface Pads {
  inner: Uint8Array;
  outer: Uint8Array;
}

export function createSigner(): Signer {
  const held = Buffer.allocUnsafeSlow(HELD_BYTES);
  const outer = Buffer.allocUnsafeSlow(BLOCK_BYTES + 32);
  const pads = new Map<string, Pads>();

  const padsOf = (secret: string): Pads => {
    let found = pads.get(secret);
    if (found === undefined) pads.set(secret, (found = toPads(readStandardWebhookKey(secret))));
    return found;
  };

  return {
    sign({ id, timestamp, body, secret, secrets }) {
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
      const end = bodyEnd + laid.write(secret, bodyEnd);
      return {
        signature: keccak256(laid.subarray(bodyAt, end)),
        standardSignature: [...secrets, secret].map(hmac).join(' '),
      };
    },
    forget: () => pads.clear(),
  };
}

function toPads(key: Uint8Array): Pads {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key);
  return { inner: block.map((byte) => byte ^ 0x36), outer: block.map((byte) => byte ^ 0x5c) };
}
