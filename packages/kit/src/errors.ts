/** The one error class of the kit, and every code it can carry. */

/** Each code with what usually helps. Codes are stable; messages and hints may be reworded. */
export const ERROR_HINTS = {
  // Before anything is sent
  invalid_argument: 'The call was not sent. The message names what to change.',
  invalid_network: 'Set networkType to "aptos" or "evm", or leave it out for EVM streams.',
  invalid_selector: 'A selector is a dollar sign and the name of a field, e.g. "$fromAddress".',

  // No usable answer
  aborted: 'The signal passed to the call was aborted.',
  timeout: 'Raise timeoutMs, or look at what keeps the service busy.',
  network_error: 'Check baseUrl, and that the service runs and can be reached from here.',
  redirected: 'Set baseUrl to the address it redirects to: the API key is not sent along.',
  invalid_answer: 'Check that baseUrl is the address of the API and not of a web page.',

  // Answers that are not a success, by status
  bad_request: 'The service refused the request. The message says why.',
  unauthorized: 'Check apiKey: the service does not know it.',
  forbidden: 'The API key does not allow this call.',
  not_found: 'Check the id, and that the stream belongs to this API key.',
  conflict: 'Something changed meanwhile: read the stream again, then repeat the change.',
  payload_too_large: 'Send fewer addresses per call.',
  validation_failed: 'details says what is wrong, by field.',
  rate_limited: 'Wait retryAfterMs, when it is given, before the next call.',
  server_error: 'The service failed. Try again; if it lasts, look for requestId in its log.',
  unexpected_status: 'The service answered with a status this call does not know.',

  // Webhooks
  missing_secret: 'Pass secret (the streams secret), or apiKey where the account has none.',
  invalid_signature:
    'Verify the raw bytes of the request, before any parser, with the secret of the sender.',
  stale_timestamp:
    'Check the clock of this machine. If it is right, an old request was sent again.',
  body_already_parsed:
    'Take the webhook before any JSON parser: see the adapter of your framework, e.g. @sluice/kit/express.',
  invalid_webhook: 'Pass the parsed JSON body of a webhook.',
  missing_abi: 'Set abi on the stream, or pass an ABI here.',
} as const satisfies Record<string, string>;

/** Why the kit threw. Stable across releases; docs/errors.md explains each. */
export type SluiceErrorCode = keyof typeof ERROR_HINTS;

const DOCUMENTATION = 'https://www.npmjs.com/package/@sluice/kit';

/** What a {@link SluiceError} can carry beside its code and message. */
export interface SluiceErrorContext {
  /** Instead of the hint of the code. */
  hint?: string | undefined;
  /** HTTP status of the answer. */
  status?: number | undefined;
  /** The answer's `x-request-id`. */
  requestId?: string | undefined;
  /** What the service says about each field, as it was sent. */
  details?: Readonly<Record<string, unknown>> | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/**
 * Whatever the kit throws on purpose. Branch on `code`; show `message` and `hint` to people.
 * Neither ever contains an API key or a secret.
 */
export class SluiceError<Code extends SluiceErrorCode = SluiceErrorCode> extends Error {
  override readonly name = 'SluiceError';
  /** Stable across releases. */
  readonly code: Code;
  /** What usually helps. */
  readonly hint: string;
  /** Where the code is explained. */
  readonly docUrl: string;
  /** HTTP status of the answer; undefined when none came. */
  readonly status: number | undefined;
  /** The answer's `x-request-id`; undefined when it had none. */
  readonly requestId: string | undefined;
  /** What the service says about each field, as it was sent. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** How long the service asks to wait before the next call, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(code: Code, message: string, context: SluiceErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.hint = context.hint ?? ERROR_HINTS[code];
    this.docUrl = `${DOCUMENTATION}#${code}`;
    this.status = context.status;
    this.requestId = context.requestId;
    this.details = context.details;
    this.retryAfterMs = context.retryAfterMs;
  }
}

/**
 * Whether `error` came from the kit and, when `code` is given, carries it. Holds across two copies
 * of the kit in one program, where `instanceof` does not.
 */
export function isSluiceError<Code extends SluiceErrorCode = SluiceErrorCode>(
  error: unknown,
  code?: Code,
): error is SluiceError<Code> {
  if (!(error instanceof Error) || error.name !== 'SluiceError' || !('code' in error)) return false;
  return code === undefined || error.code === code;
}
