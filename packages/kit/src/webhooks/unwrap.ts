/**
 * The way in for a webhook: verified and parsed in one call, so that nothing unverified is read.
 * A request carries two signatures. `webhook-signature` (Standard Webhooks) covers the delivery's id
 * and the time as well as the body; `x-signature` of the compatible contract covers the body alone.
 */
import { keccak256 } from '../contract/rules/hash.ts';
import { signStandardWebhook, signWebhook, WEBHOOK_HEADERS } from '../contract/rules/signature.ts';
import type { AptosWebhook, EvmWebhook } from '../contract/shapes.generated.ts';
import { SluiceError } from '../errors.ts';
import { readHeader } from './adapters/headers.ts';
import type { WebhookHeaders } from './adapters/headers.ts';
import { toRaw } from './adapters/rawBody.ts';
import type { RawBody } from './adapters/rawBody.ts';
import { isEqual } from './verify.ts';

/** What webhooks are checked with: one of the three. */
export type WebhookKey =
  | {
      /** The streams secret of the account. */
      secret: string;
      secrets?: undefined;
      apiKey?: undefined;
    }
  | {
      /**
       * Several secrets, any of which may have signed: the new and the old one while a secret is
       * changed. Each costs one hash of the body per webhook. Empty ones are left out.
       */
      secrets: readonly string[];
      secret?: undefined;
      apiKey?: undefined;
    }
  | {
      /** The API key, which signs where an account has no streams secret. */
      apiKey: string;
      secret?: undefined;
      secrets?: undefined;
    };

/** How strictly {@link unwrap} checks. */
export interface UnwrapRules {
  /**
   * Whether a request without `webhook-signature` may be verified by its `x-signature`. Default
   * false: who has caught one request could strip its other headers and send it again for ever.
   * Set it for senders that know `x-signature` only, such as the hosted Streams API. A
   * `webhook-signature` that is there is always the one that counts.
   */
  allowXSignature?: boolean | undefined;
  /**
   * How far `webhook-timestamp` may lie from now, before or after.
   * @unit milliseconds
   * @defaultValue 300_000 (5 minutes). At least 0; `Infinity` turns the check off.
   */
  toleranceMs?: number | undefined;
  /** The time, in milliseconds since 1970. Default `Date.now`. */
  now?: (() => number) | undefined;
}

/** What {@link unwrap} takes. */
export type UnwrapOptions = WebhookKey &
  UnwrapRules & {
    /** The body exactly as it arrived. Text must have been read as UTF-8. */
    body: RawBody;
    headers: WebhookHeaders;
  };

/** Of which streams webhooks are taken: one family's alone, or both. */
export type WebhookFamily = 'evm' | 'aptos' | 'any';

/** A webhook of an EVM stream that is what its sender signed. */
export interface ReceivedWebhook extends Received<EvmWebhook> {
  /** With `removed: true` it is no news but takes back what was delivered of its block. */
  readonly webhook: EvmWebhook;
}

/** A webhook of an Aptos stream that is what its sender signed. */
export interface ReceivedAptosWebhook extends Received<AptosWebhook> {}

interface Received<Webhook> {
  /**
   * The delivery's id (`webhook-id`), the same on every attempt: handle each id once. By
   * `x-signature`, which covers no id, a hash of the body apart from `retries`.
   */
  readonly id: string;
  /** When this attempt was sent; undefined by `x-signature`, which covers no time. */
  readonly sentAt: Date | undefined;
  readonly webhook: Webhook;
  /** Whether this is the test webhook, which asks only whether the URL answers 2xx. */
  readonly isTest: boolean;
  readonly verifiedBy: 'webhook-signature' | 'x-signature';
}

/**
 * Why a request was refused, as far as it can be told cheaply; in the error's `details.reason`.
 * `diagnose` looks deeper into a `mismatch`.
 */
export type RefusalReason =
  | 'missing-header'
  | 'x-signature-only'
  | 'malformed-header'
  | 'mismatch'
  | 'stale-timestamp'
  | 'future-timestamp';

