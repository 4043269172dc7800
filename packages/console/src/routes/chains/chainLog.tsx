import type { ChainGap, Reorg } from '@sluice/kit/sluice';
import { type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { gapsQuery, reorgsQuery } from '../../data/queries/chains.ts';
import { GAP_CONDITIONS } from '../../words/condition.ts';
import type { Condition } from '../../ui/status.tsx';
import { formatCount, formatDateTime, formatQuantity } from '../../ui/text/format.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Status } from '../../ui/status.tsx';

/** Before one asks for the others. */
const FIRST_ENTRIES = 5;

/** One line of what happened to a chain. */
interface LogEntry {
  key: string;
  condition: Condition;
  what: string;
  /** Why; empty where that is all there is to say. */
  why: string;
  at: number;
}

/** What the service keeps of what happened to a chain, newest first. */
function ChainLog<Row>({
  title,
  none,
  query,
  toEntry,
}: {
  title: string;
  none: string;
  query: UseQueryOptions<Row[], Error, Row[], string[]>;
  toEntry: (row: Row) => LogEntry;
}) {
  const { data, error, refetch } = useQuery(query);
  const [isWhole, setWhole] = useState(false);
  return (
    <div className="min-w-0">
      <h3 className="caps">{title}</h3>
      {error !== null && (
        <ErrorPanel
          what={`${title} could not be read`}
          error={error}
          onRetry={() => void refetch()}
          stale={data !== undefined}
        />
      )}
      {data === undefined && error === null && (
        <p className="animate-late text-12 text-faint">Loading</p>
      )}
      {data?.length === 0 && <p className="text-12 text-faint">{none}</p>}
      {data !== undefined && data.length > 0 && (
        <ul>
          {data
            .slice(0, isWhole ? data.length : FIRST_ENTRIES)
            .map(toEntry)
            .map(({ key, condition, what, why, at }) => (
              <li key={key} className="flex flex-wrap items-baseline gap-x-4 py-1">
                <Status condition={condition} />
                <span className="data">{what}</span>
                <span className="data text-faint">{formatDateTime(at)}</span>
                {why !== '' && <p className="w-full text-12 break-words text-muted">{why}</p>}
              </li>
            ))}
        </ul>
      )}
      {!isWhole && data !== undefined && data.length > FIRST_ENTRIES && (
        <Button look="quiet" onClick={() => setWhole(true)}>
          Show {data.length - FIRST_ENTRIES} more
        </Button>
      )}
    </div>
  );
}

/** Where a chain went another way. */
export const Reorgs = ({ chain }: { chain: string }) => (
  <ChainLog
    title="Reorgs"
    none="The chain never went another way."
    query={reorgsQuery(chain)}
    toEntry={describeReorg}
  />
);

function describeReorg({ blockNumber, depth, at }: Reorg): LogEntry {
  return {
    key: `${at} ${blockNumber}`,
    condition: { shape: 'cross', word: 'removed', tone: 'reorg' },
    what: `${formatQuantity(depth, 'block')} above ${formatCount(blockNumber)}`,
    why: '',
    at,
  };
}

/** Where a chain did not go on block by block. */
export const Gaps = ({ chain }: { chain: string }) => (
  <ChainLog
    title="Gaps"
    none="No block was left out."
    query={gapsQuery(chain)}
    toEntry={describeGap}
  />
);

function describeGap({ kind, from, to, reason, at, endedAt }: ChainGap): LogEntry {
  const what =
    to === null
      ? `before ${formatCount(from)}${endedAt === null ? '' : `, until ${formatDateTime(endedAt)}`}`
      : `${formatCount(from)}–${formatCount(to)}`;
  const condition = GAP_CONDITIONS[kind];
  const isOver = kind === 'halted' && endedAt !== null;
  return {
    key: `${at} ${kind} ${from}`,
    condition: isOver ? { ...condition, tone: 'muted' } : condition,
    what,
    why: reason,
    at,
  };
}
