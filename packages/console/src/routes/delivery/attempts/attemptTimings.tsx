import type { DeliveryAttempt } from '@sluice/kit/sluice';
import { listParts, reusedConnection } from './attemptParts.ts';
import { formatCount } from '../../../ui/text/format.ts';

/** Shows the parts as text, such as `dns 2 · tls 31 · wait 4,966 ms`. */
export function AttemptTimings({ attempt }: { attempt: DeliveryAttempt }) {
  const parts = listParts(attempt);
  if (parts.length === 0) return null;
  return (
    <span className="shrink-0">
      {[
        ...(reusedConnection(attempt) ? ['reused connection'] : []),
        ...parts.map(({ name, ms }) => `${name} ${formatCount(ms)}`),
      ].join(' · ')}
      {' ms'}
    </span>
  );
}
