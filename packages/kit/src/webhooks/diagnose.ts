/**
 * Why a webhook does not verify, for people. Apart from `unwrap`, because it hashes the body many
 * times over: for a log or a support tool, not for each request of an attacker.
 */
import { WEBHOOK_HEADERS } from '../contract/rules/signature.ts';
import { readHeader } from './adapters/headers.ts';
import { toRaw } from './adapters/rawBody.ts';
import type { Claim, UnwrapOptions } from './unwrap.ts';
import { isSignedWith, readClaim, secretsOf, timeProblem, toleranceOf } from './unwrap.ts';

/**
 * The cause of a refusal:
 * `missing-header`: no signature, or no id or time beside it;
 * `x-signature-only`: there is only an `x-signature` and `allowXSignature` is off;
 * `malformed-header`: the id or the time is not of the form that Sluice sends;
 * `signature-format`: the right signature in upper case, without `0x`, or without `v1,`;
 * `header-altered`: body and secret are right by `x-signature`, so the id or the time was changed;
 * `stale-timestamp`, `future-timestamp`: rightly signed, at another time;
 * `body-parsed`: the body is an object, no longer the bytes that arrived;
 * `stringified-twice`: the body is the JSON of a text that is the JSON of the webhook;
 * `body-reserialized`: a parser and a serializer have stood between; the data are the same;
 * `body-altered`: the body is not what was sent;
 * `other-secret`: one of `otherSecrets` has signed;
 * `wrong-secret`: the request is well formed, but nothing given has signed it.
 */
export type SignatureProblem =
  | 'missing-header'
  | 'x-signature-only'
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
  | 'wrong-secret';

/** What {@link diagnose} finds. */
export interface Diagnosis {
  readonly problem: SignatureProblem;
  /** Whether it is proven. If not, it is what fits best, and `message` says what else would. */
  readonly certain: boolean;
  /** What is wrong, in a sentence. */
  readonly message: string;
  /** What to do about it, in a sentence. */
  readonly fix: string;
  /** Of `other-secret`: its name in `otherSecrets`. */
  readonly secretName?: string;
}

/** What {@link diagnose} takes: what {@link unwrap} refused, and what else may help. */
export type DiagnoseOptions = Omit<UnwrapOptions, 'body'> & {
  /** As in `unwrap`; a parsed body is taken as well and told as such. */
  body: unknown;
  /**
   * Secrets that might have signed instead, by a name of your choice: those of your other streams,
   * accounts, environments, or the API key. A signature does not say whose it is, so the secret of
   * another stream can be told from a wrong one only by trying it.
   */
  otherSecrets?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether the secret has verified webhooks of this sender before. Then an intact-looking request
   * that does not verify is `body-altered` and not `wrong-secret`.
   */
  secretIsProven?: boolean | undefined;
};

/**
 * Names why `unwrap` refuses a webhook. Costs a parse, a serialisation and up to about ten hashes of
 * the body for each secret.
 * @returns undefined when nothing is wrong.
 * @throws SluiceError `missing_secret`, `invalid_argument` as `unwrap` does.
 */
export function diagnose(options: DiagnoseOptions): Diagnosis | undefined {
  const { headers, body, otherSecrets = {}, now = Date.now } = options;
  const toleranceMs = toleranceOf(options);
  const secrets = secretsOf(options as UnwrapOptions);
  const claim = readClaim(headers, options.allowXSignature ?? false);
  if ('reason' in claim) return found(claim.reason, true, claim.hint);

  const raw = toRaw(body);
  if (raw === undefined) return found('body-parsed');
  const isSigned = (candidate: string | Uint8Array, by: Claim = claim) =>
    secrets.some((secret) => isSignedWith(by, candidate, secret));

  if (isSigned(raw)) {
    const problem =
      claim.scheme === 'webhook-signature' && timeProblem(claim.timestamp, now(), toleranceMs);
    return problem ? found(problem) : undefined;
  }

  // Proofs first: something that does verify shows what was changed.
  if (isSigned(raw, inUsualForm(claim))) return found('signature-format');
  const legacy = readHeader(headers, WEBHOOK_HEADERS.signature);
  if (
    claim.scheme === 'webhook-signature' &&
    legacy !== undefined &&
    isSigned(raw, { scheme: 'x-signature', signature: legacy })
  ) {
    return found('header-altered');
  }
  for (const [name, secret] of Object.entries(otherSecrets)) {
    if (secret !== '' && isSignedWith(claim, raw, secret)) {
      return { ...found('other-secret'), secretName: name };
    }
  }
  const text = typeof raw === 'string' ? raw : lenientUtf8.decode(raw);
  const parsed = parse(text);
  if (typeof parsed === 'string') return found('stringified-twice', isSigned(parsed));
  const repaired = repairsOf(text).some((candidate) => isSigned(candidate));
  if (repaired) return found('body-altered', true);
  const canonical = parsed === undefined ? undefined : JSON.stringify(parsed);
  if (canonical !== undefined && canonical !== text && isSigned(canonical)) {
    return found('body-reserialized');
  }

  // Then what no body of the sender looks like.
  if (canonical === undefined || !isObject(parsed)) return found('body-altered', true, NO_JSON);
  const length = readHeader(headers, 'content-length');
  const size = typeof raw === 'string' ? new TextEncoder().encode(raw).length : raw.length;
  if (length !== undefined && Number(length) !== size && !readHeader(headers, 'content-encoding')) {
    return found('body-altered', true, `content-length was ${length}, the body has ${size} bytes.`);
  }
  if (canonical !== text || text.includes('\u{fffd}')) return found('body-altered', false);
  if (isSorted(Object.keys(parsed))) return found('body-reserialized', false);
  return options.secretIsProven ? found('body-altered', false) : found('wrong-secret', false);
}

