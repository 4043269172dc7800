import { RetryableError } from '../base/errors.ts';

/** Rethrows a ledger failure as an outage, because it proves nothing about the stored values. */
export async function orOutage<T>(stored: Promise<T>): Promise<T> {
  try {
    return await stored;
  } catch (error) {
    throw new RetryableError('unavailable', `the ledger is unavailable: ${String(error)}`, {
      cause: error,
    });
  }
}
