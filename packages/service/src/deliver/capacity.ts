/**
 * Limits what a claim may take, by number and size of the deliveries in flight. Slow streams have
 * a capacity of their own, so receivers that hang do not delay the others, however many they are.
 */
import type { ClaimLimits } from '../store/deliveries/contract.ts';
import { toRetryCapacity } from '../store/deliveries/retryShare.ts';
import {
  type Lanes,
  type DeliveryLoad,
  type LoadWithRetries,
  sumLoads,
  toCounts,
} from './lanes.ts';

export const IN_FLIGHT_PER_STREAM = 64;
/**
 * Maximum for quick streams. The number is large enough for the ledger to write
 * hundreds of outcomes at a time, which amortizes the cost of a write. The size keeps large
 * webhooks from exhausting memory.
 */
const IN_FLIGHT: DeliveryLoad = { total: 2048, bytes: 64 * 1024 * 1024 };
/**
 * The part of the bytes that one quick stream may use, so that large webhooks of a stream that
 * begins to hang do not delay others.
 */
const BYTES_PER_STREAM = IN_FLIGHT.bytes / 8;
/** Maximum for all other streams: those that were slow, and those without attempts so far. */
const SLOW_IN_FLIGHT: DeliveryLoad = { total: 2048, bytes: 32 * 1024 * 1024 };
/**
 * Share of the free capacity that a slow stream may use. A single slow stream gets as much as a quick
 * one, and each of a thousand slow streams gets one delivery.
 */
const SLOW_SHARE = 1 / 32;
/** Maximum that one claim takes of slow streams, so that starting them does not delay the others. */
const SLOW_AT_ONCE = 256;

/**
 * Returns the limits of the next claim; undefined if nothing may be claimed.
 *
 * @param toTaken returns the part of {@link IN_FLIGHT_PER_STREAM} that claims must not use, given the
 *   deliveries in flight; both by stream id
 */
export function limitClaim(
  lanes: Pick<Lanes, 'loads' | 'quick'>,
  toTaken: (inFlight: Record<string, number>) => Record<string, number>,
): (ClaimLimits & { slow: ClaimLimits & { quick: ReadonlySet<string> } }) | undefined {
  const loads = [...lanes.loads()];
  const quickStreams = lanes.quick();
  const slowLoads = loads.filter(([id]) => !quickStreams.has(id));
  const slow = toRoom(SLOW_IN_FLIGHT, slowLoads);
  const quick = toRoom(
    IN_FLIGHT,
    loads.filter(([id]) => quickStreams.has(id)),
  );
  // A stream that becomes slow or quick takes along what it has in flight, so one of both may exceed
  // its capacity, at the expense of the other.
  const all = { limit: quick.limit + slow.limit, maxBytes: quick.maxBytes + slow.maxBytes };
  for (const room of [quick, slow]) {
    room.limit = Math.min(room.limit, all.limit);
    room.maxBytes = Math.min(room.maxBytes, all.maxBytes);
  }
  if (!hasRoom(quick) && !hasRoom(slow)) return undefined;
  const taken = toTaken(toCounts(loads));
  const bytesTaken = Object.fromEntries(loads.map(([id, { bytes }]) => [id, bytes]));
  const retriesTaken = Object.fromEntries(loads.map(([id, { retries }]) => [id, retries.total]));
  const perSlowStream = Math.min(IN_FLIGHT_PER_STREAM, Math.floor(slow.limit * SLOW_SHARE));
  return {
    ...quick,
    perStream: IN_FLIGHT_PER_STREAM,
    taken,
    bytes: { perStream: BYTES_PER_STREAM, taken: bytesTaken },
    retries: { ...quick.retries, taken: retriesTaken },
    slow: {
      ...slow,
      quick: quickStreams,
      limit: Math.min(SLOW_AT_ONCE, slow.limit),
      perStream: Math.max(1, perSlowStream),
      taken,
      bytes: { perStream: slow.maxBytes * SLOW_SHARE, taken: bytesTaken },
      retries: { ...slow.retries, taken: retriesTaken },
    },
  };
}

/** Remaining capacity. */
type Room = Pick<ClaimLimits, 'limit' | 'maxBytes'> & {
  retries: Pick<ClaimLimits, 'limit' | 'maxBytes'>;
};

const hasRoom = ({ limit, maxBytes }: Room): boolean => limit > 0 && maxBytes > 0;

function toRoom(most: DeliveryLoad, loads: readonly [string, LoadWithRetries][]): Room {
  const { total, bytes, retries } = sumLoads(loads.map(([, load]) => load));
  return {
    limit: most.total - total,
    maxBytes: most.bytes - bytes,
    retries: {
      limit: toRetryCapacity(most.total) - retries.total,
      maxBytes: toRetryCapacity(most.bytes) - retries.bytes,
    },
  };
}
