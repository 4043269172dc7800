import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { chainsQuery } from '../../data/queries/chains.ts';
import { formatQuantity } from '../../ui/text/format.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { Button } from '../../ui/button.tsx';
import { LaneHead } from '../river/laneHead.tsx';
import { River } from '../river/river.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Loading } from '../../ui/loading.tsx';
import { AddNode } from './addNode.tsx';
import { Chain } from './chain.tsx';

/** Interval for reloading the nodes, because live events do not report every change of a node. */
const NODES_REFRESH_MS = 5_000;

const nodesOf = (chains: readonly WatchedChain[]): number =>
  chains.reduce((sum, { providers }) => sum + providers.length, 0);

/** Lists the chains with their progress, nodes and problems. */
export function ChainsPage() {
  const chains = useQuery({ ...chainsQuery, refetchInterval: NODES_REFRESH_MS });
  const navigate = useNavigate();
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      {chains.isError && (
        <ErrorPanel
          what="Couldn't load chains"
          error={chains.error}
          onRetry={() => void chains.refetch()}
          stale={chains.data !== undefined}
        />
      )}
      {chains.data !== undefined && chains.data.length > 0 && (
        <header className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2">
          <p className="text-12 text-muted">
            {formatQuantity(chains.data.length, 'chain')},{' '}
            {formatQuantity(nodesOf(chains.data), 'node')}
          </p>
          <Button className="ml-auto" onClick={() => setAdding(true)}>
            <Plus size={14} strokeWidth={1.5} aria-hidden="true" />
            Add node…
          </Button>
        </header>
      )}
      {chains.data !== undefined && chains.data.length > 0 && (
        <River
          chains={chains.data}
          Head={LaneHead}
          onOpen={(search) => void navigate({ to: '/deliveries', search })}
        />
      )}
      {chains.isPending && <Loading className="p-4" />}
      {chains.data?.length === 0 && (
        <div className="px-4 py-6">
          <p className="font-medium">No chains yet</p>
          <p className="mt-1 text-muted">
            To read a chain, the service needs the URL of one of its nodes.
          </p>
          <Button className="mt-3" onClick={() => setAdding(true)}>
            Add node…
          </Button>
        </div>
      )}
      {chains.data?.map((chain) => (
        <Chain key={chain.id} chain={chain} />
      ))}
      {isAdding && <AddNode chains={chains.data ?? []} onClose={() => setAdding(false)} />}
    </>
  );
}
