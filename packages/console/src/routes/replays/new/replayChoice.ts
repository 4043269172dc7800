/**
 * Narrows a replay to undelivered deliveries, and checks the count that the user types to confirm.
 */
import { UNDELIVERED } from '@sluice/kit/contract';
import type { DeliveryFilter } from '@sluice/kit/sluice';
import { listOf } from '../../../words/filterWords.ts';

/** Narrows a filter to undelivered states. Returns null if the filter selects none of them. */
export function withoutDelivered(filter: DeliveryFilter): DeliveryFilter | null {
  const states = listOf(filter.state);
  const left = UNDELIVERED.filter((state) => states.length === 0 || states.includes(state));
  return left.length === 0 ? null : { ...filter, state: left };
}

/** Returns whether the typed text is the count, with or without separators. */
export const isCount = (typed: string, count: number): boolean =>
  typed.replaceAll(/[\s,.’']/g, '') === String(count);
