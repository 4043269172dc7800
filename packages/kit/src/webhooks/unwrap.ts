/**
 * Verifies and parses a webhook in one call, so that an unverified body is never parsed. A request
 * has two signatures: `webhook-signature` (Standard Webhooks) covers the delivery id, the timestamp
 * and the body; `x-signature`, which the hosted Streams API also sends, covers only the body.
 */
import { keccak256 } from '../contract/rules/hash.ts';
import type { WebhookOrigin } from '../contract/rules/signature.ts';
import { signStandardWebhook, signWebhook, WEBHOOK_HEADERS } from '../contract/rules/signature.ts';
import { SluiceError } from '../errors.ts';
import { FAMILY_TITLES } from '../families/titles.ts';
import { findWebhookFamily } from '../families/webhooks.ts';
import type {
  AnyReceived,
  AnyWebhook,
  ReceivedWebhooks,
  WebhookFamily,
} from '../families/webhooks.ts';
import { readHeader } from './adapters/headers.ts';
import type { WebhookHeaders } from './adapters/headers.ts';
import { toRaw } from './adapters/rawBody.ts';
import type { RawBody } from './adapters/rawBody.ts';
import type { Received } from './received.ts';
import { isEqual, isSecret } from './verify.ts';

/** The key that verifies webhooks: a secret, several secrets, or the API key. */
export type WebhookKey =
  | {
      /** The streams secret of the account. */
      secret: string;
      secrets?: undefined;
      apiKey?: undefined;
    }
  | {
      /**
       * Several secrets, such as the new and the old one during a rotation. They are tried in order
       * until one matches, and each try costs a hash of the body; empty secrets are ignored.
       */
      secrets: readonly string[];
      secret?: undefined;
      apiKey?: undefined;
    }
  | {
      /** The API key, which signs webhooks if the account has no streams secret. */
      apiKey: string;
      secret?: undefined;
      secrets?: undefined;
    };

/** Verification rules of {@link unwrap}. */
export interface UnwrapRules {
  /**
   * Whether a request without `webhook-signature` may be verified by its `x-signature`. Set it for
   * senders that use only `x-signature`, such as the hosted Streams API. Default: false, because an
   * attacker could otherwise strip the other headers from a captured request and replay it.
   */
  allowXSignature?: boolean | undefined;
  /**
   * Maximum difference between `webhook-timestamp` and the current time, in either direction.
   * @unit milliseconds
   * @defaultValue 300_000 (5 minutes). At least 0; `Infinity` turns the check off.
   */
  toleranceMs?: number | undefined;
  /** Returns the current time in Unix milliseconds. Default: `Date.now`. */
  now?: (() => number) | undefined;
}

/** Options of {@link unwrap}. */
export type UnwrapOptions = WebhookKey &
  UnwrapRules & {
    /** The body exactly as received. Text must have been decoded as UTF-8. */
    body: RawBody;
    headers: WebhookHeaders;
  };

/**
 * Reason for a rejection, in the error's `details.reason`. `diagnose` finds the cause of a
 * `mismatch`, at a higher cost.
 */
export type RejectionReason =
  | 'missing-header'
  | 'x-signature-only'
  | 'hmac-only'
  | 'malformed-header'
  | 'mismatch'
  | 'stale-timestamp'
  | 'future-timestamp';

/**
 * Verifies a webhook in constant time and parses it.
 *
 * @throws SluiceError
 * `invalid_signature`: the headers are missing, malformed or do not match the body;
 * `details.reason` is a {@link RejectionReason}. Respond with 401.
 * `stale_timestamp`: signed, but sent too long ago or too far in the future. Respond with 401.
 * `invalid_webhook`: signed, but the body is not a webhook of `family`. Respond with 400.
 * `body_already_parsed`, `missing_secret`, `invalid_argument`: an error in the calling code.
 */
export function unwrap<Family extends WebhookFamily = 'evm'>(
  options: UnwrapOptions & {
    /**
     * Chain family to accept. Default: `evm`. For `any`, {@link isAptosWebhook} distinguishes the
     * families.
     */
    family?: Family | undefined;
  },
): ReceivedOf<Family> {
  const { raw, claim } = verifyRaw(options);
  return toReceived(raw, claim, options);
}

/** The verified webhooks of a family, or of all families for `any`. */
export type ReceivedOf<Family extends WebhookFamily> = Family extends keyof ReceivedWebhooks
  ? ReceivedWebhooks[Family]
  : AnyReceived;

