/** The destinations of streams that lead to one receiver, and their combined state. */
import { receiverOf } from '@sluice/kit/contract';
import type { DestinationSummary } from '@sluice/kit/sluice';
import type { FleetStream } from '../../data/fleet.ts';
import type { Condition } from '../../ui/status.tsx';
import { condition } from '../../words/condition.ts';
import { listDestinations } from '../../words/destinations.ts';

/** A destination of a stream. */
export interface ReceiverLane {
  row: FleetStream;
  its: DestinationSummary;
}

/** Returns the destinations that lead to a receiver, failing ones first. */
export const lanesOf = (fleet: readonly FleetStream[], receiver: string): ReceiverLane[] =>
  fleet
    .flatMap((row) =>
      listDestinations(row.stream)
        .filter((its) => receiverOf(its) === receiver)
        .map((its) => ({ row, its })),
    )
    .toSorted((a, b) => Number(isFailing(b)) - Number(isFailing(a)));

/** Returns whether attempts of a destination fail now. The list of a stream knows only its own. */
const isFailing = ({ row, its }: ReceiverLane): boolean =>
  its.status === 'error' || (its.destination === 0 && row.isFailing);

/**
 * Returns the state of a receiver: the worst of its destinations. Each has its own circuit breaker,
 * so some may be backed off while others are sent.
 */
export function receiverCondition(lanes: readonly ReceiverLane[], now: number): Condition {
  const backOffs = lanes.flatMap(({ its }) => its.backOff ?? []);
  const failures = backOffs.filter(({ reason }) => reason === 'failures');
  if (failures.some(({ until }) => until <= now)) return condition('half', 'probing', 'warn');
  if (failures.length > 0) return condition('bars', 'backed off', 'bad');
  if (backOffs.length > 0) return condition('bars', 'rate limited', 'warn');
  if (lanes.some(isFailing)) return condition('triangle', 'failing', 'bad');
  return lanes.every(({ its }) => its.status === 'paused')
    ? condition('bars', 'paused', 'muted')
    : condition('disc', 'healthy', 'ok');
}
