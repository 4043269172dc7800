/** Converts the fields of a stream to the values of its columns. */
import type { StreamLimits } from '@sluice/kit/contract';
import type { StreamRecord } from './contract.ts';

export const toOAuth2Value = (oauth2: StreamRecord['oauth2']): string | null =>
  oauth2 === null ? null : JSON.stringify(oauth2);

export const toLimitValues = (limits: StreamLimits) => ({
  max_in_flight: limits.maxInFlight,
  max_per_second: limits.maxPerSecond,
  strict_order: Number(limits.strictOrder),
  timeout_seconds: limits.timeoutSeconds,
  retries: JSON.stringify(limits.retries),
});