/** Parses a verified body, and returns it with the claims in its headers. */
export function toReceived<Family extends WebhookFamily>(
  raw: string | Uint8Array,
  claim: Claim,
  { headers, family }: { headers: WebhookHeaders; family?: Family | undefined },
): ReceivedOf<Family> {
  const webhook = parseWebhook(raw, family ?? 'evm');
  const standard = claim.scheme === 'webhook-signature' ? claim : undefined;
  const received: Received<AnyWebhook> = {
    id: standard?.id ?? contentId(webhook),
    sentAt: standard && new Date(standard.timestamp * 1000),
    webhook,
    isTest: webhook.streamId === '',
    verifiedBy: claim.scheme,
    origin: ORIGIN.exec(readHeader(headers, WEBHOOK_HEADERS.origin) ?? '')?.[0] as
      | WebhookOrigin
      | undefined,
    unverified: readCodes(readHeader(headers, WEBHOOK_HEADERS.unverified) ?? ''),
  };
  return received as ReceivedOf<Family>;
}

const readCodes = (header: string): string[] =>
  header
    .split(',')
    .map((code) => code.trim())
    .filter((code) => CODE.test(code));

const CODE = /^[\x21-\x7e]{1,100}$/;

const ORIGIN = /^(live|backfill|replay)$/;

/**
 * Verifies a request, and returns its body and the claims in its headers. Throws like
 * {@link unwrap}, but never `invalid_webhook`, because it does not parse the body.
 */
export function verifyRaw(options: UnwrapOptions): { raw: string | Uint8Array; claim: Claim } {
  const secrets = secretsOf(options);
  toleranceOf(options);
  const { raw, claim } = readSigned(options);
  if (!secrets.some((secret) => isSignedWith(claim, raw, secret))) throw mismatch('diagnose');
  refuseWrongTime(claim, options);
  return { raw, claim };
}

/** Returns the body and the unverified claims of a request. */
export function readSigned({
  body,
  headers,
  allowXSignature = false,
}: Pick<UnwrapOptions, 'body' | 'headers' | 'allowXSignature'>): {
  raw: string | Uint8Array;
  claim: Claim;
} {
  const raw = toRaw(body);
  if (raw === undefined) {
    throw new SluiceError('body_already_parsed', 'body must be the bytes or text as received');
  }
  const claim = readClaim(headers, allowXSignature);
  if ('reason' in claim) throw refusal(claim.reason, claim.hint);
  return { raw, claim };
}

/** Throws if the timestamp that a signature covers is too old or too far in the future. */
export function refuseWrongTime(claim: Claim, rules: UnwrapRules): void {
  if (claim.scheme !== 'webhook-signature') return;
  const reason = timeProblem(claim.timestamp, (rules.now ?? Date.now)(), toleranceOf(rules));
  if (reason !== undefined) throw staleness(reason, claim.timestamp);
}

/**
 * The unverified signatures in the headers of a request, and the id and timestamp that the
 * signatures cover.
 */
export type Claim =
  | {
      readonly scheme: 'webhook-signature';
      readonly id: string;
      /** Timestamp in Unix seconds. */
      readonly timestamp: number;
      /** Entries of the header: `v1,` or `v1a,`, and base64. Other entries never match. */
      readonly signatures: readonly string[];
    }
  | { readonly scheme: 'x-signature'; readonly signature: string };

/** Returns whether a claim has an Ed25519 signature (`v1a`), even a malformed one. */
export const isAsymmetric = (claim: Claim): boolean =>
  claim.scheme === 'webhook-signature' && claim.signatures.some((each) => /^v1a/i.test(each));

export const HMAC_ONLY = 'Create a key pair on the service: sluice public-keys create.';

export interface NoClaim {
  readonly reason: 'missing-header' | 'x-signature-only' | 'malformed-header';
  readonly hint: string;
}

/**
 * Sluice ids contain no dots. With a dot in the id, the signed text `id.timestamp.body` could be
 * split in two ways.
 */
const ID = /^[A-Za-z0-9_-]{1,255}$/;
const UNIX_SECONDS = /^(0|[1-9]\d{0,11})$/;

export function readClaim(headers: WebhookHeaders, allowXSignature: boolean): Claim | NoClaim {
  const standard = readHeader(headers, WEBHOOK_HEADERS.standardSignature);
  if (standard === undefined) {
    const signature = readHeader(headers, WEBHOOK_HEADERS.signature);
    if (signature === undefined) {
      return {
        reason: 'missing-header',
        hint: 'No webhook-signature: another sender, or a proxy drops it.',
      };
    }
    if (allowXSignature) return { scheme: 'x-signature', signature };
    return {
      reason: 'x-signature-only',
      hint: 'Set allowXSignature: true if the sender is the hosted Streams API.',
    };
  }
  const id = readHeader(headers, WEBHOOK_HEADERS.id);
  const timestamp = readHeader(headers, WEBHOOK_HEADERS.timestamp);
  if (id === undefined || timestamp === undefined) {
    return {
      reason: 'missing-header',
      hint: 'webhook-signature requires webhook-id and webhook-timestamp, once each.',
    };
  }
  if (!ID.test(id) || !UNIX_SECONDS.test(timestamp)) {
    return { reason: 'malformed-header', hint: 'webhook-id or webhook-timestamp is malformed.' };
  }
  return {
    scheme: 'webhook-signature',
    id,
    timestamp: Number(timestamp),
    signatures: standard.split(' '),
  };
}

