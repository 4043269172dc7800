/** Whether a webhook comes from the service that holds the secret. */
import { signWebhook } from '../contract/rules/signature.ts';
import { SluiceError } from '../errors.ts';
import { toRaw } from './adapters/rawBody.ts';

/** The key a webhook is checked with: one of the two. */
export type VerificationKey =
  | {
      /** The streams secret of the account. */
      secret: string;
      apiKey?: undefined;
    }
  | {
      /** The API key, which signs where an account has no streams secret. */
      apiKey: string;
      secret?: undefined;
    };

/** What {@link verifySignature} takes. */
export type VerifySignatureOptions = VerificationKey & {
  /**
   * The request's body, best as the raw bytes or text that arrived. A parsed body is turned to JSON
   * again, which yields the signed bytes as long as nothing has changed it.
   */
  body: string | object;
  /** The `x-signature` header. */
  signature: string | null | undefined;
};

/**
 * Checks the `x-signature` of a webhook, in constant time. It covers the body alone, no time: drop
 * deliveries you have handled already.
 * @returns true; it never returns false.
 * @throws SluiceError `missing_secret` without a key, `invalid_signature` when it does not match.
 */
export function verifySignature({ body, signature, apiKey, secret }: VerifySignatureOptions): true {
  const key = secret ?? apiKey;
  if (!key) {
    throw new SluiceError(
      'missing_secret',
      'Unable to verify signature without an api key or streams secret',
    );
  }
  const bytes = toSignedBytes(body);
  if (
    typeof signature !== 'string' ||
    bytes === undefined ||
    !isEqual(signature, signWebhook(bytes, key))
  ) {
    throw new SluiceError('invalid_signature', 'Signature is not valid');
  }
  return true;
}

function toSignedBytes(body: unknown): string | Uint8Array | undefined {
  const raw = toRaw(body);
  if (raw !== undefined) return raw;
  return typeof body === 'object' && body !== null ? JSON.stringify(body) : undefined;
}

/** Takes the same time wherever the texts differ. */
export function isEqual(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at++) {
    difference |= given.charCodeAt(at) ^ expected.charCodeAt(at);
  }
  return difference === 0;
}
