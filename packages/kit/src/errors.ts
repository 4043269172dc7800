/** The one error class of the kit, and every code it can carry. */

/** The hint of each code. Codes are stable; messages and hints may be reworded. */
export const ERROR_HINTS = {
  // Before anything is sent
  invalid_argument: 'The call was not sent. The message names what to change.',
  invalid_network: 'Set networkType to "aptos" or "evm", or omit it for EVM.',
  invalid_selector: 'A selector is a dollar sign and a field name, e.g. "$fromAddress".',

  // No usable answer
  aborted: "The call's signal was aborted.",
  timeout: "Raise timeoutMs, or check the service's load.",
  network_error: 'Check baseUrl, and that the service is reachable.',
  redirected: 'Set baseUrl to the final URL: redirects do not receive the API key.',
  invalid_answer: "Check that baseUrl is the API's URL, not a web page's.",

  // Answers that are not a success, by status
  bad_request: 'The service rejected the request. The message says why.',
  unauthorized: 'Check apiKey: the service does not know it.',
  forbidden: 'The API key does not allow this call.',
  not_found: 'Check the id, and that the stream belongs to this API key.',
  conflict: 'The stream changed meanwhile: read it again, then repeat the change.',
  payload_too_large: 'Send fewer addresses per call.',
  validation_failed: 'details lists the problems by field.',
  rate_limited: 'Wait retryAfterMs, if given, before the next call.',
  server_error: 'The service failed. Try again, or search its log for requestId.',
  unexpected_status: 'The service returned an unexpected status.',

  // Webhooks
  missing_secret: 'Pass secret (the streams secret), or apiKey if there is none.',
  invalid_signature: "Verify the raw bytes, before any parser, with the sender's secret.",
  stale_timestamp: "Check this machine's clock. If it is right, an old request was replayed.",
  body_already_parsed:
    "Pass the raw webhook, before any JSON parser: see your framework's adapter, e.g. @sluice/kit/express.",
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
