/** The progress of a replay. Pure. */
import type { Replay } from '@sluice/kit/sluice';

/** The figures of a replay. */
export interface Standing {
  /** Number of deliveries that it will have sent in total, as far as known. */
  total: number;
  /** Number of deliveries that it has not sent yet. */
  left: number;
  /**
   * Number of deliveries that a later replay sent or retention deleted, which are no longer
   * counted.
   */
  elsewhere: number;
  /** Seconds until all are sent; null if it is not running. */
  secondsLeft: number | null;
}

export function standingOf({
  state,
  total: fitted,
  replayed,
  perSecond,
  ...counts
}: Pick<
  Replay,
  'state' | 'total' | 'replayed' | 'perSecond' | 'succeeded' | 'failed' | 'waiting'
>): Standing {
  // Deliveries may start or stop matching the filter while the replay runs.
  const total = state === 'done' ? replayed : Math.max(fitted, replayed);
  const left = total - replayed;
  return {
    total,
    left,
    elsewhere: Math.max(0, replayed - counts.succeeded - counts.failed - counts.waiting),
    secondsLeft: state === 'running' ? left / perSecond : null,
  };
}

/** Returns whether the figures of a replay can still change. */
export const isOpen = ({ state, waiting }: Pick<Replay, 'state' | 'waiting'>): boolean =>
  state === 'running' || waiting > 0;
