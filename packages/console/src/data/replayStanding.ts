/** How far a replay is, and whether it is over. Pure. */
import type { Replay } from '@sluice/kit/sluice';

/** How far a replay is, in figures. */
export interface Standing {
  /** All that it will have sent, as far as is known. */
  total: number;
  /** Those that have not had their turn. */
  left: number;
  /** Sent once more by a later replay, or forgotten by retention: they count here no more. */
  elsewhere: number;
  /** Until each has had its turn; null when none is coming. */
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
  // What is made due may have come to fit only since, and what fitted may fit no more.
  const total = state === 'done' ? replayed : Math.max(fitted, replayed);
  const left = total - replayed;
  return {
    total,
    left,
    elsewhere: Math.max(0, replayed - counts.succeeded - counts.failed - counts.waiting),
    secondsLeft: state === 'running' ? left / perSecond : null,
  };
}

/** Whether any of its figures can still change by itself. */
export const isOpen = ({ state, waiting }: Pick<Replay, 'state' | 'waiting'>): boolean =>
  state === 'running' || waiting > 0;
