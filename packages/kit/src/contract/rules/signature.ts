/**
 * How a webhook is signed. Two signatures travel side by side: `x-signature` of the compatible
 * contract and the Standard Webhooks headers, which also cover the id and the time.
 */
import { hmacSha256, keccak256 } from './hash.ts';

/** Header names of a webhook request, in the lower case in which they are sent. */
export const WEBHOOK_HEADERS = {
  /** {@link signWebhook} of the body. */
  signature: 'x-signature',
  region: 'x-region',
  /** Deliveries waiting behind this one, decimal. */
  queueSize: 'x-queue-size',
  /** Records in the body, decimal; 0 while unconfirmed. */
  recordsCharged: 'x-records-charged',
  /** `i/n` when one match is split over several bodies. */
  part: 'x-sluice-part',
  /** The delivery's id, the same on every attempt. */
  id: 'webhook-id',
  /** When the attempt was sent, Unix seconds. */
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
 * The `x-signature` of a body: Keccak-256 over the body's bytes followed by the secret's.
 * Sign exactly the bytes that are sent; a string is taken as UTF-8.
 */
export function signWebhook(body: string | Uint8Array, secret: string): string {
  return typeof body === 'string'
    ? keccak256(body + secret)
    : keccak256(joinBytes(body, encoder.encode(secret)));
}

export interface StandardWebhook {
  /** The `webhook-id` header. */
  id: string;
  /** The `webhook-timestamp` header: Unix seconds. */
  timestamp: number;
  body: string | Uint8Array;
  /** `whsec_` and base64, or any other text, whose UTF-8 bytes are the key then. */
  secret: string;
}

/**
 * One `webhook-signature` value: `v1,` and the base64 of HMAC-SHA-256 over `id.timestamp.body`.
 * @throws TypeError as {@link readStandardWebhookKey}.
 */
export function signStandardWebhook({ id, timestamp, body, secret }: StandardWebhook): string {
  return `v1,${hmacSha256(readStandardWebhookKey(secret), `${id}.${timestamp}.`, body)}`;
}

/**
 * The key of HMAC that a secret stands for: what follows `whsec_`, in base64, or the UTF-8 of any other text.
 * @throws TypeError when what follows `whsec_` is not base64.
 */
export function readStandardWebhookKey(secret: string): Uint8Array {
  if (!secret.startsWith('whsec_')) return encoder.encode(secret);
  let text: string;
  try {
    text = atob(secret.slice('whsec_'.length));
  } catch {
    throw new TypeError('A secret that begins with whsec_ goes on in base64');
  }
  const key = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++) key[n] = text.charCodeAt(n);
  return key;
}
