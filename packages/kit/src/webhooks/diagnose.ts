/**
 * Explains why verification of a webhook fails, for logs and support tools. It is separate from
 * `unwrap`, because it hashes the body several times.
 */
import { WEBHOOK_HEADERS } from '../contract/rules/signature.ts';
import { readHeader } from './adapters/headers.ts';
import { toRaw } from './adapters/rawBody.ts';
import type { Claim, UnwrapOptions } from './unwrap.ts';
import {
  HMAC_ONLY,
  isAsymmetric,
  isSignedWith,
  readClaim,
  secretsOf,
  timeProblem,
  toleranceOf,
} from './unwrap.ts';

/**
 * The cause of a rejection:
 * - `missing-header`: the signature, id or timestamp is missing;
 * - `x-signature-only`: there is only an `x-signature`, and `allowXSignature` is off;
 * - `hmac-only`: there is no Ed25519 signature, which a public key requires;
 * - `malformed-header`: the id or timestamp is not in Sluice's format;
 * - `signature-format`: the signature is correct, but in uppercase, or without `0x` or `v1,`;
 * - `header-altered`: `x-signature` matches body and secret, so another signature header was
 *   changed;
 * - `stale-timestamp`, `future-timestamp`: correctly signed, but too far in the past or
 *   future;
 * - `body-parsed`: the body is not text or bytes;
 * - `stringified-twice`: the body is JSON that was serialized again as a string;
 * - `body-reserialized`: the body was parsed and serialized again, with the same data;
 * - `body-altered`: the body differs from the one that was sent;
 * - `other-secret`: one of `otherSecrets` signed the webhook;
 * - `wrong-secret`, `wrong-public-key`: the request looks intact, but none of the secrets or private
 *   keys signed it.
 */
export type SignatureProblem =
  | 'missing-header'
  | 'x-signature-only'
  | 'hmac-only'
  | 'malformed-header'
  | 'signature-format'
  | 'header-altered'
  | 'stale-timestamp'
  | 'future-timestamp'
  | 'body-parsed'
  | 'stringified-twice'
  | 'body-reserialized'
  | 'body-altered'
  | 'other-secret'
  | 'wrong-secret'
  | 'wrong-public-key';

/** The result of {@link diagnose}. */
export interface Diagnosis {
  readonly problem: SignatureProblem;
  /** Whether the cause is proven. If not, it is only the most likely one. */
  readonly certain: boolean;
  /** Description of the problem, in one or two sentences. */
  readonly message: string;
  /** Description of the fix, in one or two sentences. */
  readonly fix: string;
  /** For `other-secret`: the name in `otherSecrets` of the secret that signed the webhook. */
  readonly secretName?: string;
}

/** Options of {@link diagnose}: the options of the {@link unwrap} call, and additional ones. */
export type DiagnoseOptions = Omit<UnwrapOptions, 'body'> & {
  /** The body, as passed to `unwrap`. For a parsed body, the problem is `body-parsed`. */
  body: unknown;
  /**
   * Other secrets that might have signed the webhook, by a name of your choice: for example,
   * secrets of other streams or environments, or the API key. All of them are tried, because a
   * signature does not identify its secret.
   */
  otherSecrets?: Readonly<Record<string, string>> | undefined;
};

/**
 * Explains why `unwrap` rejects a webhook. Parses and serializes the body, and hashes it up to six
 * times per secret.
 * @returns the diagnosis, or undefined if the webhook is valid.
 * @throws SluiceError `missing_secret` or `invalid_argument`, as `unwrap` does.
 */
export function diagnose(options: DiagnoseOptions): Diagnosis | undefined {
  const secrets = secretsOf(options as UnwrapOptions);
  const causes = findCause(options, 'v1');
  let step = causes.next(false);
  while (!step.done) {
    const { claim, body, secret } = step.value;
    const tried = secret === undefined ? secrets : [secret];
    step = causes.next(tried.some((each) => isSignedWith(claim, body, each)));
  }
  return step.value;
}

/** A variant of a request, to verify with the keys of the options or with another secret. */
interface Variant {
  readonly claim: Claim;
  readonly body: string | Uint8Array;
  readonly secret?: string;
}

/**
 * Finds the cause of a rejection; returns undefined for a valid webhook. Yields variants of the
 * request and expects whether each one is signed, so the caller can verify synchronously or
 * asynchronously.
 */
