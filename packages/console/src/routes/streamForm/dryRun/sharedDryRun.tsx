import { useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { contractQuery } from '../../../data/queries/chains.ts';
import { useDryRun } from './dryRun.ts';
import type { StreamDraft } from '../draft/draft.ts';
import type { WatchedChain } from '../../../chains/tape.ts';
import { unitOf, type TokenUnit } from '../draft/tokenAmount.ts';

/** The run, and in which unit the one watched contract counts, where it is one. */
type SharedRun = ReturnType<typeof useDryRun> & { unit: TokenUnit | null };

const Shared = createContext<SharedRun | null>(null);

/**
 * One dry run for a form and the panel beside it. Each block draws again what looks at the run, and not the
 * whole form.
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

/** The run of the {@link SharedDryRun} around it. */
export function useSharedDryRun(): SharedRun {
  const run = use(Shared);
  if (run === null) throw new Error('No dry run around this part of a form');
  return run;
}
