/** Computes the progress of a replay. */
import type { Replay } from '@sluice/kit/sluice';

export interface Progress {
  /** Number of deliveries to replay; estimated unless the replay is done. */
  total: number;
  /** Number of deliveries that the replay has not queued yet. */
  left: number;
  /**
   * Number of queued deliveries that are no longer counted, because a later replay sent them again
   * or retention deleted them.
   */
  elsewhere: number;
  /** Estimated seconds until all deliveries are queued; null if the replay is not running. */
  secondsLeft: number | null;
}

export function progressOf({
  state,
  total: fitted,
  replayed,
  perSecond,
  ...counts
}: Pick<
  Replay,
  'state' | 'total' | 'replayed' | 'perSecond' | 'succeeded' | 'failed' | 'waiting'
>): Progress {
  // The service counted the deliveries when it created the replay. Since then, some may have
  // started or stopped matching the filter.
  const total = state === 'done' ? replayed : Math.max(fitted, replayed);
  const left = total - replayed;
  return {
    total,
    left,
    elsewhere: Math.max(0, replayed - counts.succeeded - counts.failed - counts.waiting),
    secondsLeft: state === 'running' ? left / perSecond : null,
  };
}

/** Returns whether the progress or the results of a replay can still change. */
export const isOpen = ({ state, waiting }: Pick<Replay, 'state' | 'waiting'>): boolean =>
  state === 'running' || waiting > 0;
