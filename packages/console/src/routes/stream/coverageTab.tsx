import type { ChainCoverage, Job, JobState, StreamSummary } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { chainsQuery } from '../../data/queries/chains.ts';
import { coverageQuery, jobsQuery, startBackfill } from '../../data/queries/streams.ts';
import { queryKeys, sluice } from '../../data/queries/service.ts';
import type { StreamSearch } from '../../data/search.ts';
import { formatCount, formatQuantity } from '../../ui/text/format.ts';
import { withLatest } from '../../data/live/liveCache.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { Button } from '../../ui/button.tsx';
import { DestinationField } from '../../words/destinationField.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { HOLE_WORDS } from '../../words/holes.ts';
import { Select, TextField } from '../../ui/form/field.tsx';
import { type Condition, Status } from '../../ui/status.tsx';
import { Ago } from '../../ui/text/time.tsx';
import { ByRange, FIRST_RANGES, MORE_RANGES, Unverified } from './coveredRanges.tsx';
import { condition } from '../../words/condition.ts';

const JOB_CONDITIONS: Record<JobState, Condition> = {
  running: condition('half', 'running', 'info'),
  paused: condition('bars', 'paused', 'muted'),
  done: condition('disc', 'done', 'ok'),
  cancelled: condition('cross', 'canceled', 'faint'),
  failed: condition('triangle', 'failed', 'bad'),
};

/**
 * Shows which blocks the stream was matched against and which it missed, lists its backfills, and
 * starts new ones.
 */
export function CoverageTab({ stream }: { stream: StreamSummary }) {
  const coverage = useQuery(coverageQuery(stream.id));
  const jobs = useQuery(jobsQuery(stream.id));
  const { data: chains = [] } = useQuery(chainsQuery);
  const search = useSearch({ from: '/frame/streams/$streamId' });
  const [range, setRange] = useState<Range | null>(() => toRange(search));
  const chainOf = (id: string): WatchedChain | undefined => chains.find((each) => each.id === id);

  return (
    <div className="max-w-180">
      <section aria-label="Coverage" className="border-b border-line px-4 py-4">
        <h3 className="caps mb-2">Blocks matched against this stream</h3>
        {coverage.isError && (
          <ErrorPanel
            what="Couldn't load coverage"
            error={coverage.error}
            onRetry={() => void coverage.refetch()}
            stale={coverage.data !== undefined}
          />
        )}
        {coverage.isPending && <p className="animate-late text-faint">Loading</p>}
        <ul className="grid gap-4">
          {coverage.data?.map((each) => (
            <Covered
              key={each.chainId}
              coverage={each}
              chain={chainOf(each.chainId)}
              onFill={(from, to) => setRange({ chainId: each.chainId, from, to })}
            />
          ))}
        </ul>
        {coverage.data?.length === 0 && (
          <p className="text-muted">
            No blocks yet. Coverage starts with the first block that is matched against the stream.
          </p>
        )}
      </section>
      <section aria-label="Backfill" className="border-b border-line px-4 py-4">
        <h3 className="caps mb-2">Match past blocks</h3>
        <BackfillForm key={JSON.stringify(range)} stream={stream} chains={chains} range={range} />
      </section>
      <section aria-label="Jobs" className="px-4 py-4">
        <h3 className="caps mb-2">Backfills</h3>
        {jobs.isError && (
          <ErrorPanel
            what="Couldn't load backfills"
            error={jobs.error}
            onRetry={() => void jobs.refetch()}
            stale={jobs.data !== undefined}
          />
        )}
        {jobs.data?.length === 0 && (
          <p className="text-muted">
            No backfills yet. Enter a range above. Each match is delivered once, as a confirmed
            webhook.
          </p>
        )}
        <ul>
          {jobs.data?.map((job) => (
            <JobRow key={job.id} job={job} chain={chainOf(job.chainId)} />
          ))}
        </ul>
      </section>
    </div>
  );
}

