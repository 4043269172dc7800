/** What a handler can throw to say more than that it failed. */
import { SluiceError } from '../errors.ts';

/** What {@link RetryLater} takes. */
export interface RetryLaterOptions {
  /**
   * How long the sender should wait. Rounded up to whole seconds, at most 24 hours.
   * @unit milliseconds
   * @defaultValue 60_000
   */
  afterMs?: number | undefined;
  cause?: unknown;
}

/**
 * Throw it in a handler to be sent the webhook again, no sooner than after a while: something it
 * needs is down or busy. Answers 503 with `Retry-After`. It counts as a failed attempt, of which a
 * delivery has a limited number.
 * @throws SluiceError `invalid_argument` when `afterMs` is not above 0.
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
 * Throw it in a handler to never be sent this webhook again, though it was not handled: no later
 * attempt could do better. Answers 200 and counts as handled. 410 would say that the URL is gone,
 * and the service would stop the whole stream.
 */
export class NeverAgain extends Error {
  override readonly name = 'NeverAgain';

  constructor(message = 'Never again', options?: { cause?: unknown }) {
    super(message, options);
  }
}

/** By name, as with `isSluiceError`: a program can hold two copies of the kit. */
export const isRetryLater = (error: unknown): error is RetryLater =>
  error instanceof Error && error.name === 'RetryLater' && 'afterMs' in error;

export const isNeverAgain = (error: unknown): error is NeverAgain =>
  error instanceof Error && error.name === 'NeverAgain';
