import { createContext, use } from 'react';
import { useDryRun } from '../../dryRun.ts';
import type { StreamDraft } from '../../draft.ts';
import type { WatchedChain } from '../../tape.ts';

const Shared = createContext<ReturnType<typeof useDryRun> | null>(null);

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
  return <Shared value={useDryRun(draft, chain, addresses)}>{children}</Shared>;
}

/** The run of the {@link SharedDryRun} around it. */
export function useSharedDryRun(): ReturnType<typeof useDryRun> {
  const run = use(Shared);
  if (run === null) throw new Error('No dry run around this part of a form');
  return run;
}
