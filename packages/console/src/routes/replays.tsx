import type { DeliveryFilter, Replay } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { replaysQuery, sluice, streamsQuery } from '../api.ts';
import { REPLAY_CONDITIONS } from '../condition.ts';
import { formatCount, formatDateTime, formatQuantity } from '../format.ts';
import { withLatest } from '../liveCache.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { ErrorPanel } from '../ui/errorPanel.tsx';
import { Status } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';

/** Deliveries sent again, many at a time: what for, how far, and what came of it. */
export function ReplaysPage() {
  const replays = useQuery(replaysQuery);
  return (
    <>
      {replays.isError && (
        <ErrorPanel
          what="The replays could not be read"
          error={replays.error}
          onRetry={() => void replays.refetch()}
          stale={replays.data !== undefined}
        />
      )}
      {replays.isPending && <p className="animate-late p-4 text-faint">Loading</p>}
      {replays.data?.length === 0 && (
        <div className="px-4 py-6">
          <p className="font-medium">Nothing replayed yet</p>
          <p className="mt-1 text-muted">
            Filter the deliveries to those that shall be sent again, all failures of an outage for
            one, and choose Replay.
          </p>
          <Link
            to="/deliveries"
            search={{ state: 'failed' }}
            className={`${buttonClass('primary')} mt-3`}
          >
            Failed deliveries
          </Link>
        </div>
      )}
      <ul aria-label="Replays">
        {replays.data?.map((replay) => (
          <ReplayRow key={replay.id} replay={replay} />
        ))}
      </ul>
    </>
  );
}

function ReplayRow({ replay }: { replay: Replay }) {
  const queryClient = useQueryClient();
  const { data: streams = [] } = useQuery(streamsQuery);
  const { id, name, filter, perSecond, state, total, replayed } = replay;
  const cancel = useMutation({
    mutationFn: () => sluice.cancelReplay(id),
    onSuccess: (changed) =>
      queryClient.setQueryData(replaysQuery.queryKey, (all) => withLatest(all ?? [], changed)),
  });
  const nameOf = (streamId: string): string =>
    streams.find((stream) => stream.id === streamId)?.tag ?? streamId;
  return (
    <li className="border-b border-line px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <Status condition={REPLAY_CONDITIONS[state]} />
        <h2 className="min-w-0 truncate font-medium">
          <Link
            to="/deliveries"
            search={{ replay: id }}
            title="What it has sent again"
            className="inline-block min-w-6 leading-6"
          >
            {name}
          </Link>
        </h2>
        <span className="data text-faint" title={formatDateTime(replay.createdAt)}>
          <Ago timeMs={replay.createdAt} />
        </span>
        {state === 'running' && (
          <Button
            look="quiet"
            className="ml-auto"
            disabled={cancel.isPending}
            onClick={() => cancel.mutate()}
          >
            Cancel
          </Button>
        )}
      </div>
      <p className="mt-1 break-words text-muted">{describeFilter(filter, nameOf)}</p>
      <div className="mt-1 flex flex-wrap items-center gap-x-4 gap-y-1">
        {state === 'running' && (
          <progress
            aria-label={`${name}: deliveries made due`}
            value={replayed}
            max={Math.max(1, total)}
            className="h-1.5 min-w-40 flex-1 accent-accent"
          />
        )}
        <span className="data">
          {formatCount(replayed)} of {formatCount(total)}
        </span>
        <span className="text-muted">at {formatCount(perSecond)} a second</span>
        <span className="text-muted">{formatCount(replay.succeeded)} delivered</span>
        {replay.failed > 0 && (
          <Link
            to="/deliveries"
            search={{ state: 'failed', replay: id }}
            className="text-bad leading-6 underline underline-offset-2"
          >
            {formatQuantity(replay.failed, 'failure')}
          </Link>
        )}
        {replay.waiting > 0 && (
          <span className="text-muted">{formatCount(replay.waiting)} waiting</span>
        )}
      </div>
      {cancel.isError && <p className="mt-1 text-bad">{cancel.error.message}</p>}
    </li>
  );
}

/** `failed · 5xx · deposits · after 2026-11-21 10:42:00`. */
function describeFilter(filter: DeliveryFilter, nameOf: (streamId: string) => string): string {
  const { streamId, chainId, state, phase, status, error, createdFrom, createdTo } = filter;
  const { id, reorged, attemptsFrom, attemptsTo } = filter;
  const listed = [state, phase, chainId].flatMap((value) => value ?? []);
  const answers = [status].flatMap((value) => value ?? []);
  return [
    ...(id === undefined
      ? []
      : [`${formatQuantity([id].flat().length, 'delivery', 'deliveries')} chosen one by one`]),
    ...listed,
    ...answers.map((answer) => (answer === 'none' ? 'no answer' : answer)),
    ...[streamId].flatMap((value) => value ?? []).map(nameOf),
    ...(error === undefined ? [] : [`“${error}”`]),
    ...(reorged === undefined ? [] : [reorged ? 'block left the chain' : 'still on the chain']),
    ...(attemptsFrom === undefined ? [] : [`tried ${attemptsFrom} times or more`]),
    ...(attemptsTo === undefined ? [] : [`tried ${attemptsTo} times or less`]),
    ...(filter.blockFrom === undefined ? [] : [`from block ${formatCount(filter.blockFrom)}`]),
    ...(filter.blockTo === undefined ? [] : [`to block ${formatCount(filter.blockTo)}`]),
    ...(createdFrom === undefined ? [] : [`after ${formatDateTime(createdFrom)}`]),
    ...(createdTo === undefined ? [] : [`before ${formatDateTime(createdTo)}`]),
  ].join(' · ');
}
