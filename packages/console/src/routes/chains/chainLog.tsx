import type { ChainGap, GapKind, Reorg } from '@sluice/kit/sluice';
import { type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { gapsQuery, reorgsQuery } from '../../data/queries/chains.ts';
import { formatCount, formatDateTime, formatQuantity } from '../../ui/text/format.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { type Condition, Status } from '../../ui/status.tsx';
import { DateTime } from '../../ui/text/time.tsx';
import { ExplorerLink } from './explorerLink.tsx';
import { condition } from '../../words/condition.ts';

const GAP_CONDITIONS: Record<GapKind, Condition> = {
  skipped: condition('exclamation', 'skipped', 'bad'),
  restarted: condition('half', 'restarted', 'warn'),
  'passed-over': condition('ring', 'not watched', 'muted'),
  halted: condition('triangle', 'halted', 'bad'),
};

/** Number of entries shown before the user expands the list. */
const FIRST_ENTRIES = 5;

/** An entry for one gap or reorg. */
interface LogEntry {
  key: string;
  condition: Condition;
  what: string;
  /** Number of the block that the entry links to in the chain's block explorer. */
  block: number;
  /** Human-readable reason; empty if there is none. */
  why: string;
  at: number;
}

/** Lists recorded gaps or reorgs of a chain, newest first. */
function ChainLog<Row>({
  chain,
  title,
  failed,
  none,
  query,
  toEntry,
}: {
  chain: string;
  title: string;
  /** Heading of the error message. */
  failed: string;
  none: string;
  query: UseQueryOptions<Row[], Error, Row[], string[]>;
  toEntry: (row: Row) => LogEntry;
}) {
  const { data, error, refetch } = useQuery(query);
  const [isComplete, setWhole] = useState(false);
  return (
    <div className="min-w-0">
      <h3 className="caps">{title}</h3>
      {error !== null && (
        <ErrorPanel
          what={failed}
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
            .slice(0, isComplete ? data.length : FIRST_ENTRIES)
            .map(toEntry)
            .map(({ key, condition, what, block, why, at }) => (
              <li key={key} className="flex flex-wrap items-baseline gap-x-4 py-1">
                <Status condition={condition} />
                <span className="flex items-center gap-1">
                  <span className="data">{what}</span>
                  <ExplorerLink chainId={chain} page="block" value={String(block)} />
                </span>
                <span className="data text-faint">
                  <DateTime timeMs={at} />
                </span>
                {why !== '' && <p className="w-full text-12 break-words text-muted">{why}</p>}
              </li>
            ))}
        </ul>
      )}
      {!isComplete && data !== undefined && data.length > FIRST_ENTRIES && (
        <Button variant="quiet" onClick={() => setWhole(true)}>
          Show {data.length - FIRST_ENTRIES} more
        </Button>
      )}
    </div>
  );
}

export const Reorgs = ({ chain }: { chain: string }) => (
  <ChainLog
    chain={chain}
    title="Reorgs"
    failed="Couldn't load reorgs"
    none="No reorgs."
    query={reorgsQuery(chain)}
    toEntry={describeReorg}
  />
);

function describeReorg({ blockNumber, depth, at }: Reorg): LogEntry {
  return {
    key: `${at} ${blockNumber}`,
    condition: { shape: 'cross', word: 'removed', tone: 'reorg' },
    what: `${formatQuantity(depth, 'block')} above ${formatCount(blockNumber)}`,
    block: blockNumber,
    why: '',
    at,
  };
}

export const Gaps = ({ chain }: { chain: string }) => (
  <ChainLog
    chain={chain}
    title="Gaps"
    failed="Couldn't load gaps"
    none="No gaps."
    query={gapsQuery(chain)}
    toEntry={describeGap}
  />
);

function describeGap({ kind, from, to, reason, at, endedAt }: ChainGap): LogEntry {
  const describe = (): string => {
    if (to !== null) return `${formatCount(from)}–${formatCount(to)}`;
    return endedAt === null
      ? `before ${formatCount(from)}`
      : `before ${formatCount(from)}, until ${formatDateTime(endedAt)}`;
  };
  const condition = GAP_CONDITIONS[kind];
  const isOver = kind === 'halted' && endedAt !== null;
  return {
    key: `${at} ${kind} ${from}`,
    condition: isOver ? { ...condition, tone: 'muted' } : condition,
    what: describe(),
    block: from,
    why: reason,
    at,
  };
}
