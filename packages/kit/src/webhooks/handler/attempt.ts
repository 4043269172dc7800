/** Runs registered functions, and remembers what was handled. */
import type { AnyReceived } from '../../families/webhooks.ts';
import { isDoNotRetry, isRetryLater } from '../outcomes.ts';
import type { SeenStore } from '../seen.ts';
import { createResponse, type Reporter } from './reporter.ts';
import type { WebhookResponse } from './types.ts';

/** Marks a delivery as handled. Reports errors instead of throwing, which would cause a retry. */
export async function markHandled(
  reporter: Reporter,
  store: SeenStore,
  id: string,
  delivery: AnyReceived,
) {
  try {
    await store.add(id);
  } catch (error) {
    reporter.failed(error, delivery);
  }
}

/** Runs registered functions and returns the response. */
export async function attempt(
  reporter: Reporter,
  delivery: AnyReceived,
  work: () => Promise<void>,
): Promise<WebhookResponse> {
  try {
    await work();
    return createResponse(200, 'Handled');
  } catch (error) {
    if (isDoNotRetry(error)) return createResponse(200, 'Dropped');
    if (isRetryLater(error)) {
      const seconds = Math.min(Math.ceil(error.afterMs / 1000), MAX_RETRY_AFTER_SECONDS);
      return createResponse(503, 'Retry later', { 'retry-after': String(seconds) });
    }
    reporter.failed(error, delivery);
    return createResponse(500, 'The handler failed');
  }
}

/** The longest wait that the service accepts from a `Retry-After`. */
const MAX_RETRY_AFTER_SECONDS = 24 * 3600;