export function* findCause(
  options: Omit<DiagnoseOptions, 'secret' | 'secrets' | 'apiKey'>,
  version: 'v1' | 'v1a',
): Generator<Variant, Diagnosis | undefined, boolean> {
  const { headers, body, otherSecrets = {}, now = Date.now } = options;
  const toleranceMs = toleranceOf(options);
  const claim = readClaim(headers, options.allowXSignature ?? false);
  if ('reason' in claim) return found(claim.reason, true, claim.hint);
  if (version === 'v1a' && !isAsymmetric(claim)) return found('hmac-only');

  const raw = toRaw(body);
  if (raw === undefined) return found('body-parsed');

  if (yield { claim, body: raw }) {
    const problem =
      claim.scheme === 'webhook-signature' && timeProblem(claim.timestamp, now(), toleranceMs);
    return problem ? found(problem) : undefined;
  }

  // First tries variants of the request, because a variant that verifies proves what was changed.
  if (yield { claim: inUsualForm(claim, version), body: raw }) return found('signature-format');
  const legacy = readHeader(headers, WEBHOOK_HEADERS.signature);
  if (
    claim.scheme === 'webhook-signature' &&
    legacy !== undefined &&
    (yield { claim: { scheme: 'x-signature', signature: legacy }, body: raw })
  ) {
    return found('header-altered');
  }
  for (const [name, secret] of Object.entries(otherSecrets)) {
    if (secret !== '' && (yield { claim, body: raw, secret })) {
      return { ...found('other-secret'), secretName: name };
    }
  }
  const text = typeof raw === 'string' ? raw : lenientUtf8.decode(raw);
  const parsed = parse(text);
  if (typeof parsed === 'string') {
    return found('stringified-twice', yield { claim, body: parsed });
  }
  for (const repair of repairsOf(text)) {
    if (yield { claim, body: repair }) return found('body-altered', true);
  }
  const canonical = parsed === undefined ? undefined : JSON.stringify(parsed);
  if (canonical !== undefined && canonical !== text && (yield { claim, body: canonical })) {
    return found('body-reserialized');
  }

  // Then looks for signs that the body was changed.
  if (canonical === undefined || !isObject(parsed)) return found('body-altered', true, NO_JSON);
  const length = readHeader(headers, 'content-length');
  const size = typeof raw === 'string' ? new TextEncoder().encode(raw).length : raw.length;
  if (length !== undefined && Number(length) !== size && !readHeader(headers, 'content-encoding')) {
    return found(
      'body-altered',
      true,
      `content-length is ${length}, but the body has ${size} bytes.`,
    );
  }
  if (canonical !== text || text.includes('\u{fffd}')) return found('body-altered', false);
  if (isSorted(Object.keys(parsed))) return found('body-reserialized', false);
  return found(version === 'v1' ? 'wrong-secret' : 'wrong-public-key', false);
}

const ADVICE = {
  'missing-header': ['A signature header is missing.', ''],
  'x-signature-only': ['The request has only an x-signature, and allowXSignature is off.', ''],
  'hmac-only': ['The webhook-signature has no entry v1a, which a public key verifies.', HMAC_ONLY],
  'malformed-header': ['A signature header is malformed.', ''],
  'signature-format': [
    'The signature is correct, but its format was changed.',
    'Pass the header as received: 0x and lowercase hex, or v1 or v1a, a comma and base64.',
  ],
  'header-altered': [
    'Body and secret are correct, but webhook-id, webhook-timestamp or webhook-signature was changed.',
    'Look for a proxy that sets one of these headers.',
  ],
  'stale-timestamp': [
    'The signature is correct, but the webhook was sent too long ago.',
    'Check the clock of this machine. If it is correct, the request was stored and sent again.',
  ],
  'future-timestamp': [
    'The signature is correct, but the webhook was sent in the future.',
    'Check the clocks of this machine and of the sender.',
  ],
  'body-parsed': [
    'The body is not the received bytes: it was parsed, or was not read.',
    'Read the raw body before any JSON parser.',
  ],
  'stringified-twice': [
    'The body is JSON inside a JSON string: JSON.stringify was called on a string.',
    'Pass the body as received, without JSON.stringify.',
  ],
  'body-reserialized': [
    'The data is correct but its format is not: the body was parsed and serialized again.',
    'Pass the raw body from before the parser.',
  ],
  'body-altered': [
    'The body is not what the sender signed.',
    'Look for a proxy or middleware that edits bodies.',
  ],
  'other-secret': [
    'The webhook is signed with another secret that you hold.',
    'Use that secret here, or point its stream at another URL.',
  ],
  'wrong-secret': [
    'The secret is not the one that signed the webhook. A changed value in the body, or the secret of another stream, would look the same.',
    "Compare the complete secret with the sender's, without quotes or spaces. If the sender's was rotated, set the new one here, too.",
  ],
  'wrong-public-key': [
    'None of the public keys belongs to the key that signed the webhook. A changed value in the body would look the same.',
    'Compare the public keys with those of the service: sluice public-keys list.',
  ],
} as const satisfies Record<SignatureProblem, readonly [message: string, fix: string]>;

const NO_JSON = 'The body is not a JSON object: look for what truncated or replaced it.';

function found(problem: SignatureProblem, certain = true, fix?: string): Diagnosis {
  const [message, usualFix] = ADVICE[problem];
  return { problem, certain, message, fix: fix ?? usualFix };
}

/** Restores the format in which signatures are sent. */
function inUsualForm(claim: Claim, version: 'v1' | 'v1a'): Claim {
  if (claim.scheme === 'x-signature') {
    const digits = claim.signature.trim().toLowerCase().replace(/^0x/, '');
    return { ...claim, signature: `0x${digits}` };
  }
  const signatures = claim.signatures.map(
    (it) =>
      `${version},${it
        .trim()
        .replace(/^v1a?[,=]/i, '')
        .replace(/,$/, '')}`,
  );
  return { ...claim, signatures };
}

const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns variants of the body with a common change undone: added whitespace, or UTF-8 decoded as
 * Latin-1.
 */
function repairsOf(text: string): (string | Uint8Array)[] {
  const repairs: (string | Uint8Array)[] = [];
  // `trim` also removes a byte order mark.
  const trimmed = text.trim();
  if (trimmed !== text) repairs.push(trimmed);
  if (/[\x80-\xff]/.test(text) && !/[^\0-\xff]/.test(text)) {
    repairs.push(Uint8Array.from(text, (it) => it.charCodeAt(0)));
  }
  return repairs;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns whether keys are sorted, which suggests that another program serialized them. Senders do
 * not sort keys.
 */
const isSorted = (keys: readonly string[]): boolean =>
  keys.length > 2 && keys.every((key, at) => at === 0 || (keys[at - 1] as string) < key);