/**
 * Verifies a webhook in constant time and parses it.
 *
 * @throws SluiceError
 * `invalid_signature`: the headers are missing, malformed or do not match; `details.reason` is a
 * {@link RefusalReason}. Answer 401.
 * `stale_timestamp`: signed, but sent too long ago or in the future. Answer 401.
 * `invalid_webhook`: signed, but the body is no webhook of `family`. Answer 400.
 * `body_already_parsed`, `missing_secret`, `invalid_argument`: a mistake in the calling code.
 */
export function unwrap(options: UnwrapOptions & { family?: 'evm' | undefined }): ReceivedWebhook;
export function unwrap(options: UnwrapOptions & { family: 'aptos' }): ReceivedAptosWebhook;
export function unwrap(
  options: UnwrapOptions & { family: 'any' },
): ReceivedWebhook | ReceivedAptosWebhook;
export function unwrap(
  options: UnwrapOptions & {
    /** Default `evm`; {@link isAptosWebhook} tells those of `any` apart. */
    family?: WebhookFamily | undefined;
  },
): ReceivedWebhook | ReceivedAptosWebhook {
  const { raw, claim } = verifyRaw(options);
  const webhook = parseWebhook(raw, options.family ?? 'evm');
  const received: Received<EvmWebhook | AptosWebhook> = {
    id: claim.scheme === 'webhook-signature' ? claim.id : contentId(webhook),
    sentAt: claim.scheme === 'webhook-signature' ? new Date(claim.timestamp * 1000) : undefined,
    webhook,
    isTest: webhook.streamId === '',
    verifiedBy: claim.scheme,
  };
  return received as ReceivedWebhook | ReceivedAptosWebhook;
}

/** What arrived, and what its headers claimed, once that has been verified. Throws as {@link unwrap}. */
export function verifyRaw(options: UnwrapOptions): { raw: string | Uint8Array; claim: Claim } {
  const secrets = secretsOf(options);
  const toleranceMs = toleranceOf(options);
  const { now = Date.now } = options;
  const raw = toRaw(options.body);
  if (raw === undefined) {
    throw new SluiceError('body_already_parsed', 'body must be the bytes or the text that arrived');
  }
  const claim = readClaim(options.headers, options.allowXSignature ?? false);
  if ('reason' in claim) throw refusal(claim.reason, claim.hint);
  if (!secrets.some((secret) => isSignedWith(claim, raw, secret))) {
    throw refusal('mismatch', 'diagnose() with the same arguments names the likely cause.');
  }
  if (claim.scheme === 'webhook-signature') {
    const reason = timeProblem(claim.timestamp, now(), toleranceMs);
    if (reason !== undefined) throw staleness(reason, claim.timestamp);
  }
  return { raw, claim };
}

/** Whether a webhook is one of an Aptos stream: those name a `network`, and no `chainId`. */
export function isAptosWebhook(webhook: EvmWebhook | AptosWebhook): webhook is AptosWebhook {
  return 'network' in webhook && !('chainId' in webhook);
}

/** What the headers of a request claim, before anything is verified. */
export type Claim =
  | {
      readonly scheme: 'webhook-signature';
      readonly id: string;
      /** Unix seconds. */
      readonly timestamp: number;
      /** `v1,` and base64 each; entries of other versions among them. */
      readonly signatures: readonly string[];
    }
  | { readonly scheme: 'x-signature'; readonly signature: string };

export interface NoClaim {
  readonly reason: 'missing-header' | 'x-signature-only' | 'malformed-header';
  readonly hint: string;
}

