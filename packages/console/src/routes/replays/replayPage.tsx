import type { Replay } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { RotateCw, X } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { isUnknownId } from '../../data/queries/service.ts';
import { replayProgressQuery, replayQuery } from '../../data/queries/replays.ts';
import { REPLAY_CONDITIONS } from './replayConditions.ts';
import { formatCount, formatDateTime, formatId } from '../../ui/text/format.ts';
import { formatKey } from '../../words/names.ts';
import { toSelectionCommand } from './replayCommands.ts';
import { progressOf } from '../../data/replayStatus.ts';
import { parseReplaySearch, type ReplaySearch } from '../../data/search.ts';
import { focusedRow, useActions } from '../../ui/keys/actionList.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { copyText } from '../../ui/text/copyText.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Status } from '../../ui/status.tsx';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { DeliveryExplorer } from '../deliveries/explorer.tsx';
import { CancelReplay } from './cancelReplay.tsx';
import { ReplayBar } from './replayBar.tsx';
import { describePace, useFilterWords } from './replayFacts.ts';
import { ReplayPace } from './new/replayPace.tsx';
import { DateTime } from '../../ui/text/time.tsx';
import { useNamePage } from '../../ui/pageTitle.ts';

const ReplayForm = lazy(async () => ({
  default: (await import('./new/replayForm.tsx')).ReplayForm,
}));

const GIVEN_UP = ['failed', 'quarantined'] as const;

/** Shows the progress of a replay and its deliveries. */
export function ReplayPage() {
  const { replayId } = useParams({ from: '/frame/replays/$replayId' });
  const search = useSearch({ from: '/frame/replays/$replayId' });
  const navigate = useNavigate({ from: '/replays/$replayId' });
  const replay = useQuery(replayQuery(replayId));
  useNamePage(replay.data?.name ?? formatId(replayId));
  if (replay.data === undefined) {
    if (isUnknownId(replay.error)) {
      return (
        <div className="p-4">
          <p className="font-medium">Replay not found</p>
          <p className="mt-1 text-muted">The link is incomplete or for another service.</p>
          <Link to="/replays" className={`${buttonClass('plain')} mt-3`}>
            View all replays
          </Link>
        </div>
      );
    }
    return replay.isError ? (
      <>
        <Breadcrumb to="/replays" title="Replays" here={replayId} />
        <ErrorPanel
          what="Couldn't load the replay"
          error={replay.error}
          onRetry={() => void replay.refetch()}
        />
      </>
    ) : (
      <Loading className="p-4" />
    );
  }
  return (
    <div className="flex h-full min-h-0 flex-col overflow-y-auto">
      <ReplayHeader replay={replay.data} search={search} />
      {replay.isError && (
        <ErrorPanel
          what="Couldn't refresh the replay"
          error={replay.error}
          onRetry={() => void replay.refetch()}
          stale
        />
      )}
      <div className="min-h-80 flex-1">
        <DeliveryExplorer
          key={replayId}
          search={search}
          onSearch={(next, replace) => {
            void navigate({ search: parseReplaySearch({ ...next }), replace });
          }}
          of={{ replay: replayId }}
        />
      </div>
    </div>
  );
}

