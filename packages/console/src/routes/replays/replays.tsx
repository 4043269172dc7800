import type { Replay } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { RotateCw } from 'lucide-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { replaysQuery } from '../../data/queries/replays.ts';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import type { ReplaySearch } from '../../data/search.ts';
import { focusedRow, useActions } from '../../ui/keys/actionList.tsx';
import { Button, buttonClass, Keycap } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Loading } from '../../ui/loading.tsx';
import { useRowKeys } from '../../ui/keys/rowKeys.ts';
import { CancelReplay } from './cancelReplay.tsx';
import { ReplayRow } from './replayRow.tsx';

const NewReplay = lazy(async () => ({ default: (await import('./new/newReplay.tsx')).NewReplay }));

/** Lists bulk replays with their filters, creators, progress and results. */
export function ReplaysPage() {
  const replays = useQuery(replaysQuery);
  const table = useRef<HTMLTableElement>(null);
  const [isNew, setNew] = useState(false);
  useRowKeys(table);
  useShortcuts({ r: () => setNew(true) });
  const navigate = useNavigate();
  const [canceling, setCanceling] = useState<Replay | null>(null);
  const actions = useActions((at) => {
    const id = focusedRow(at);
    const replay = replays.data?.find((each) => each.id === id);
    if (replay === undefined) return null;
    const params = { replayId: replay.id };
    const open = (search: ReplaySearch): void =>
      void navigate({ to: '/replays/$replayId', params, search });
    return {
      of: replay.name,
      actions: [
        { label: 'Open', keycap: '↵', run: () => open({}) },
        { label: 'Show failed deliveries', run: () => open({ state: 'failed' }) },
        replay.state === 'running' && { label: 'Cancel…', run: () => setCanceling(replay) },
        { label: 'New replay', keycap: 'r', run: () => setNew(true) },
      ],
    };
  });
  return (
    <div className="min-w-0">
      {actions}
      {canceling !== null && <CancelReplay replay={canceling} onClose={() => setCanceling(null)} />}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2">
        <p className="text-12 text-muted max-sm:hidden">
          Replayed deliveries keep their IDs, so receivers can skip the ones they have handled.
        </p>
        <Button variant="primary" className="ml-auto" onClick={() => setNew(true)}>
          <RotateCw size={14} strokeWidth={1.5} aria-hidden="true" />
          New replay
          <kbd aria-hidden="true" className="font-mono text-11 pointer-coarse:hidden">
            r
          </kbd>
        </Button>
      </div>
      {replays.isError && (
        <ErrorPanel
          what="Couldn't load replays"
          error={replays.error}
          onRetry={() => void replays.refetch()}
          stale={replays.data !== undefined}
        />
      )}
      {replays.isPending && <Loading className="p-4" />}
      {replays.data?.length === 0 && <NoReplay />}
      {replays.data !== undefined && replays.data.length > 0 && (
        <table ref={table} className="w-full border-collapse">
          <caption className="sr-only">Replays</caption>
          <thead>
            <tr className="h-8 border-b border-line text-left max-sm:sr-only">
              <th scope="col" className="caps w-8 pl-4 md:w-26">
                <span className="max-md:sr-only">State</span>
              </th>
              <th scope="col" className="caps w-full px-2">
                Replay
              </th>
              <th scope="col" className="caps px-2 max-md:hidden">
                <span className="sr-only">Progress</span>
              </th>
              {['Replayed', 'Delivered', 'Failed', 'Pending', 'Left'].map((head) => (
                <th
                  key={head}
                  scope="col"
                  className="caps px-2 text-right whitespace-nowrap max-sm:hidden max-lg:nth-7:hidden max-lg:nth-8:hidden"
                >
                  {head}
                </th>
              ))}
              <th scope="col" className="caps px-2 text-right max-lg:hidden">
                Rate
              </th>
              <th scope="col" className="caps px-2 text-right max-sm:hidden">
                Started
              </th>
              <th scope="col" className="max-sm:hidden">
                <span className="sr-only">Actions</span>
              </th>
            </tr>
          </thead>
          {replays.data.map((replay) => (
            <ReplayRow key={replay.id} replay={replay} />
          ))}
        </table>
      )}
      {isNew && (
        <Dialog title="New replay" onClose={() => setNew(false)}>
          <Suspense fallback={<Loading />}>
            <NewReplay />
          </Suspense>
        </Dialog>
      )}
    </div>
  );
}

function NoReplay() {
  return (
    <div className="px-4 py-6">
      <p className="font-medium">No replays yet</p>
      <p className="mt-1 max-w-140 text-muted">
        Filter or select deliveries, e.g. all failures during an outage, then choose Replay…{' '}
        <Keycap>r</Keycap>
      </p>
      <p className="mt-1 max-w-140 text-muted">Sluice sends them again at the rate you choose.</p>
      <Link
        to="/deliveries"
        search={{ state: 'failed' }}
        className={`${buttonClass('plain')} mt-3`}
      >
        View failed deliveries
      </Link>
    </div>
  );
}
