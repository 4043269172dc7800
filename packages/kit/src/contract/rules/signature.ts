/**
 * Webhook signatures. Each webhook has two: `x-signature`, as in the hosted Streams API, and
 * `webhook-signature` of Standard Webhooks, which also covers the id and the timestamp.
 */
import { hmacSha256, keccak256 } from './hash.ts';

/** Names of the headers of a webhook, in lowercase, as they are sent. */
export const WEBHOOK_HEADERS = {
  /** Result of {@link signWebhook} for the body. */
  signature: 'x-signature',
  region: 'x-region',
  /** Number of unfinished deliveries of the stream, in decimal. */
  queueSize: 'x-queue-size',
  /** Number of records in the body, in decimal; 0 unless the delivery is confirmed. */
  recordsCharged: 'x-records-charged',
  /** `i/n` for part i of n, if a match is split into several bodies. */
  part: 'x-sluice-part',
  /** Reason why the webhook is sent: a {@link WebhookOrigin}. The header is not signed. */
  origin: 'x-sluice-origin',
  /**
   * Codes of an unverified block, separated by `, `; see `UNVERIFIED_CODES`. Absent if the block is
   * verified. The header is not signed.
   */
  unverified: 'x-sluice-unverified',
  /** The delivery's id, the same on every attempt. */
  id: 'webhook-id',
  /** Time of the attempt, in Unix seconds. */
  timestamp: 'webhook-timestamp',
  /**
   * Results of {@link signStandardWebhook}, one per secret, and Ed25519 signatures (`v1a,` and
   * base64), one per key pair, separated by spaces.
   */
  standardSignature: 'webhook-signature',
} as const;

/**
 * Header of an edited copy of a delivery, which is sent to a test URL: the ID of that delivery. The
 * header is not signed.
 */
export const COPY_HEADER = 'x-sluice-copy-of';

/**
 * Reason why a webhook is sent. `live`: its match was found while following the chain; `backfill`:
 * its match was found by a backfill; `replay`: a past delivery or block is sent on request.
 */
export type WebhookOrigin = 'live' | 'backfill' | 'replay';

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
  /** Either `whsec_` and the key in base64, or any other text, whose UTF-8 bytes are the key. */
  secret: string;
}

/**
 * Returns a `webhook-signature` value: `v1,` and the base64 HMAC-SHA-256 of `id.timestamp.body`.
 * @throws TypeError if the secret starts with `whsec_` and does not continue in base64.
 */
export function signStandardWebhook({ id, timestamp, body, secret }: StandardWebhook): string {
  return `v1,${hmacSha256(readStandardWebhookKey(secret), `${id}.${timestamp}.`, body)}`;
}

/** Returns the bytes that an Ed25519 signature covers: `id.timestamp.body`. */
export const toSignedText = (
  { id, timestamp }: Pick<StandardWebhook, 'id' | 'timestamp'>,
  body: string | Uint8Array,
): Uint8Array => {
  const before = encoder.encode(`${id}.${timestamp}.`);
  return joinBytes(before, typeof body === 'string' ? encoder.encode(body) : body);
};

/**
 * Returns the HMAC key of a secret: the decoded base64 after `whsec_`, or the UTF-8 bytes of any
 * other text.
 * @throws TypeError if the text after `whsec_` is not base64.
 */
export function readStandardWebhookKey(secret: string): Uint8Array {
  if (!secret.startsWith('whsec_')) return encoder.encode(secret);
  const key = fromBase64(secret.slice('whsec_'.length));
  if (key !== undefined) return key;
  throw new TypeError('A secret that starts with whsec_ must continue in base64');
}

/** Decodes base64, or returns undefined for other text. */
export function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (it) => it.charCodeAt(0));
  } catch {
    return undefined;
  }
}
