import type { Replay } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { replayQuery } from '../../data/queries/replays.ts';
import { REPLAY_CONDITIONS } from './replayConditions.ts';
import { formatCount } from '../../ui/text/format.ts';
import { formatKey } from '../../words/names.ts';
import { isOpen, progressOf } from '../../data/replayStatus.ts';
import { Status } from '../../ui/status.tsx';
import { Ago } from '../../ui/text/time.tsx';
import { ROW_ICON } from '../../ui/button.tsx';
import { MoreButton } from '../../ui/keys/actionList.tsx';
import { ReplayBar } from './replayBar.tsx';
import { describePace, useFilterWords } from './replayFacts.ts';

/** Shows a replay in two lines: its name and figures, then its filter. */
export function ReplayRow({ replay: listed }: { replay: Replay }) {
  const { data: followed = listed } = useQuery({
    ...replayQuery(listed.id),
    enabled: isOpen(listed),
  });
  // A replay whose deliveries have all ended no longer changes.
  const replay = isOpen(listed) ? followed : listed;
  const describe = useFilterWords();
  const { id, name, state, replayed, succeeded, failed, waiting, createdAt } = replay;
  const { total, left } = progressOf(replay);
  const words = describe(replay.filter);
  return (
    <tbody data-row className="group border-b border-line focus-within:bg-raised hover:bg-raised">
      <tr className="h-row">
        <td className="pr-2 pl-4">
          <Status condition={REPLAY_CONDITIONS[state]} className="max-md:[&>:last-child]:sr-only" />
        </td>
        <td className="w-full max-w-0 px-2">
          <Link
            data-row-link={id}
            to="/replays/$replayId"
            params={{ replayId: id }}
            search={failed > 0 ? { state: 'failed' } : {}}
            data-cut
            className="inline-block min-h-6 max-w-full truncate py-0.5 align-bottom font-medium hover:underline"
          >
            {name}
          </Link>
        </td>
        <td className="px-2 max-md:hidden">
          <ReplayBar replay={replay} className="w-40" />
        </td>
        <td className="data px-2 text-right whitespace-nowrap">
          {formatCount(replayed)}
          <span className="text-faint max-sm:hidden"> of {formatCount(total)}</span>
          <span className="text-faint sm:hidden"> replayed</span>
        </td>
        <Figure count={succeeded} className="max-sm:hidden" />
        <Figure count={failed} className={clsx('max-sm:hidden', failed > 0 && 'text-bad')} />
        <Figure count={waiting} className="max-lg:hidden" />
        <Figure count={left} className="max-lg:hidden" />
        <td className="data px-2 text-right whitespace-nowrap text-muted max-lg:hidden">
          {describePace(replay)}
        </td>
        <td className="data px-2 text-right whitespace-nowrap text-muted max-sm:hidden">
          <Ago timeMs={createdAt} />
        </td>
        <td className="pr-2">
          <MoreButton of={name} className={ROW_ICON} />
        </td>
      </tr>
      <tr>
        <td aria-hidden="true" />
        <td colSpan={10} className="pr-4 pb-2 pl-2">
          <div className="mb-1 flex items-center gap-3 md:hidden">
            <ReplayBar replay={replay} className="w-24" />
            <span className="data text-muted">
              {formatCount(succeeded)} delivered
              {failed > 0 && <span className="text-bad">, {formatCount(failed)} failed</span>}
            </span>
          </div>
          <p className="flex flex-wrap gap-x-4 text-12">
            <span className="min-w-0 text-muted">{words}</span>
            <span className="text-faint">by {formatKey(replay.createdBy)}</span>
          </p>
        </td>
      </tr>
    </tbody>
  );
}

function Figure({ count, className }: { count: number; className: string }) {
  return (
    <td className={clsx('data px-2 text-right', count === 0 && 'text-faint', className)}>
      {formatCount(count)}
    </td>
  );
}
