/** Verifies the `x-signature` of a webhook. */
import { signWebhook } from '../contract/rules/signature.ts';
import { SluiceError } from '../errors.ts';
import { toRaw } from './adapters/rawBody.ts';

/** The key that verifies a webhook: the streams secret or the API key. */
export type VerificationKey =
  | {
      /** The streams secret of the account. */
      secret: string;
      apiKey?: undefined;
    }
  | {
      /** The API key, which signs webhooks if the account has no streams secret. */
      apiKey: string;
      secret?: undefined;
    };

/** Options of {@link verifySignature}. */
export type VerifySignatureOptions = VerificationKey & {
  /**
   * The request body, preferably the raw bytes or text as received. A parsed body is serialized
   * again, which restores the signed bytes if the body was not changed.
   */
  body: string | object;
  /** The `x-signature` header. */
  signature: string | null | undefined;
};

/**
 * Verifies the `x-signature` of a webhook in constant time. The signature does not cover a
 * timestamp, so ignore deliveries that you have already handled.
 * @returns true; it never returns false.
 * @throws SluiceError `missing_secret` without a key, `invalid_signature` if the signature does not
 * match.
 */
export function verifySignature({ body, signature, apiKey, secret }: VerifySignatureOptions): true {
  const key = secret ?? apiKey;
  if (!isSecret(key)) {
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

/** Returns false for a value that anyone may know: an empty secret, or a public key. */
export const isSecret = (it: unknown): it is string =>
  typeof it === 'string' && it.replace(/^(whsec_|whpk_.*)/, '').trim() !== '';

/** Returns whether two strings are equal, in constant time for strings of equal length. */
export function isEqual(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at++) {
    difference |= given.charCodeAt(at) ^ expected.charCodeAt(at);
  }
  return difference === 0;
}
