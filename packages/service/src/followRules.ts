/** Keeps an index of streams at the rules of the ledger, for all chains that share it. */
import type { ChainFamily } from '@sluice/kit/contract';
import { refreshRules } from './match/refresh.ts';
import type { RuleIndex } from './match/ruleIndex.ts';
import type { Store } from './store/store.ts';

/** Brings the index up to the ledger's rules and answers with their revision. */
export function followRules<Name extends ChainFamily, Rules>(
  index: RuleIndex<Name, Rules>,
  store: Store,
): () => Promise<number> {
  let refreshing: Promise<number> | undefined;
  let sweeping = false;
  /** Regains the room of streams that went, between other work. */
  const sweep = (): void => {
    sweeping = index.sweep();
    if (sweeping) setImmediate(sweep);
  };
  // Those that ask while it is read wait for that same reading.
  return () =>
    (refreshing ??= (async () => {
      try {
        await refreshRules(index, store);
        if (!sweeping) sweep();
        return index.revision;
      } finally {
        refreshing = undefined;
      }
    })());
}
