/**
 * Loads the rules of a chain family at the start and after each change, even if this process reads
 * no chain. A long address list therefore delays neither a block nor a takeover.
 */
import { type Log, describeError } from '../base/log.ts';
import { createWaker } from '../base/waker.ts';
import type { Store } from '../store/store.ts';
import type { LiveMatcher } from './matching.ts';

export interface RuleKeeper {
  isLoaded(): boolean;
  /** @param onLoaded called when the rules have been loaded for the first time */
  start(onLoaded: () => void): void;
  /** Returns immediately; a load in progress fails when the ledger is closed. */
  stop(): void;
}

/**
 * Interval of refreshes, because signals may be lost and the ledger stores address changes for only
 * an hour.
 */
const REFRESH_MS = 10_000;
const RETRY_MS = 1_000;

export function createRuleKeeper(
  live: Pick<LiveMatcher<never>, 'refresh' | 'isLoaded'>,
  { store, log }: { store: Pick<Store, 'signals'>; log: Log },
): RuleKeeper {
  const waker = createWaker();
  let stopping = false;
  let forget = (): void => {};

  const refresh = async (): Promise<boolean> => {
    try {
      await live.refresh();
      return true;
    } catch (error) {
      if (!stopping)
        log.warn('failed to load the rules, retrying', { error: describeError(error) });
      return false;
    }
  };

  const run = async (onLoaded: () => void): Promise<void> => {
    let isFirst = true;
    while (!stopping) {
      const isCurrent = await refresh();
      if (isCurrent && isFirst) onLoaded();
      isFirst &&= !isCurrent;
      await waker.sleep(isCurrent ? REFRESH_MS : RETRY_MS);
    }
  };

  return {
    isLoaded: live.isLoaded,
    start(onLoaded) {
      forget = store.signals.on('rules', waker.wake);
      void run(onLoaded);
    },
    stop() {
      stopping = true;
      forget();
      waker.wake();
    },
  };
}
