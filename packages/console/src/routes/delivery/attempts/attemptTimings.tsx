import type { DeliveryAttempt } from '@sluice/kit/sluice';
import { clsx } from 'clsx';
import { listParts, reusedConnection } from './attemptParts.ts';
import { formatCount } from '../../../ui/text/format.ts';

/**
 * Draws the duration of an attempt relative to the longest one. The parts before sending are
 * outlined; the later parts are filled.
 */
export function AttemptBar({
  attempt,
  longestMs,
}: {
  attempt: DeliveryAttempt;
  longestMs: number;
}) {
  const fill = attempt.error === null ? 'bg-line-strong' : 'bg-bad';
  const outline = attempt.error === null ? 'border-line-strong' : 'border-bad';
  const parts = listParts(attempt);
  const width = Math.max(1, (attempt.durationMs / longestMs) * 100);
  return (
    <span aria-hidden="true" className="h-1.5 min-w-8 flex-1">
      <span className="flex h-full gap-px" style={{ width: `${width}%` }}>
        {parts.length === 0 ? (
          <span className={`flex-1 ${fill}`} />
        ) : (
          parts.map(({ name, ms, isSetUp }) => (
            <span
              key={name}
              title={`${name} ${formatCount(ms)} ms`}
              className={clsx(
                'min-w-1 basis-0',
                isSetUp ? `border ${outline}` : fill,
                name === 'body' && 'opacity-50',
              )}
              style={{ flexGrow: ms }}
            />
          ))
        )}
      </span>
    </span>
  );
}

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
