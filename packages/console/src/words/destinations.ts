/** Names the destinations of streams. */
import { receiverOf } from '@sluice/kit/contract';
import type { DestinationSummary, StreamSummary } from '@sluice/kit/sluice';

/** A stream and its additional destinations. */
export type StreamDestinations = Pick<
  StreamSummary,
  Exclude<keyof DestinationSummary, 'destination'> | 'destinations'
>;

/** Returns all destinations of a stream, starting with its `webhookUrl`, which has the number 0. */
export const listDestinations = ({
  webhookUrl,
  status,
  statusMessage,
  queue,
  lastDeliveryAt,
  backOff,
  destinations,
}: StreamDestinations): readonly DestinationSummary[] => [
  { destination: 0, webhookUrl, status, statusMessage, queue, lastDeliveryAt, backOff },
  ...destinations,
];

/**
 * Returns text such as `1: billing.example`, or `1, removed`. Without the stream, which may be
 * deleted, returns the number.
 */
export function nameOfDestination(
  destination: number,
  stream: StreamDestinations | undefined,
): string {
  if (stream === undefined) return String(destination);
  const found = listDestinations(stream).find((each) => each.destination === destination);
  return found === undefined ? `${destination}, removed` : `${destination}: ${receiverOf(found)}`;
}