/** Returns the range that a link asks to backfill. */
const toRange = ({ chain, blockFrom, blockTo }: StreamSearch): Range | null =>
  chain === undefined || blockFrom === undefined || blockTo === undefined
    ? null
    : { chainId: chain, from: blockFrom, to: blockTo };

interface Range {
  chainId: string;
  from: number;
  to: number;
}

function Covered({
  coverage: { chainId, from, to, holes, unverified, byRange, childrenMissing = [] },
  chain,
  onFill,
}: {
  coverage: ChainCoverage;
  chain: WatchedChain | undefined;
  onFill: (from: number, to: number) => void;
}) {
  const [most, setMost] = useState(FIRST_RANGES);
  const span = from === null || to === null ? 0 : to - from + 1;
  const missing = holes.reduce((sum, hole) => sum + hole.to - hole.from + 1, 0);
  return (
    <li>
      <p className="flex flex-wrap items-baseline gap-x-4">
        <span className="font-medium">{chain?.name ?? chainId}</span>
        {from === null || to === null ? (
          <span className="text-muted">no blocks yet</span>
        ) : (
          <span className="data">
            {formatCount(from)} – {formatCount(to)}
          </span>
        )}
        <span className={missing === 0 ? 'text-12 text-faint' : 'text-12 text-warn'}>
          {missing === 0
            ? 'no holes'
            : `${formatQuantity(missing, 'block')} in ${formatQuantity(holes.length, 'hole')}`}
        </span>
      </p>
      {from !== null && (
        <svg
          aria-hidden="true"
          viewBox="0 0 1000 8"
          preserveAspectRatio="none"
          className="mt-1 h-2 w-full bg-line-strong"
        >
          {holes.map((hole) => (
            <rect
              key={hole.from}
              x={((hole.from - from) / span) * 1000}
              width={Math.max(3, ((hole.to - hole.from + 1) / span) * 1000)}
              height="8"
              fill="var(--color-warn)"
            />
          ))}
        </svg>
      )}
      {holes.length > most && (
        <Button variant="quiet" onClick={() => setMost(most + MORE_RANGES)}>
          Show more ({formatQuantity(holes.length - most, 'earlier hole')})
        </Button>
      )}
      <ul>
        {holes.slice(-most).map((hole) => (
          <li key={hole.from} className="flex flex-wrap items-center gap-x-4 pt-1">
            <span className="data">
              {formatCount(hole.from)} – {formatCount(hole.to)}
            </span>
            <span className="text-muted">{HOLE_WORDS[hole.reason]}</span>
            <Button variant="quiet" className="ml-auto" onClick={() => onFill(hole.from, hole.to)}>
              Fill {formatQuantity(hole.to - hole.from + 1, 'block')}
            </Button>
          </li>
        ))}
      </ul>
      {childrenMissing.map((range) => (
        <p key={range.from} className="pt-1 text-warn">
          Children of factories in blocks {formatCount(range.from)} – {formatCount(range.to)} are
          not all known yet.
        </p>
      ))}
      <Unverified ranges={unverified} />
      <ByRange ranges={byRange} />
    </li>
  );
}

