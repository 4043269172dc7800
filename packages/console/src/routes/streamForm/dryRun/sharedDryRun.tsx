import { createContext, use } from 'react';
import { useDryRun } from './dryRun.ts';
import { useKnownTokens } from './readTokens.ts';
import type { StreamDraft } from '../draft/draft.ts';
import type { KnownTokens } from '../draft/knownTokens.ts';
import type { WatchedChain } from '../../../chains/timeline.ts';

/** A dry run, with the tokens that are known for its draft. */
type SharedRun = ReturnType<typeof useDryRun> & { known: KnownTokens };

const Shared = createContext<SharedRun | null>(null);

/**
 * Shares one dry run between a form and the panel next to it. The result of a block rerenders only
 * the components that use the run, not the entire form.
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
  const known = useKnownTokens(draft, addresses);
  return <Shared value={{ ...run, known }}>{children}</Shared>;
}

/** Returns the run of the enclosing {@link SharedDryRun}. */
export function useSharedDryRun(): SharedRun {
  const run = use(Shared);
  if (run === null) throw new Error('useSharedDryRun needs a SharedDryRun around it');
  return run;
}
