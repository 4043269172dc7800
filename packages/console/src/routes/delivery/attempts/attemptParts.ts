/** Splits the duration of an attempt into its parts, in order. */
import type { DeliveryAttempt } from '@sluice/kit/sluice';

export interface AttemptPart {
  name: 'dns' | 'connect' | 'tls' | 'wait' | 'body';
  ms: number;
  /** True if the part ends before the request is sent. */
  isSetUp: boolean;
}

/**
 * Returns the parts of an attempt; empty if they were not measured. Omits parts that did not happen
 * or took no time, except a wait of 0 ms.
 */
export function listParts({ parts }: Pick<DeliveryAttempt, 'parts'>): AttemptPart[] {
  if (parts === null) return [];
  const all = [
    { name: 'dns', ms: parts.dnsMs, isSetUp: true },
    { name: 'connect', ms: parts.connectMs, isSetUp: true },
    { name: 'tls', ms: parts.tlsMs, isSetUp: true },
    { name: 'wait', ms: parts.waitMs, isSetUp: false },
    { name: 'body', ms: parts.bodyMs, isSetUp: false },
  ] as const;
  return all.flatMap(({ name, ms, isSetUp }) =>
    ms === null || (ms === 0 && name !== 'wait') ? [] : [{ name, ms, isSetUp }],
  );
}

/** Returns whether the attempt reused an open connection, so that it needed no setup. */
export const reusedConnection = ({ parts }: Pick<DeliveryAttempt, 'parts'>): boolean =>
  parts !== null && parts.connectMs === null && parts.waitMs !== null;