function BackfillForm({
  stream,
  chains,
  range,
}: {
  stream: StreamSummary;
  chains: readonly WatchedChain[];
  range: Range | null;
}) {
  const queryClient = useQueryClient();
  const [chainId, setChainId] = useState(range?.chainId ?? stream.chainIds[0] ?? '');
  const head = chains.find(({ id }) => id === chainId)?.checkpoint ?? null;
  const [from, setFrom] = useState(range === null ? '' : String(range.from));
  const [to, setTo] = useState(range === null ? '' : String(range.to));
  const [destination, setDestination] = useState<number>();
  const [blockFrom, blockTo] = [toBlock(from), toBlock(to)];
  const problem =
    from === '' || to === ''
      ? undefined
      : blockFrom === null || blockTo === null
        ? 'Enter whole numbers.'
        : blockFrom > blockTo
          ? 'The first block must not be after the last.'
          : undefined;
  const start = useMutation({
    mutationFn: async () => {
      if (blockFrom === null || blockTo === null) return;
      await startBackfill(stream, chainId, { blockFrom, blockTo, destination });
    },
    onSuccess: async () => {
      setFrom('');
      setTo('');
      await queryClient.invalidateQueries({ queryKey: queryKeys.jobs });
    },
  });
  const ready = blockFrom !== null && blockTo !== null && problem === undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (ready && !start.isPending) start.mutate();
      }}
    >
      <div className="flex flex-wrap items-end gap-3">
        {stream.chainIds.length > 1 && (
          <Select
            aria-label="Chain"
            className="w-40"
            value={chainId}
            onChange={(event) => setChainId(event.target.value)}
          >
            {stream.chainIds.map((id) => (
              <option key={id} value={id}>
                {chains.find((chain) => chain.id === id)?.name ?? id}
              </option>
            ))}
          </Select>
        )}
        <span className="w-32">
          <TextField
            label="From block"
            inputMode="numeric"
            mono
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          />
        </span>
        <span className="w-32">
          <TextField
            label="To block"
            inputMode="numeric"
            mono
            placeholder={head === null ? '' : `e.g. ${head}`}
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        </span>
        <DestinationField stream={stream} value={destination} onChange={setDestination} />
        <Button type="submit" disabled={!ready || start.isPending}>
          {ready && blockFrom !== null && blockTo !== null
            ? `Match ${formatQuantity(blockTo - blockFrom + 1, 'block')}`
            : 'Match blocks'}
        </Button>
      </div>
      {problem !== undefined && <p className="mt-1 text-12 text-bad">{problem}</p>}
      {start.isError && (
        <ErrorPanel
          what="Couldn't start the backfill"
          error={start.error}
          onRetry={() => start.mutate()}
        />
      )}
    </form>
  );
}

const toBlock = (text: string): number | null => {
  const digits = text.replaceAll(/[,\s]/g, '');
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null;
};

function JobRow({ job, chain }: { job: Job; chain: WatchedChain | undefined }) {
  const queryClient = useQueryClient();
  const { id, kind, destination, blockFrom, blockTo, nextBlock, state, message } = job;
  const { matches, updatedAt } = job;
  const total = blockTo - blockFrom + 1;
  const done = nextBlock - blockFrom;
  const change = useMutation({
    mutationFn: (next: 'paused' | 'running' | 'cancelled') => sluice.setJobState(id, next),
    onSuccess: (changed) =>
      queryClient.setQueryData(jobsQuery(job.streamId).queryKey, (jobs) =>
        withLatest(jobs ?? [], changed),
      ),
  });
  const isOpen = state === 'running' || state === 'paused' || state === 'failed';
  return (
    <li className="border-b border-line py-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <Status condition={JOB_CONDITIONS[state]} className="w-24" />
        <span className="data">
          {chain?.code ?? job.chainId} {formatCount(blockFrom)} – {formatCount(blockTo)}
        </span>
        <span className="text-muted">
          {kind === 'children'
            ? `${formatQuantity(matches, 'child', 'children')} of factories`
            : formatQuantity(matches, 'match', 'matches')}
          {destination !== undefined && ` to destination ${destination}`}
        </span>
        <span className="data ml-auto text-faint">
          <Ago timeMs={updatedAt} />
        </span>
        {isOpen && (
          <>
            <Button
              variant="quiet"
              onClick={() => change.mutate(state === 'running' ? 'paused' : 'running')}
            >
              {state === 'running' ? 'Pause' : 'Resume'}
            </Button>
            <Button variant="quiet" onClick={() => change.mutate('cancelled')}>
              Cancel
            </Button>
          </>
        )}
      </div>
      {isOpen && (
        <div className="mt-1 flex items-center gap-3">
          <progress
            aria-label="Blocks checked"
            value={done}
            max={total}
            className="h-1.5 min-w-0 flex-1 accent-accent"
          />
          <span className="data text-muted">
            {formatCount(done)} of {formatCount(total)}
          </span>
        </div>
      )}
      {message !== '' && <p className="mt-1 break-words text-warn">{message}</p>}
      {change.isError && <p className="mt-1 text-bad">{change.error.message}</p>}
    </li>
  );
}
