import { setTimeout as delay } from 'node:timers/promises';
import { isSluiceError } from '@sluice/kit';

const PASSING = new Set(['network_error', 'timeout', 'rate_limited', 'server_error']);
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 10_000;

/**
 * Retries a call while the service is unavailable or limits the rate, so that commands survive
 * outages.
 */
export async function retryWhileUnavailable<Result>(
  call: () => PromiseLike<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    try {
      return await call();
    } catch (error) {
      if (signal.aborted || !isSluiceError(error) || !PASSING.has(error.code)) throw error;
      await delay(waitMs, undefined, { signal });
    }
  }
}
