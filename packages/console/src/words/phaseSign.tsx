import type { DeliveryPhase } from '@sluice/kit/sluice';
import { clsx } from 'clsx';
import { StatusShape } from '../ui/status.tsx';
import { PHASE_CONDITIONS } from './condition.ts';

/** Shows the phase of a delivery as a shape whose accessible name is the word. */
export function PhaseSign({
  phase,
  role,
  className,
}: {
  phase: DeliveryPhase;
  role?: 'cell';
  className?: string;
}) {
  const condition = PHASE_CONDITIONS[phase];
  return (
    <span role={role} className={clsx('inline-flex items-center', className)}>
      <StatusShape condition={condition} />
      <span className="sr-only">{condition.word}</span>
    </span>
  );
}
