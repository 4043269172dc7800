import { useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { contractQuery } from '../../../data/queries/chains.ts';
import { useDryRun } from './dryRun.ts';
import type { StreamDraft } from '../draft/draft.ts';
import type { WatchedChain } from '../../../chains/timeline.ts';
import { unitOf, type TokenUnit } from '../draft/tokenAmount.ts';

/** The run, and the unit of the watched contract if there is only one. */
type SharedRun = ReturnType<typeof useDryRun> & { unit: TokenUnit | null };

const Shared = createContext<SharedRun | null>(null);

/**
 * Shares one dry run between a form and the panel next to it. Each block rerenders only components
 * that use the run, not the entire form.
 */
export function SharedDryRun({
  draft,
  chain,
  addresses,
  children,
}: {
  draft: StreamDraft;
  chain: WatchedChain | undefined;
  addresses: string[] | null;
  children: React.ReactNode;
}) {
  const run = useDryRun(draft, chain, addresses);
  const { data: contract } = useQuery({
    ...contractQuery(chain?.id ?? '', addresses?.[0] ?? ''),
    enabled: chain !== undefined && draft.family === 'evm' && addresses?.length === 1,
  });
  return <Shared value={{ ...run, unit: unitOf(contract) }}>{children}</Shared>;
}

/** Returns the run of the enclosing {@link SharedDryRun}. */
export function useSharedDryRun(): SharedRun {
  const run = use(Shared);
  if (run === null) throw new Error('useSharedDryRun needs a SharedDryRun around it');
  return run;
}
