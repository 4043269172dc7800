/** Splits the duration of an attempt into its parts, in order. Pure. */
import type { DeliveryAttempt } from '@sluice/kit/sluice';

export interface AttemptPart {
  name: 'dns' | 'connect' | 'tls' | 'wait' | 'body';
  ms: number;
  /** True if the part precedes sending. */
  isSetUp: boolean;
}

/** Returns the parts. Omits parts that took no time, except the wait. */
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

/** Whether the attempt reused a connection, so that no setup was needed. */
export const wentOverOpenConnection = ({ parts }: Pick<DeliveryAttempt, 'parts'>): boolean =>
  parts !== null && parts.connectMs === null && parts.waitMs !== null;