/** Returns whether a signature of the claim matches. Compares signatures in constant time. */
export function isSignedWith(claim: Claim, body: string | Uint8Array, secret: string): boolean {
  if (claim.scheme === 'x-signature') return isEqual(claim.signature, signWebhook(body, secret));
  const { id, timestamp, signatures } = claim;
  let expected: string;
  try {
    expected = signStandardWebhook({ id, timestamp, body, secret });
  } catch (cause) {
    const hint = 'Copy the complete secret, or omit whsec_ if it is not base64.';
    throw new SluiceError('invalid_argument', (cause as Error).message, { hint, cause });
  }
  return signatures.some((signature) => isEqual(signature, expected));
}

/**
 * Returns the secrets that only the sender knows: anyone could sign with an empty secret or a public
 * key. Throws if there are none.
 */
export function secretsOf({ secret, secrets, apiKey }: WebhookKey): readonly string[] {
  const given: readonly unknown[] = secrets ?? [secret ?? apiKey];
  const usable = given.filter(isSecret);
  if (usable.length === 0) {
    throw new SluiceError(
      'missing_secret',
      'Unable to verify signature without an api key or streams secret',
    );
  }
  return usable;
}

/**
 * Returns the tolerance. Rejects NaN and negative values, with which no timestamp would be
 * accepted.
 */
export function toleranceOf({ toleranceMs = 300_000 }: UnwrapRules): number {
  if (toleranceMs >= 0) return toleranceMs;
  throw new SluiceError('invalid_argument', 'toleranceMs must be 0 or more', {
    hint: 'Leave it out for 5 minutes.',
  });
}

/**
 * Returns why a timestamp is rejected; undefined if it is accepted. If the clock returns NaN, all
 * timestamps are rejected.
 */
export function timeProblem(
  timestamp: number,
  nowMs: number,
  toleranceMs: number,
): 'stale-timestamp' | 'future-timestamp' | undefined {
  const age = nowMs - timestamp * 1000;
  if (Math.abs(age) <= toleranceMs) return undefined;
  return age < 0 ? 'future-timestamp' : 'stale-timestamp';
}

function staleness(reason: RejectionReason, timestamp: number): SluiceError {
  const side = reason === 'future-timestamp' ? 'too far in the future' : 'too long ago';
  return new SluiceError('stale_timestamp', `The webhook was sent ${side}`, {
    details: { reason, timestamp },
  });
}

export const refusal = (reason: RejectionReason, hint: string): SluiceError =>
  new SluiceError('invalid_signature', 'Signature is not valid', { hint, details: { reason } });

/** @param diagnosis name of the function that explains the mismatch */
export const mismatch = (diagnosis: string): SluiceError =>
  refusal('mismatch', `Call ${diagnosis}() with the same arguments to find the likely cause.`);

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseWebhook(raw: string | Uint8Array, family: WebhookFamily): AnyWebhook {
  let webhook: Partial<AnyWebhook> | null;
  try {
    webhook = JSON.parse(typeof raw === 'string' ? raw : utf8.decode(raw)) as typeof webhook;
  } catch (cause) {
    throw new SluiceError('invalid_webhook', 'The body is signed but is not JSON', { cause });
  }
  const found = typeof webhook?.streamId === 'string' ? findWebhookFamily(webhook) : undefined;
  if (found === undefined)
    throw new SluiceError('invalid_webhook', 'The body is signed but is not a webhook');
  if (family !== 'any' && found !== family) {
    const title = FAMILY_TITLES[family];
    throw new SluiceError(
      'invalid_webhook',
      `The body is signed but is not a webhook of an ${title} stream`,
      { hint: `Set family to '${found}', or use this URL only for ${title} streams.` },
    );
  }
  return webhook as AnyWebhook;
}

/** Hashes a webhook with `retries` set to 0, because only this field differs between attempts. */
const contentId = (webhook: AnyWebhook): string =>
  keccak256(JSON.stringify({ ...webhook, retries: 0 })).slice(2);
