import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { countsQuery, oldestQuery } from '../../../data/queries/history.ts';
import { useNow } from '../../../ui/text/clock.ts';
import { formatCount, formatMoment } from '../../../ui/text/format.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Loading } from '../../../ui/loading.tsx';

const ReplayForm = lazy(async () => ({
  default: (await import('../../replays/new/replayForm.tsx')).ReplayForm,
}));

/**
 * Counts the stream's deliveries whose last attempt had this status, and offers to replay them.
 */
export function SimilarFailures({ streamId, status }: { streamId: string; status: number | null }) {
  const response = status === null ? 'none' : String(status);
  const filter = { streamId, status: response };
  const { data: counts, isPending } = useQuery(countsQuery(filter));
  const { data: oldest } = useQuery(oldestQuery(filter));
  const now = useNow();
  const [replaying, setReplaying] = useState(false);
  // Reserves the space while counting, because a failure is rarely the only one.
  if (isPending) return <div className="h-9" />;
  if (counts === undefined || counts.total < 2) return null;
  const count = `${formatCount(counts.total)}${counts.isCapped ? ' or more' : ''}`;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 pb-2">
      <p className="min-w-0 flex-1 basis-64">
        {count} deliveries failed the same way
        {oldest && (
          <span className="text-muted">
            {' '}
            since <time className="data">{formatMoment(oldest.createdAt, now)}</time>
          </span>
        )}
      </p>
      <Link
        to="/deliveries"
        search={{ stream: streamId, status: response }}
        className={buttonClass('quiet')}
      >
        Similar failures
      </Link>
      <Button onClick={() => setReplaying(true)}>Replay all {count}…</Button>
      {replaying && (
        <Dialog title="Replay deliveries" onClose={() => setReplaying(false)}>
          <Suspense fallback={<Loading />}>
            <ReplayForm
              filter={filter}
              name={`${response === 'none' ? 'no response' : response} after a fix`}
            />
          </Suspense>
        </Dialog>
      )}
    </div>
  );
}
