/** Keeps an index of streams at the rules of the ledger, for all chains that share it. */
import type { ChainFamily } from '@sluice/kit/contract';
import { refreshRules } from '../match/refresh.ts';
import type { RuleIndex } from '../match/ruleIndex.ts';
import type { Store } from '../store/store.ts';

/** As `Matcher.refresh`. */
export function followRules<Name extends ChainFamily, Rules>(
  index: RuleIndex<Name, Rules>,
  store: Store,
): (atLeast?: number) => Promise<number> {
  let refreshing: Promise<number> | undefined;
  let sweeping = false;
  /** Regains the room of streams that went, between other work. */
  const sweep = (): void => {
    sweeping = index.sweep();
    if (sweeping) setImmediate(sweep);
  };
  const refresh = async (): Promise<number> => {
    try {
      await refreshRules(index, store);
      if (!sweeping) sweep();
      return index.revision;
    } finally {
      refreshing = undefined;
    }
  };
  // Callers share a reading that is under way, unless it began before the revision they need.
  return async (atLeast = 0) => {
    const revision = await (refreshing ??= refresh());
    return revision >= atLeast ? revision : (refreshing ??= refresh());
  };
}
