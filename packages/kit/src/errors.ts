/** The error class of the kit, and all of its codes. */

/** The hint of each code. Codes are stable; messages and hints may be reworded. */
export const ERROR_HINTS = {
  // Invalid arguments: nothing was sent
  invalid_argument: 'The call was not sent. The message names what to change.',
  invalid_network: 'Set networkType to "aptos" or "evm", or omit it for EVM.',
  invalid_selector: 'A selector is a dollar sign and a field name, e.g. "$fromAddress".',

  // No usable response
  aborted: "The call's signal was aborted.",
  timeout: "Raise timeoutMs, or check the service's load.",
  network_error: 'Check baseUrl, and that the service is reachable.',
  redirected: 'Set baseUrl to the final URL: redirects do not receive the API key.',
  invalid_response: "Check that baseUrl is the API's URL, not a web page's.",

  // Error responses, by status
  bad_request: 'The service rejected the request. The message explains why.',
  unauthorized: 'Check apiKey: the service rejected it.',
  forbidden: 'Use a key that allows this call, or follow the message.',
  not_found: 'Check the ID, and that baseUrl is the service that has it.',
  conflict: 'Read the current state again, and follow the message.',
  payload_too_large: 'Send fewer addresses per call.',
  validation_failed: 'fields lists the problems by field.',
  rate_limited: 'Wait retryAfterMs, if given, before the next call.',
  server_error: 'The service failed. Try again, or search its log for requestId.',
  unexpected_status: 'The service returned an unexpected status.',

  // Webhooks
  missing_secret: 'Pass secret (the streams secret), or apiKey if there is none.',
  invalid_signature: "Verify the raw bytes, before any parser, with the sender's secret.",
  stale_timestamp: "Check this machine's clock. If it is correct, an old request was replayed.",
  body_already_parsed:
    "Pass the raw webhook, before any JSON parser: see your framework's adapter, e.g. @sluice/kit/express.",
  invalid_webhook: 'Pass the body of a webhook: raw to unwrap, parsed to other functions.',
  invalid_proof: 'Do not use the webhook: the message names what is not proven.',
  missing_abi: 'Set abi on the stream, or pass an ABI here.',
} as const satisfies Record<string, string>;

/** The code of an error, which is stable across releases. docs/errors.md explains each code. */
export type SluiceErrorCode = keyof typeof ERROR_HINTS;

const DOCUMENTATION = 'https://www.npmjs.com/package/@sluice/kit';

/** A problem of one field of a request. */
export interface FieldProblem {
  /** Continues the name of the field, e.g. `should be a URL`. */
  message: string;
  /** The rejected value, if the service returned it. */
  value?: unknown;
}

/** Optional fields of a {@link SluiceError}. */
export interface SluiceErrorContext {
  /** Hint that replaces the code's. */
  hint?: string | undefined;
  /** HTTP status of the response. */
  status?: number | undefined;
  /** The `x-request-id` of the response. */
  requestId?: string | undefined;
  /** Problems by field, as the service sent them. */
  details?: Readonly<Record<string, unknown>> | undefined;
  fields?: Readonly<Record<string, FieldProblem>> | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/**
 * An error that the kit throws. Branch on `code`. `message` and `hint` contain no API keys or
 * secrets, so they can be shown to users.
 */
export class SluiceError<Code extends SluiceErrorCode = SluiceErrorCode> extends Error {
  override readonly name = 'SluiceError';
  /** Code of the error, which is stable across releases. */
  readonly code: Code;
  /** How to fix the usual cause. */
  readonly hint: string;
  /** URL of the documentation for the error code. */
  readonly docUrl: string;
  /** HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** The `x-request-id` of the response; undefined if it has none. */
  readonly requestId: string | undefined;
  /** Problems by field, as the service sent them. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Problems by field, e.g. `chainIds.0`; empty if there are none. */
  readonly fields: Readonly<Record<string, FieldProblem>>;
  /** Milliseconds to wait before the next call, if the service requested a wait. */
  readonly retryAfterMs: number | undefined;

  constructor(code: Code, message: string, context: SluiceErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.hint = context.hint ?? ERROR_HINTS[code];
    this.docUrl = `${DOCUMENTATION}#${code}`;
    this.status = context.status;
    this.requestId = context.requestId;
    this.details = context.details;
    this.fields = context.fields ?? {};
    this.retryAfterMs = context.retryAfterMs;
  }
}

/**
 * Returns whether `error` is a {@link SluiceError} and, if `code` is given, has that code. Works
 * across two copies of the kit in one program, unlike `instanceof`.
 */
export function isSluiceError<Code extends SluiceErrorCode = SluiceErrorCode>(
  error: unknown,
  code?: Code,
): error is SluiceError<Code> {
  if (!(error instanceof Error) || error.name !== 'SluiceError' || !('code' in error)) return false;
  return code === undefined || error.code === code;
}
