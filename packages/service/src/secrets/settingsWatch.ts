/** Follows settings, which any process that uses the ledger may change. */
import type { Store } from '../store/store.ts';

/** Time between reads, which are needed because a signal from another process may be lost. */
const CHECK_MS = 2_000;

/**
 * Calls `look` after each signal about settings, and every 2 s. Returns a function that stops this.
 * @param onError called if `look` fails, for example while the ledger is unavailable
 */
export function watchSettings(
  { signals }: Pick<Store, 'signals'>,
  look: () => Promise<void>,
  onError: (error: unknown) => void = () => {},
): () => void {
  const lookQuietly = (): void => void look().catch(onError);
  const forget = signals.on('settings', lookQuietly);
  const timer = setInterval(lookQuietly, CHECK_MS);
  timer.unref();
  return () => {
    forget();
    clearInterval(timer);
  };
}