/**
 * Ids of Sluice have neither dots nor spaces. A dot would let one signed text be read as two
 * different ids.
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
        hint: 'The request has no webhook-signature: it is from somebody else, or a proxy drops headers.',
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
      hint: 'webhook-id and webhook-timestamp must come with webhook-signature, once each.',
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

/** In constant time for the signatures, not for their number. */
export function isSignedWith(claim: Claim, body: string | Uint8Array, secret: string): boolean {
  if (claim.scheme === 'x-signature') return isEqual(claim.signature, signWebhook(body, secret));
  const { id, timestamp, signatures } = claim;
  let expected: string;
  try {
    expected = signStandardWebhook({ id, timestamp, body, secret });
  } catch (cause) {
    const hint = 'Copy the secret whole, or leave whsec_ out if it is no base64.';
    throw new SluiceError('invalid_argument', (cause as Error).message, { hint, cause });
  }
  return signatures.some((signature) => isEqual(signature, expected));
}

/** The secrets that are not empty: with an empty one anybody could sign. */
export function secretsOf({ secret, secrets, apiKey }: WebhookKey): readonly string[] {
  const given: readonly unknown[] = secrets ?? [secret ?? apiKey];
  const usable = given.filter(
    (it): it is string => typeof it === 'string' && it.replace(/^whsec_/, '').trim() !== '',
  );
  if (usable.length === 0) {
    throw new SluiceError(
      'missing_secret',
      'Unable to verify signature without an api key or streams secret',
    );
  }
  return usable;
}

/** NaN would accept any time. */
export function toleranceOf({ toleranceMs = 300_000 }: UnwrapRules): number {
  if (toleranceMs >= 0) return toleranceMs;
  throw new SluiceError('invalid_argument', 'toleranceMs must be 0 or more', {
    hint: 'Leave it out for 5 minutes.',
  });
}

/** NaN, of a broken clock, is a problem too. */
export function timeProblem(
  timestamp: number,
  nowMs: number,
  toleranceMs: number,
): 'stale-timestamp' | 'future-timestamp' | undefined {
  const age = nowMs - timestamp * 1000;
  if (Math.abs(age) <= toleranceMs) return undefined;
  return age < 0 ? 'future-timestamp' : 'stale-timestamp';
}

function staleness(reason: RefusalReason, timestamp: number): SluiceError {
  const side = reason === 'future-timestamp' ? 'too far in the future' : 'too long ago';
  return new SluiceError('stale_timestamp', `the webhook was sent ${side}`, {
    details: { reason, timestamp },
  });
}

const refusal = (reason: RefusalReason, hint: string): SluiceError =>
  new SluiceError('invalid_signature', 'Signature is not valid', { hint, details: { reason } });

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseWebhook(raw: string | Uint8Array, family: WebhookFamily): EvmWebhook | AptosWebhook {
  let webhook: Partial<EvmWebhook & AptosWebhook> | null;
  try {
    webhook = JSON.parse(typeof raw === 'string' ? raw : utf8.decode(raw)) as typeof webhook;
  } catch (cause) {
    throw notAWebhook('The body is signed but is not JSON', cause);
  }
  const found =
    typeof webhook?.streamId !== 'string'
      ? undefined
      : Array.isArray(webhook.logs)
        ? 'evm'
        : typeof webhook.network === 'string' && Array.isArray(webhook.transactions)
          ? 'aptos'
          : undefined;
  if (found === undefined) throw notAWebhook('The body is signed but is no webhook');
  if (family !== 'any' && found !== family) {
    throw notAWebhook(`The body is signed but is no webhook of an ${NAMES[family]} stream`);
  }
  return webhook as EvmWebhook | AptosWebhook;
}

const NAMES = { evm: 'EVM', aptos: 'Aptos' } as const;

const notAWebhook = (message: string, cause?: unknown): SluiceError =>
  new SluiceError('invalid_webhook', message, {
    hint: "Let only streams of one family post to this URL, and set family to 'aptos' if it is that.",
    cause,
  });

/** `retries` is the one part of a body that differs between attempts of a delivery. */
const contentId = (webhook: EvmWebhook | AptosWebhook): string =>
  keccak256(JSON.stringify({ ...webhook, retries: 0 })).slice(2);
