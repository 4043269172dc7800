/** Creates responses, and reports errors to `onError`. */
import { isSluiceError, SluiceError } from '../../errors.ts';
import type { AnyReceived } from '../../families/webhooks.ts';
import type { HandlerRules, ReadRequest, Verifier, WebhookResponse } from './types.ts';

export function createResponse(
  status: number,
  message: string,
  headers?: Record<string, string>,
): WebhookResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ message }),
  };
}

/**
 * Returns the response to a rejected request. It contains a message of the kit, but neither errors
 * of the user's code nor a diagnosis.
 */
export function toRejectedResponse(error: unknown): WebhookResponse {
  if (isSluiceError(error, 'invalid_signature') || isSluiceError(error, 'stale_timestamp')) {
    return createResponse(401, error.message);
  }
  if (isSluiceError(error, 'invalid_webhook')) return createResponse(400, error.message);
  return createResponse(500, 'The handler failed');
}

export function refuseBody(
  failed: 'too-large' | 'broken-off' | 'already-parsed',
  maxBodyBytes: number,
  reporter: Reporter,
): WebhookResponse {
  if (failed === 'broken-off') return createResponse(400, 'The body is incomplete');
  if (failed === 'too-large') {
    const message = `The body is larger than ${maxBodyBytes} bytes`;
    reporter.problem(
      new SluiceError('payload_too_large', message, { hint: 'Raise maxBodyBytes of the handler.' }),
    );
    // The rest of the body is not read, so the connection cannot be reused.
    return createResponse(413, message, { connection: 'close' });
  }
  const error = new SluiceError('body_already_parsed', 'The body was already read or parsed');
  reporter.problem(error);
  return createResponse(500, `${error.message}. ${error.hint}`);
}

export interface Reporter {
  /** Reports an error that occurred while a verified delivery was handled. */
  failed(error: unknown, delivery: AnyReceived): void;
  /**
   * Reports why a request was rejected. The rate is limited, because forged requests can be
   * numerous.
   */
  problem(error: unknown): void;
  /**
   * Reports a rejected request like {@link problem}, and adds a diagnosis if the signature was
   * wrong.
   */
  refused(error: unknown, request: ReadRequest): Promise<void>;
}

const REPORT_EVERY_MS = 1000;

/**
 * Maximum length of a diagnosed body. A diagnosis hashes the body several times, so the limit
 * bounds the work that forged requests can cause.
 */
const MAX_DIAGNOSED_LENGTH = 1024 * 1024;

export function createReporter(
  // oxlint-disable-next-line no-console -- errors need a default output
  onError: NonNullable<HandlerRules['onError']> = (error) => console.error(error),
  { diagnose }: Pick<Verifier, 'diagnose'>,
): Reporter {
  let lastAt = -Infinity;

  const report = (error: unknown, delivery?: AnyReceived) => {
    try {
      onError(error, delivery);
    } catch {
      // An error in `onError` must not prevent the response.
    }
  };
  const isTooSoon = (): boolean => {
    const at = Date.now();
    if (Math.abs(at - lastAt) < REPORT_EVERY_MS) return true;
    lastAt = at;
    return false;
  };

  return {
    failed: report,
    problem(error) {
      if (!isTooSoon()) report(error);
    },
    async refused(error, request) {
      if (isTooSoon()) return;
      if (
        !isSluiceError(error, 'invalid_signature') ||
        request.body.length > MAX_DIAGNOSED_LENGTH
      ) {
        report(error);
        return;
      }
      const found = await diagnose(request);
      report(
        new SluiceError(error.code, error.message, {
          hint: found && [found.message, found.fix].join(' '),
          details: { ...error.details, ...found },
        }),
      );
    },
  };
}
