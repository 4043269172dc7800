import type { StreamChange, StreamSummary } from '@sluice/kit/sluice';
import { Button } from '../../../ui/button.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { formatDateTime, formatMoment, formatQuantity } from '../../../ui/text/format.ts';
import { describeChange } from './streamChanges.ts';

/** Number of changes that are initially shown. */
const SHOWN = 8;

/** Lists the changes to the stream, newest first. The list ends with the creation of the stream. */
export function ChangeList({
  changes,
  stream,
  onCompare,
}: {
  changes: readonly StreamChange[];
  stream: Pick<StreamSummary, 'createdAt'>;
  /** Compares the time since a change with as much time before it. */
  onCompare: (at: number) => void;
}) {
  const older = changes.slice(SHOWN);
  return (
    <section aria-label="Changes" className="mt-6 max-w-160">
      <h3 className="caps mb-1">Changes</h3>
      <ul>
        {changes.slice(0, SHOWN).map((change) => (
          <Change
            key={`${change.at} ${change.kind}`}
            at={change.at}
            words={describeChange(change)}
            onCompare={onCompare}
          />
        ))}
        {older.length === 0 && <Change at={stream.createdAt} words="created" />}
      </ul>
      {older.length > 0 && (
        <details>
          <summary className="flex min-h-7 cursor-pointer items-center text-12 text-muted">
            {formatQuantity(older.length, 'older change')}
          </summary>
          <ul>
            {older.map((change) => (
              <Change
                key={`${change.at} ${change.kind}`}
                at={change.at}
                words={describeChange(change)}
                onCompare={onCompare}
              />
            ))}
            <Change at={stream.createdAt} words="created" />
          </ul>
        </details>
      )}
    </section>
  );
}

function Change({
  at,
  words,
  onCompare,
}: {
  at: number;
  words: string;
  /** Undefined if there is nothing before. */
  onCompare?: (at: number) => void;
}) {
  const now = useNow();
  return (
    <li className="flex flex-wrap items-center gap-x-4 border-b border-line py-1">
      <time
        dateTime={new Date(at).toISOString()}
        data-tip={formatDateTime(at)}
        className="data text-muted"
      >
        {formatMoment(at, now)}
      </time>
      <span className="min-w-0 flex-1 wrap-anywhere">{words}</span>
      {onCompare !== undefined && (
        <Button variant="quiet" onClick={() => onCompare(at)}>
          Compare before and after
        </Button>
      )}
    </li>
  );
}
