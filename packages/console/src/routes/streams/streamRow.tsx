import type { DeliverySummary } from '@sluice/kit/sluice';
import { Link } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { memo } from 'react';
import { useNow } from '../../ui/text/clock.ts';
import { pausedWords, streamReason, streamScope } from '../../words/condition.ts';
import {
  isFailing,
  useChainReason,
  useLatestDelivery,
  useRetries,
  type FleetStream,
} from '../../data/fleet.ts';
import { formatCount, formatDuration } from '../../ui/text/format.ts';
import { useLoading } from '../../ui/keys/heldKeys.ts';
import { MoreButton } from '../../ui/keys/actionList.tsx';
import { useMedia } from '../../ui/media.ts';
import { nameOfStream } from '../../words/names.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { Button, buttonClass, ROW_ICON } from '../../ui/button.tsx';
import { Sparkline } from '../../ui/chart/sparkline.tsx';
import { RowMark } from '../../ui/list/rowMarks.tsx';
import { Status } from '../../ui/status.tsx';
import { Ago } from '../../ui/text/time.tsx';
import { useStatusToggle } from '../stream/statusToggle.ts';
import { StreamTimeline } from './streamTimeline.tsx';

/** Number of blocks in the timelines of a row, divided among the chains that it shows. */
const TIMELINE_LENGTH = 60;
const SHOWN_TIMELINES = 2;

/** Shows a stream in the table. Memoized, so that scrolling does not render it again. */
export const StreamRow = memo(function StreamRow({
  row,
  chains,
  deliveries,
  since,
  rowIndex,
  marked,
  onMark,
  ref,
}: {
  row: FleetStream;
  chains: ReadonlyMap<string, WatchedChain>;
  /** The stream's newest deliveries. */
  deliveries: readonly DeliverySummary[];
  /** Deliveries created before this time, in Unix milliseconds, may be missing. */
  since: number;
  /** Number of the row in the table. The header is row 1. */
  rowIndex: number;
  marked: boolean;
  onMark: (id: string, through: boolean) => void;
  ref: React.Ref<HTMLTableSectionElement>;
}) {
  const { stream, condition } = row;
  const { setStatus, toggle } = useStatusToggle(stream);
  const name = nameOfStream(stream);
  const paused = stream.status === 'paused';
  const mayChange = stream.status !== 'terminated';
  // Narrower screens have no room for timelines.
  const hasRoom = useMedia('(min-width: 1240px)');
  // For a paused stream, the row shows who paused it instead of timelines.
  const drawn =
    hasRoom && !paused
      ? stream.chainIds.flatMap((id) => chains.get(id) ?? []).slice(0, SHOWN_TIMELINES)
      : [];
  const timelineLength = Math.floor(TIMELINE_LENGTH / Math.max(1, drawn.length));

  return (
    <tbody
      ref={ref}
      data-row={stream.id}
      className="group border-b border-line focus-within:bg-raised hover:bg-raised"
    >
      <tr aria-rowindex={rowIndex} className="h-row max-sm:h-row-of-two">
        <td className="relative pr-2 pl-4">
          <span className="mark-cell -left-1 max-md:hidden">
            <RowMark id={stream.id} label={name} marked={marked} onMark={onMark} />
          </span>
          <Status condition={condition} className="sm:w-20 max-sm:[&>:last-child]:sr-only" />
        </td>
        <NameCell row={row} />
        <ChainsCell row={row} chains={chains} />
        <td className="px-2 max-lg:hidden">
          <div
            data-stale={row.down.length > 0 || undefined}
            className="flex w-[180px] justify-between"
          >
            {paused && <PausedBy stream={stream} />}
            {drawn.map((chain) => (
              <StreamTimeline
                key={chain.id}
                chain={chain}
                streamId={stream.id}
                deliveries={deliveries}
                since={since}
                length={timelineLength}
                label={`Matches of ${name} in the last ${timelineLength} blocks of ${chain.name}`}
              />
            ))}
          </div>
        </td>
        <td className="px-2 max-lg:hidden">
          <Sparkline
            values={stream.hourlyDelivered}
            label={`Deliveries of ${name} per hour, last 24 hours`}
          />
        </td>
        <FigureCells stream={stream} />
        <td className="pr-2 text-right whitespace-nowrap">
          {mayChange && (
            <Button
              data-pause
              variant="quiet"
              square
              className={`-my-0.5 max-sm:hidden ${ROW_ICON}`}
              aria-label={paused ? `Resume ${name}` : `Pause ${name}`}
              data-tip={paused ? 'Resume (p)' : 'Pause (p)'}
              onClick={toggle}
            >
              {paused ? (
                <Play size={14} strokeWidth={1.5} aria-hidden="true" />
              ) : (
                <Pause size={14} strokeWidth={1.5} aria-hidden="true" />
              )}
            </Button>
          )}
          <MoreButton of={name} className={`-my-0.5 ${ROW_ICON}`} />
        </td>
      </tr>
      <ReasonRow row={row} onPause={mayChange ? toggle : null} />
      {setStatus.isError && (
        <tr>
          <td colSpan={11} className="pr-2 pb-2 pl-10.5 sm:pl-28">
            <p role="alert" className="text-bad">
              {setStatus.variables === 'paused'
                ? `Couldn't pause ${name}: `
                : `Couldn't resume ${name}: `}
              {setStatus.error.message}
            </p>
          </td>
        </tr>
      )}
    </tbody>
  );
});

