/**
 * IDs of lanes, the queues of deliveries. The lane of a stream's `webhookUrl` has the ID of the
 * stream. The lane of an additional destination appends a dot and the number of the destination.
 */

/** @param destination number of the destination within its stream; 0 for the `webhookUrl` */
export const toLaneId = (streamId: string, destination = 0): string =>
  destination === 0 ? streamId : `${streamId}.${destination}`;

/** Returns the ID of the stream that a lane belongs to. */
export function streamOf(laneId: string): string {
  const dot = laneId.indexOf('.');
  return dot < 0 ? laneId : laneId.slice(0, dot);
}

/** Returns the number of a lane's destination; 0 for the `webhookUrl` of its stream. */
export function destinationOf(laneId: string): number {
  const dot = laneId.indexOf('.');
  return dot < 0 ? 0 : Number(laneId.slice(dot + 1));
}

/** A stream and one of its destinations, as the contract names them. */
export interface Place {
  streamId: string;
  /** Omitted for the `webhookUrl` of the stream. */
  destination?: number;
}

export function toPlace(laneId: string): Place {
  const destination = destinationOf(laneId);
  return { streamId: streamOf(laneId), ...(destination > 0 && { destination }) };
}

/** Returns the lane that a delivery is queued in. */
export const laneOf = ({ streamId, destination }: Place): string => toLaneId(streamId, destination);
