import { isSluiceError } from '@sluice/kit/sluice';

/** Repeats a query at an interval until the service forbids it, because the key never may. */
export const untilForbidden =
  (intervalMs: number) =>
  ({ state }: { state: { error: Error | null } }): number | false =>
    isSluiceError(state.error, 'forbidden') ? false : intervalMs;
