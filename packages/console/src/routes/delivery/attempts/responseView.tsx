import type { DeliveryAttempt } from '@sluice/kit/sluice';
import { useState } from 'react';
import { formatClock, formatDuration } from '../../../ui/text/format.ts';
import { CopyButton } from '../../../ui/text/copyButton.tsx';
import { Select } from '../../../ui/form/field.tsx';
import { ScrollText } from '../../../ui/text/scrollText.tsx';
import { responseWord } from './responseWord.ts';

/**
 * Shows the receiver's response to one attempt, which the user can select. Default: the last
 * attempt.
 */
export function ResponseView({ attempts }: { attempts: readonly DeliveryAttempt[] }) {
  const [number, setNumber] = useState<number | null>(null);
  const attempt = attempts.find((each) => each.number === number) ?? attempts.at(-1);
  if (attempt === undefined) {
    return <p className="p-4 text-muted">No response yet. The delivery has not been sent.</p>;
  }
  return (
    <>
      <div className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-1">
        {attempts.length > 1 ? (
          <Select
            aria-label="Attempt"
            className="w-56 max-sm:w-44"
            value={attempt.number}
            onChange={(event) => setNumber(Number(event.target.value))}
          >
            {attempts.map((each) => (
              <option key={each.number} value={each.number}>
                {`#${each.number}  ${formatClock(each.startedAt)}  ${responseWord(each)}`}
              </option>
            ))}
          </Select>
        ) : (
          <span className="data text-faint">#{attempt.number}</span>
        )}
        <span className={`data font-medium ${attempt.error === null ? '' : 'text-bad'}`}>
          {responseWord(attempt)}
        </span>
        <span className="data text-muted">{formatDuration(attempt.durationMs)}</span>
        {attempt.responseBody !== '' && (
          <span className="ml-auto">
            <CopyButton text={attempt.responseBody} label="Copy response" iconOnly />
          </span>
        )}
      </div>
      {attempt.status === null && attempt.error !== null && (
        <p className="border-b border-line px-4 py-2 break-words text-bad">{attempt.error}</p>
      )}
      {attempt.responseBody === '' ? (
        <p className="p-4 text-muted">
          {attempt.status === null ? 'No response.' : 'The response has no body.'}
        </p>
      ) : (
        <ScrollText label={`Response to attempt ${attempt.number}`} wrap className="flex-1">
          {attempt.responseBody}
        </ScrollText>
      )}
    </>
  );
}
