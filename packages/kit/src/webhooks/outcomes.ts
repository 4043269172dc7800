/** Errors that handlers throw to control the response. */
import { SluiceError } from '../errors.ts';

/** Options of {@link RetryLater}. */
export interface RetryLaterOptions {
  /**
   * Minimum wait before the next attempt, rounded up to seconds and limited to 24 hours.
   * @unit milliseconds
   * @defaultValue 60_000
   */
  afterMs?: number | undefined;
  cause?: unknown;
}

/**
 * Throw this in a handler to receive the webhook again after a minimum wait, for example because a
 * dependency is down. The handler responds with 503 and `Retry-After`, and the attempt counts as
 * failed.
 * @throws SluiceError `invalid_argument` if `afterMs` is not above 0.
 */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
  readonly afterMs: number;

  constructor(message = 'Retry later', { afterMs = 60_000, cause }: RetryLaterOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    if (!(afterMs > 0)) {
      throw new SluiceError('invalid_argument', 'afterMs must be above 0', {
        hint: 'Leave it out for one minute.',
      });
    }
    this.afterMs = afterMs;
  }
}

/**
 * Throw this in a handler to drop a webhook that no later attempt could handle. The handler
 * responds with 200, and the webhook counts as handled. A 410 would put the stream in `error`,
 * because a 410 means that the URL is gone.
 */
export class DoNotRetry extends Error {
  override readonly name = 'DoNotRetry';

  constructor(message = 'Do not retry', options?: { cause?: unknown }) {
    super(message, options);
  }
}

/** Returns whether an error is a {@link RetryLater} of this or another copy of the kit. */
export const isRetryLater = (error: unknown): error is RetryLater =>
  error instanceof Error && error.name === 'RetryLater' && 'afterMs' in error;

export const isDoNotRetry = (error: unknown): error is DoNotRetry =>
  error instanceof Error && error.name === 'DoNotRetry';
