/** Reloads what an outage kept from loading, so that pages recover without a click. */
import { isSluiceError } from '@sluice/kit/sluice';
import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';

/** Interval of retries while the live connection is open, as during an outage of the database. */
const RETRY_MS = 3_000;

/** Returns whether an error may pass without a change by the user. */
export const isOutage = (error: unknown): boolean =>
  isSluiceError(error) &&
  ['network_error', 'timeout', 'rate_limited', 'server_error'].includes(error.code);

/**
 * Returns whether a visible query failed in an outage. Excludes a list that only failed to load
 * more rows, because all of its rows would be reloaded.
 */
const hasFailed = (query: Query): boolean =>
  query.isActive() &&
  query.state.fetchStatus === 'idle' &&
  query.state.fetchMeta?.fetchMore === undefined &&
  isOutage(query.state.error);

/** Reloads the visible queries that failed in an outage. */
export function retryFailed(queryClient: QueryClient): Promise<void> {
  return queryClient.refetchQueries({ predicate: hasFailed });
}

/** Calls a function repeatedly while an outage may end at any time. */
export function useRetries(isOn: boolean, retry: () => void): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(retry, RETRY_MS);
    return () => clearInterval(timer);
  }, [isOn, retry]);
}

/** Retries what failed in an outage that left the live connection open. */
export function useRecovery(isLive: boolean): void {
  const queryClient = useQueryClient();
  const retry = useCallback(() => void retryFailed(queryClient), [queryClient]);
  useRetries(isLive, retry);
}