function ReplayHeader({ replay, search }: { replay: Replay; search: ReplaySearch }) {
  const { id, name, filter, state, perSecond, failed, createdAt, updatedAt } = replay;
  const describe = useFilterWords();
  const { data: progress } = useQuery(replayProgressQuery(id));
  const [open, setOpen] = useState<'cancel' | 'again' | null>(null);
  const command = toSelectionCommand({ name, filter, perSecond });
  const mayReplay = failed > 0 && state !== 'running';
  const actions = useActions(() =>
    // While a delivery is open or focused, the action list applies to it instead of the replay.
    search.sel !== undefined || focusedRow() !== undefined
      ? null
      : {
          of: name,
          actions: [
            mayReplay && { label: 'Replay failed deliveries', run: () => setOpen('again') },
            state === 'running' && { label: 'Cancel…', run: () => setOpen('cancel') },
            {
              label: 'Copy command',
              run: () => void copyText(command, 'Command'),
            },
          ],
        },
  );
  return (
    <header>
      {actions}
      <Breadcrumb to="/replays" title="Replays" here={name} />
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 pt-1">
        <h2 className="max-w-full truncate text-16 font-semibold" data-cut>
          {name}
        </h2>
        <Status condition={REPLAY_CONDITIONS[state]} />
        <span className="ml-auto flex flex-wrap gap-2">
          {mayReplay && (
            <Button onClick={() => setOpen('again')}>
              <RotateCw size={14} strokeWidth={1.5} aria-hidden="true" />
              Replay {formatCount(failed)} failed
            </Button>
          )}
          {state === 'running' && (
            <Button onClick={() => setOpen('cancel')}>
              <X size={14} strokeWidth={1.5} aria-hidden="true" />
              Cancel…
            </Button>
          )}
        </span>
      </div>
      <p className="mt-1 px-4 break-words text-muted">{describe(filter)}</p>
      <p className="flex flex-wrap gap-x-4 px-4 pb-2 text-12 text-faint">
        <span>by {formatKey(replay.createdBy)}</span>
        <span className="data">
          <DateTime timeMs={createdAt} />
          {state !== 'running' && ` to ${formatDateTime(updatedAt).slice(11)}`}
        </span>
        <span className="data">{describePace(replay)}</span>
      </p>
      <ReplayBar replay={replay} className="w-full" />
      <Figures replay={replay} search={search} />
      {progress !== undefined && <ReplayPace progress={progress} />}
      <p className="flex items-center gap-1 border-b border-line px-4 py-1">
        <code className="data min-w-0 truncate text-faint" data-cut>
          {command}
        </code>
        <CopyButton text={command} label="Copy command" iconOnly />
      </p>
      {open === 'cancel' && <CancelReplay replay={replay} onClose={() => setOpen(null)} />}
      {open === 'again' && (
        <Dialog title="Replay failed deliveries" onClose={() => setOpen(null)}>
          <Suspense fallback={<Loading />}>
            <ReplayForm filter={{ replayId: id, state: GIVEN_UP }} name={`${name} again`} />
          </Suspense>
        </Dialog>
      )}
    </header>
  );
}

const COUNTS = [
  { state: undefined, label: 'replayed' },
  { state: 'succeeded', label: 'delivered' },
  { state: 'failed', label: 'failed' },
  { state: 'retrying', label: 'waiting' },
] as const;

/** Shows the counts of a replay. The counts of replayed deliveries link to these deliveries. */
function Figures({ replay, search }: { replay: Replay; search: ReplaySearch }) {
  const { replayed, succeeded, failed, waiting } = replay;
  const { total, left, elsewhere } = progressOf(replay);
  const counts = { replayed, delivered: succeeded, failed, waiting };
  return (
    <nav aria-label="Replayed deliveries" className="flex flex-wrap items-center gap-x-2 px-2 py-1">
      {COUNTS.map(({ state, label }) => (
        <Link
          key={label}
          from="/replays/$replayId"
          to="/replays/$replayId"
          search={state === undefined ? {} : { state }}
          replace
          activeProps={{}}
          aria-current={search.state === state ? 'true' : undefined}
          className="control inline-flex items-center gap-2 rounded-control px-2 hover:bg-raised aria-[current=true]:bg-raised"
        >
          <span className="text-12 text-muted">{label}</span>
          <span
            className={clsx(
              'font-mono text-14 font-medium',
              counts[label] === 0 ? 'text-faint' : label === 'failed' && 'text-bad',
            )}
          >
            {formatCount(counts[label])}
          </span>
          {state === undefined && <span className="data text-faint">of {formatCount(total)}</span>}
        </Link>
      ))}
      {left > 0 && (
        <span className="inline-flex items-center gap-2 px-2">
          <span className="text-12 text-muted">
            {replay.state === 'running' ? 'left' : 'not replayed'}
          </span>
          <span className="font-mono text-14 font-medium">{formatCount(left)}</span>
        </span>
      )}
      {elsewhere > 0 && (
        <span
          className="px-2 text-12 text-faint"
          data-tip="Replayed again later, or deleted by retention"
        >
          {formatCount(elsewhere)} replayed again or deleted
        </span>
      )}
    </nav>
  );
}
