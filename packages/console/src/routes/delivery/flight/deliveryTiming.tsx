import type { DeliveryDetail } from '@sluice/kit/sluice';
import { useNow } from '../../../ui/text/clock.ts';
import { useBackOff, useIsPaused } from '../attempts/backOffBanner.tsx';
import { deliveryFlight } from './deliveryFlight.ts';
import { FlightView } from './flightView.tsx';

/** Draws the flight of a delivery. */
export function DeliveryTiming({
  delivery,
  pickedAttempt,
}: {
  delivery: DeliveryDetail;
  /** Number of the attempt that is emphasized; undefined for none. */
  pickedAttempt?: number | undefined;
}) {
  const now = useNow();
  const isPaused = useIsPaused(delivery);
  const backOff = useBackOff(delivery);
  const dueAt = backOff?.until ?? delivery.nextAttemptAt;
  const flight = deliveryFlight(delivery, { now, dueAt, isPaused, pickedAttempt });
  return <FlightView flight={flight} id={delivery.id} />;
}