const ADVICE = {
  'missing-header': ['A signature header is missing.', ''],
  'x-signature-only': ['The request has an x-signature only, and allowXSignature is off.', ''],
  'malformed-header': ['A signature header is malformed.', ''],
  'signature-format': [
    'The signature is right, but something has changed its spelling.',
    'Pass the header as it arrived: 0x and lower-case hex, or v1, and base64.',
  ],
  'header-altered': [
    'Body and secret are right, but webhook-id, webhook-timestamp or webhook-signature was changed.',
    'Look for a proxy that sets one of these headers.',
  ],
  'stale-timestamp': [
    'The signature is right, but the webhook was sent too long ago.',
    'Check the clock of this machine. If it is right, the request was stored and sent again.',
  ],
  'future-timestamp': [
    'The signature is right, but the webhook was sent in the future.',
    'Check the clocks of this machine and of the sender.',
  ],
  'body-parsed': [
    'The body is no longer the bytes that arrived: it was parsed, or was not read.',
    'Take the raw body before any JSON parser.',
  ],
  'stringified-twice': [
    'The body is a JSON text inside a JSON text: JSON.stringify was called on a string.',
    'Pass the body as it arrived, without JSON.stringify.',
  ],
  'body-reserialized': [
    'The data are right but their spelling is not: the body was parsed and serialised again.',
    'Pass the raw body, from before the parser.',
  ],
  'body-altered': [
    'The body is not what the sender signed.',
    'Look for a proxy or middleware that decodes, trims, cuts or edits bodies.',
  ],
  'other-secret': [
    'The webhook is signed with another secret that you hold.',
    'Use that secret here, or point its stream at another URL.',
  ],
  'wrong-secret': [
    'The secret is not the one the webhook was signed with. A changed value in the body, or the secret of another stream, would look the same.',
    'Compare the secret with the one in the settings of the sender: whole, without quotes or spaces.',
  ],
} as const satisfies Record<SignatureProblem, readonly [message: string, fix: string]>;

const NO_JSON = 'It is no JSON object: look for what cut it off, decoded it or replaced it.';

function found(problem: SignatureProblem, certain = true, fix?: string): Diagnosis {
  const [message, usualFix] = ADVICE[problem];
  return { problem, certain, message, fix: fix ?? usualFix };
}

/** The same signatures, spelled as they are sent. */
function inUsualForm(claim: Claim): Claim {
  if (claim.scheme === 'x-signature') {
    const digits = claim.signature.trim().toLowerCase().replace(/^0x/, '');
    return { ...claim, signature: `0x${digits}` };
  }
  const signatures = claim.signatures.map(
    (it) =>
      `v1,${it
        .trim()
        .replace(/^v1[,=]/i, '')
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

/** What the text may have been before a well-known mishap: added space, UTF-8 taken for Latin-1. */
function repairsOf(text: string): (string | Uint8Array)[] {
  const repairs: (string | Uint8Array)[] = [];
  // Also drops a byte order mark.
  const trimmed = text.trim();
  if (trimmed !== text) repairs.push(trimmed);
  if (/[\x80-\xff]/.test(text) && !/[^\0-\xff]/.test(text)) {
    repairs.push(Uint8Array.from(text, (it) => it.charCodeAt(0)));
  }
  return repairs;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** No sender sorts its keys; serializers of other languages can. */
const isSorted = (keys: readonly string[]): boolean =>
  keys.length > 2 && keys.every((key, at) => at === 0 || (keys[at - 1] as string) < key);
