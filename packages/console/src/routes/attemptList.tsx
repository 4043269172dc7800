import type { DeliveryAttempt, DeliveryDetail } from '@sluice/kit/sluice';
import { useNow } from '../clock.ts';
import { formatClock, formatDateTime, formatDue, formatDuration } from '../format.ts';
import { attemptGuidance } from '../guidance.ts';
import { CopyButton } from '../ui/copyButton.tsx';
import { ScrollText } from '../ui/scrollText.tsx';
import { StatusShape } from '../ui/status.tsx';

/** Every HTTP try, newest first: the last one says how things stand. */
export function AttemptList({ delivery }: { delivery: DeliveryDetail }) {
  const now = useNow();
  const { attemptList, nextAttemptAt, state } = delivery;
  const newest = attemptList.at(-1);
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      {nextAttemptAt !== null && (state === 'pending' || state === 'leased') && (
        <p className="border-b border-line px-4 py-2 text-warn">
          Attempt {attemptList.length + 1} {formatDue(nextAttemptAt, now)}
          <span className="data ml-2 text-muted">{formatDateTime(nextAttemptAt)}</span>
        </p>
      )}
      {attemptList.length === 0 && <p className="px-4 py-3 text-muted">Not sent yet.</p>}
      <ol className="flex flex-col-reverse">
        {attemptList.map((attempt) => (
          <Attempt key={attempt.number} attempt={attempt} advise={attempt === newest} />
        ))}
      </ol>
    </div>
  );
}

function Attempt({ attempt, advise }: { attempt: DeliveryAttempt; advise: boolean }) {
  const { number, startedAt, durationMs, status, error, responseBody, webhookUrl } = attempt;
  const ok = error === null;
  const guidance = advise ? attemptGuidance(attempt) : null;
  return (
    <li className="border-b border-line px-4 py-2">
      <div className="flex flex-wrap items-center gap-x-3">
        <span className="data text-faint">#{number}</span>
        <span className="inline-flex items-center gap-1.5">
          <StatusShape
            condition={
              ok
                ? { shape: 'disc', word: 'answered', tone: 'ok' }
                : { shape: 'triangle', word: 'failed', tone: 'bad' }
            }
          />
          <span className={`data font-medium ${ok ? '' : 'text-bad'}`}>
            {status ?? 'no answer'}
          </span>
        </span>
        <time
          dateTime={new Date(startedAt).toISOString()}
          title={formatDateTime(startedAt)}
          className="data"
        >
          {formatClock(startedAt)}
        </time>
        <span className="data ml-auto">{formatDuration(durationMs)}</span>
      </div>
      <p className="data truncate text-faint" title={webhookUrl}>
        POST {webhookUrl}
      </p>
      {error !== null && <p className="mt-1 break-words text-bad">{error}</p>}
      {guidance !== null && <p className="mt-1 text-muted">{guidance}</p>}
      {responseBody !== '' && (
        <div className="relative mt-2">
          <ScrollText
            label={`Answer to attempt ${number}`}
            wrap
            className="max-h-48 rounded-control border border-line bg-bg"
          >
            {responseBody}
          </ScrollText>
          <CopyButton
            text={responseBody}
            label="Copy answer"
            iconOnly
            className="absolute top-1 right-1"
          />
        </div>
      )}
    </li>
  );
}