function NameCell({ row: { stream, condition } }: { row: FleetStream }) {
  const name = nameOfStream(stream);
  const scope = streamScope(stream);
  return (
    <td className="w-full max-w-0 px-2">
      <div className="flex min-w-0 items-baseline gap-3">
        <Link
          data-row-link={stream.id}
          to="/streams/$streamId"
          params={{ streamId: stream.id }}
          data-tip={stream.description || undefined}
          data-cut
          className="inline-block min-h-6 max-w-full min-w-0 shrink-0 truncate py-0.5 font-medium hover:underline"
        >
          {name}
        </Link>
        <span
          data-cut
          className={`min-w-0 flex-1 truncate text-12 max-sm:hidden ${scope.unscoped ? 'text-warn' : 'text-faint'}`}
        >
          {scope.unscoped && (
            <span aria-hidden="true" className="mr-1 font-semibold">
              !
            </span>
          )}
          {scope.text}
        </span>
      </div>
      <p className="truncate text-12 text-faint sm:hidden">
        {/* Screen readers read the condition from its own column. */}
        <span aria-hidden="true">{condition.word} · </span>
        {formatCount(stream.delivered24h)} delivered
        {stream.lastDeliveryAt !== null && (
          <>
            {' · '}
            <Ago timeMs={stream.lastDeliveryAt} />
          </>
        )}
      </p>
    </td>
  );
}

function ChainsCell({
  row: { stream, down },
  chains,
}: {
  row: FleetStream;
  chains: ReadonlyMap<string, WatchedChain>;
}) {
  return (
    <td className="px-2 max-md:hidden">
      <span className="data flex gap-2">
        {stream.chainIds.map((id) => (
          <span
            key={id}
            data-tip={chains.get(id)?.name ?? id}
            className={down.includes(id) ? 'text-bad' : chains.has(id) ? 'text-muted' : 'text-warn'}
          >
            {chains.get(id)?.code ?? id}
          </span>
        ))}
      </span>
    </td>
  );
}

/**
 * Shows the deliveries, failed attempts and p95 of the last 24 hours, the length of the queue, and
 * the time of the last delivery.
 */
function FigureCells({ stream }: { stream: FleetStream['stream'] }) {
  return (
    <>
      <td className="data px-2 text-right max-sm:hidden">{formatCount(stream.delivered24h)}</td>
      <td
        className={`data px-2 text-right ${stream.failedAttempts24h > 0 ? 'text-bad' : 'text-faint'}`}
      >
        {formatCount(stream.failedAttempts24h)}
      </td>
      <td className="data px-2 text-right whitespace-nowrap text-muted max-md:hidden">
        {stream.p95Ms === null ? '–' : formatDuration(stream.p95Ms)}
      </td>
      <td
        className={`data px-2 text-right max-sm:hidden ${stream.queue === 0 ? 'text-faint' : ''}`}
      >
        {formatCount(stream.queue)}
      </td>
      <td className="data px-2 text-right whitespace-nowrap text-muted max-sm:hidden">
        {stream.lastDeliveryAt === null ? '–' : <Ago timeMs={stream.lastDeliveryAt} />}
      </td>
    </>
  );
}

/**
 * Shows who paused a stream, and when. This is a separate component, so that the clock does not
 * rerender the rest of the row.
 */
function PausedBy({ stream }: { stream: FleetStream['stream'] }) {
  const words = pausedWords(stream, useNow());
  return (
    <span data-cut className="truncate text-12 text-faint">
      {words}
    </span>
  );
}

/**
 * Shows the problems of a stream and of its chains, with links to details. A failing stream can be
 * paused.
 */
function ReasonRow({ row, onPause }: { row: FleetStream; onPause: (() => void) | null }) {
  const { stream, condition } = row;
  const latest = useLatestDelivery(row);
  const retries = useRetries(isFailing(row) ? latest : undefined);
  const now = useNow();
  const ofChains = useChainReason(row, now);
  const own = streamReason(stream, latest, now, retries);
  if (ofChains === null && own === null) return null;
  const reason = [ofChains, own].filter((part) => part !== null).join(' · ');
  return (
    <tr>
      <td colSpan={11} className="max-w-0 pr-2 pb-2 pl-10.5 sm:pl-28">
        {/* On wide screens, each reason takes one line, so that the height is constant. */}
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1 md:flex-nowrap">
          <span
            data-cut
            className={`min-w-0 wrap-anywhere md:truncate ${condition.tone === 'bad' ? 'text-text' : 'text-muted'}`}
          >
            {reason}
          </span>
          {ofChains !== null && (
            <Link to="/chains" className={`${buttonClass('plain')} shrink-0`}>
              Chains
            </Link>
          )}
          {isFailing(row) && (
            <span className="flex flex-wrap gap-2 md:shrink-0 md:flex-nowrap">
              <Link
                to="/streams/$streamId"
                params={{ streamId: stream.id }}
                search={
                  latest === undefined || latest.error === null
                    ? { state: 'failed' }
                    : { sel: latest.id, view: 'response' }
                }
                className={buttonClass('plain')}
              >
                {latest === undefined || latest.error === null
                  ? 'Failed deliveries'
                  : 'Inspect failure'}
              </Link>
              {onPause !== null && <Button onClick={onPause}>Pause</Button>}
            </span>
          )}
        </div>
      </td>
    </tr>
  );
}

/** A placeholder with the height of a row, so that the layout is stable when the rows load. */
export function StreamRowSkeleton() {
  useLoading();
  return (
    <tbody aria-hidden="true" className="animate-late border-b border-line">
      <tr className="h-row max-sm:h-row-of-two">
        <td colSpan={11} className="pr-4 pl-4">
          <span className="sr-only">Loading</span>
          <div className="flex items-center gap-4">
            <div className="size-2.5 rounded-full bg-line" />
            <div className="h-2.5 w-40 rounded-[2px] bg-line md:ml-16" />
            <div className="h-2.5 flex-1 rounded-[2px] bg-raised max-sm:hidden" />
          </div>
        </td>
      </tr>
    </tbody>
  );
}
