/**
 * Verifies webhooks with public keys of the service: Ed25519 over Web Crypto, `v1a` of Standard
 * Webhooks. A receiver with only a public key cannot forge webhooks.
 */
import { fromBase64, toSignedText } from '../contract/rules/signature.ts';
import { SluiceError } from '../errors.ts';
import type { WebhookFamily } from '../families/webhooks.ts';
import { type DiagnoseOptions, type Diagnosis, findCause } from './diagnose.ts';
import {
  type Claim,
  HMAC_ONLY,
  type ReceivedOf,
  type UnwrapOptions,
  type UnwrapRules,
  isAsymmetric,
  mismatch,
  readSigned,
  refusal,
  refuseWrongTime,
  toReceived,
  toleranceOf,
} from './unwrap.ts';

/** The public keys that verify webhooks. */
export interface PublicKeys {
  /** Public keys of the service, `whpk_` and base64. One of them must have signed the webhook. */
  publicKeys: readonly string[];
}

/** Options of {@link unwrapWithPublicKey}. */
export type PublicKeyOptions = PublicKeys &
  Omit<UnwrapRules, 'allowXSignature'> &
  Pick<UnwrapOptions, 'body' | 'headers'>;

/**
 * Verifies a webhook with public keys of the service, and parses it. Rejects with the errors that
 * {@link unwrap} throws, and with `invalid_argument` if the runtime's Web Crypto lacks Ed25519.
 */
export async function unwrapWithPublicKey<Family extends WebhookFamily = 'evm'>(
  options: PublicKeyOptions & { family?: Family | undefined },
): Promise<ReceivedOf<Family>> {
  const { raw, claim } = await verifyRawWithPublicKey(options);
  return toReceived(raw, claim, options);
}

export async function verifyRawWithPublicKey(
  options: PublicKeyOptions,
): Promise<{ raw: string | Uint8Array; claim: Claim }> {
  const keys = publicKeysOf(options);
  toleranceOf(options);
  const { raw, claim } = readSigned({ ...options, allowXSignature: false });
  if (!isAsymmetric(claim)) throw refusal('hmac-only', HMAC_ONLY);
  if (!(await isSignedByAny(keys, claim, raw))) throw mismatch('diagnoseWithPublicKey');
  refuseWrongTime(claim, options);
  return { raw, claim };
}

/** Options of {@link diagnoseWithPublicKey}. */
export type DiagnosePublicKeyOptions = Omit<PublicKeyOptions, 'body'> &
  Pick<DiagnoseOptions, 'body'>;

/** Explains why {@link unwrapWithPublicKey} rejects a webhook, as {@link diagnose} does. */
export async function diagnoseWithPublicKey(
  options: DiagnosePublicKeyOptions,
): Promise<Diagnosis | undefined> {
  const keys = publicKeysOf(options);
  const causes = findCause(options, 'v1a');
  let step = causes.next(false);
  while (!step.done) {
    step = causes.next(await isSignedByAny(keys, step.value.claim, step.value.body));
  }
  return step.value;
}

/** Decodes the public keys. Throws if there are none, or if one is malformed. */
export function publicKeysOf({ publicKeys }: PublicKeys): Uint8Array[] {
  if (publicKeys.length === 0) {
    throw new SluiceError('missing_secret', 'publicKeys must contain a public key', {
      hint: 'Create one on the service: sluice public-keys create.',
    });
  }
  return publicKeys.map((text, at) => {
    const bytes = text.startsWith('whpk_') ? fromBase64(text.slice('whpk_'.length)) : undefined;
    if (bytes?.length === 32) return bytes;
    // The text may be a secret by mistake, so the message does not contain it.
    throw new SluiceError(
      'invalid_argument',
      `publicKeys[${at}] must be whpk_ and 32 bytes in base64`,
      { hint: 'Copy the complete public key: sluice public-keys list.' },
    );
  });
}

/**
 * Maximum number of signatures that are checked, because each one takes about 0.1 ms. The service
 * sends at most five.
 */
const MAX_SIGNATURES = 10;

/**
 * Bytes in the type that Web Crypto requires. Declarations must not contain this type, because
 * TypeScript 5.4 does not support it.
 */
type Bytes = Uint8Array<ArrayBuffer>;

async function isSignedByAny(
  keys: readonly Uint8Array[],
  claim: Claim,
  body: string | Uint8Array,
): Promise<boolean> {
  if (claim.scheme !== 'webhook-signature') return false;
  const message = toSignedText(claim, body) as Bytes;
  const signatures = claim.signatures
    .flatMap((each) => (each.startsWith('v1a,') ? (fromBase64(each.slice(4)) ?? []) : []))
    .slice(0, MAX_SIGNATURES);
  for (const bytes of keys) {
    const key = await importKey(bytes);
    for (const signature of signatures) {
      if (await crypto.subtle.verify('Ed25519', key, signature as Bytes, message)) return true;
    }
  }
  return false;
}

async function importKey(bytes: Uint8Array): Promise<CryptoKey> {
  try {
    return await crypto.subtle.importKey('raw', bytes as Bytes, 'Ed25519', false, ['verify']);
  } catch (cause) {
    throw new SluiceError('invalid_argument', 'Web Crypto rejects a public key', {
      hint: 'Check the key, and that the runtime supports Ed25519.',
      cause,
    });
  }
}
