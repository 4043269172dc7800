/**
 * Webhook signatures. Each webhook has two: `x-signature` of the compatible contract, and the
 * Standard Webhooks headers, which also cover the id and the timestamp.
 */
import { hmacSha256, keccak256 } from './hash.ts';

/** Header names of a webhook, in lowercase, as sent. */
export const WEBHOOK_HEADERS = {
  /** {@link signWebhook} of the body. */
  signature: 'x-signature',
  region: 'x-region',
  /** Number of deliveries waiting behind this one, decimal. */
  queueSize: 'x-queue-size',
  /** Number of records in the body, decimal; 0 while unconfirmed. */
  recordsCharged: 'x-records-charged',
  /** `i/n` if a match is split into several bodies. */
  part: 'x-sluice-part',
  /** The delivery's id, the same on every attempt. */
  id: 'webhook-id',
  /** Time of the attempt, in Unix seconds. */
  timestamp: 'webhook-timestamp',
  /** {@link signStandardWebhook} values, separated by spaces. */
  standardSignature: 'webhook-signature',
} as const;

const encoder = new TextEncoder();

const joinBytes = (before: Uint8Array, after: Uint8Array): Uint8Array => {
  const joined = new Uint8Array(before.length + after.length);
  joined.set(before);
  joined.set(after, before.length);
  return joined;
};

/**
 * Returns the `x-signature` of a body: Keccak-256 of its bytes followed by the bytes of the secret.
 * Sign exactly the bytes that are sent; strings are encoded as UTF-8.
 */
export function signWebhook(body: string | Uint8Array, secret: string): string {
  return typeof body === 'string'
    ? keccak256(body + secret)
    : keccak256(joinBytes(body, encoder.encode(secret)));
}

export interface StandardWebhook {
  /** The `webhook-id` header. */
  id: string;
  /** The `webhook-timestamp` header, in Unix seconds. */
  timestamp: number;
  body: string | Uint8Array;
  /** `whsec_` and base64, or any other text. The UTF-8 bytes of other text are the key. */
  secret: string;
}

/**
 * Returns a `webhook-signature` value: `v1,` and the base64 HMAC-SHA-256 of `id.timestamp.body`.
 * @throws TypeError like {@link readStandardWebhookKey}.
 */
export function signStandardWebhook({ id, timestamp, body, secret }: StandardWebhook): string {
  return `v1,${hmacSha256(readStandardWebhookKey(secret), `${id}.${timestamp}.`, body)}`;
}

/**
 * Returns the HMAC key of a secret: the base64 after `whsec_`, or the UTF-8 of any other text.
 * @throws TypeError if the text after `whsec_` is not base64.
 */
export function readStandardWebhookKey(secret: string): Uint8Array {
  if (!secret.startsWith('whsec_')) return encoder.encode(secret);
  let text: string;
  try {
    text = atob(secret.slice('whsec_'.length));
  } catch {
    throw new TypeError('A secret that starts with whsec_ must continue in base64');
  }
  const key = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++) key[n] = text.charCodeAt(n);
  return key;
}
