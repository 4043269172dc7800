import type { ChainCoverage, DeliveryFilter, StreamSummary } from '@sluice/kit/sluice';
import { useId, useState } from 'react';
import type { WatchedChain } from '../../chains/timeline.ts';
import type { DeliveriesSearch } from '../../data/search.ts';
import { ReplayDialog } from '../replays/new/replayDialog.tsx';
import { Button } from '../../ui/button.tsx';
import { useWidth } from '../../ui/canvas/canvas.ts';
import { TimeAxis } from '../../ui/chart/timeAxis.tsx';
import { Segments } from '../../ui/form/segments.tsx';
import { useZone } from '../../ui/preferences.ts';
import { isChainDown } from '../../words/condition.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { type LaneRange, LaneView } from './laneView.tsx';
import { LEVELS, type LevelName } from './levels.ts';
import { type RiverLane, useRiverLanes } from './riverData.ts';
import { RiverTable } from './riverTable.tsx';

const LEGEND = [
  ['bg-text', 'confirmed'],
  ['border border-text', 'unconfirmed'],
  ['bg-info', 'waiting'],
  ['bg-bad', 'failed'],
  ['bg-reorg', 'undone'],
  ['border border-reorg', 'cancelled'],
  ['border-b-2 border-warn', 'unverified'],
] as const;

const NO_COVERAGE: readonly ChainCoverage[] = [];

/** The deliveries of a range of blocks or of a period on one chain. */
export type RiverSearch = Pick<
  DeliveriesSearch,
  'chain' | 'blockFrom' | 'blockTo' | 'from' | 'until'
>;

const toSearch = ({ chain, lane }: RiverLane, { from, to }: LaneRange): RiverSearch =>
  lane.unit === 'block'
    ? { chain: chain.id, blockFrom: from, blockTo: to }
    : { chain: chain.id, from, until: to };

const toFilter = (
  { chain, lane }: RiverLane,
  { from, to }: LaneRange,
  stream: StreamSummary | undefined,
): DeliveryFilter => ({
  chainId: chain.id,
  ...(stream !== undefined && { streamId: stream.id }),
  ...(lane.unit === 'block'
    ? { blockFrom: from, blockTo: to }
    : { createdFrom: from, createdTo: to }),
});

/**
 * Draws a lane per chain with its newest blocks or its past, newest at the right. A click lists the
 * deliveries of a block or step; a range can be listed, replayed or backfilled.
 */
export function River({
  chains,
  stream,
  coverage = NO_COVERAGE,
  Head,
  onOpen,
  onBackfill,
}: {
  chains: readonly WatchedChain[];
  /** Shows only the matches of this stream. Default: all streams. */
  stream?: StreamSummary;
  /** The coverage of the stream. Default: none. */
  coverage?: readonly ChainCoverage[] | undefined;
  /** The label of a lane. */
  Head: React.ComponentType<{ chain: WatchedChain }>;
  /** Lists deliveries. */
  onOpen: (search: RiverSearch) => void;
  /** Starts a backfill of the stream. Default: no backfill is offered. */
  onBackfill?: (search: RiverSearch) => void;
}) {
  useZone();
  const keysId = useId();
  const [levelName, setLevel] = useState<LevelName>('blocks');
  const [isTable, setTable] = useState(false);
  const [replaying, setReplaying] = useState<DeliveryFilter | null>(null);
  const [measure, width] = useWidth();
  const level = LEVELS.find(({ value }) => value === levelName)!;
  const { lanes, error, refetch } = useRiverLanes({
    chains,
    streamId: stream?.id,
    coverage,
    level,
    width,
  });
  return (
    <section aria-label="Blocks" className="border-b border-line px-4 py-2">
      <div className="flex flex-wrap items-center gap-x-4">
        <Segments label="Zoom" options={LEVELS} value={levelName} onChange={setLevel} />
        <Legend />
        <Button
          variant="quiet"
          className="ml-auto"
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? 'Hide table' : 'Show as table'}
        </Button>
      </div>
      {error !== null && (
        <ErrorPanel
          what="Couldn't load blocks"
          error={error}
          onRetry={refetch}
          stale={lanes.some(({ lane }) => lane.cells.length > 0)}
        />
      )}
      <p id={keysId} className="sr-only">
        Arrow keys move by blocks, Page Up and Page Down by ten, and Down goes to a removed block.
        Enter lists the deliveries. Shift with the arrow keys selects a range.
      </p>
      <div ref={measure} className="sm:ml-44" />
      <ul className="grid gap-y-1">
        {lanes.map((each) => (
          <li
            key={each.chain.id}
            data-stale={isChainDown(each.chain) || undefined}
            className="grid items-center sm:grid-cols-[160px_minmax(0,1fr)] sm:gap-x-4"
          >
            <div className="min-w-0">
              <Head chain={each.chain} />
            </div>
            {width > 0 && (
              <LaneView
                lane={each.lane}
                width={width}
                name={`Blocks of ${each.chain.name}`}
                describedBy={keysId}
                onOpen={(range) => onOpen(toSearch(each, range))}
                onReplay={(range) => setReplaying(toFilter(each, range, stream))}
                onBackfill={onBackfill && ((range) => onBackfill(toSearch(each, range)))}
              />
            )}
          </li>
        ))}
      </ul>
      {level.unit === 'step' && lanes[0] !== undefined && (
        <TimeAxis
          from={lanes[0].lane.cells[0]?.at ?? 0}
          stepMs={lanes[0].lane.step}
          count={lanes[0].lane.cells.length}
          width={width}
          className="sm:ml-44"
        />
      )}
      {isTable && (
        <RiverTable lanes={lanes} onOpen={(lane, range) => onOpen(toSearch(lane, range))} />
      )}
      {replaying !== null && (
        <ReplayDialog
          title="Replay deliveries"
          filter={replaying}
          stream={stream}
          name="from the chart of blocks"
          onClose={() => setReplaying(null)}
        />
      )}
    </section>
  );
}

function Legend() {
  return (
    <p aria-hidden="true" className="flex flex-wrap gap-x-3 text-11 text-faint max-md:hidden">
      {LEGEND.map(([look, word]) => (
        <span key={word} className="inline-flex items-center gap-1.5">
          <span className={`size-2 ${look}`} />
          {word}
        </span>
      ))}
    </p>
  );
}
