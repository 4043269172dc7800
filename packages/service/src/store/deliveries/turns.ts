/** Limits of streams: how many of their deliveries may be in flight, and when the next ones start. */
import type { Db, Tables } from '../tables/tables.ts';

/** Milliseconds by which turns are assigned in advance, so that claims can be less frequent. */
export const TURNS_AHEAD_MS = 250;

export type LimitedLane = Pick<
  Tables['stream'],
  'id' | 'max_in_flight' | 'max_per_second' | 'strict_order'
>;

export interface LaneTurns {
  room: number;
  /**
   * Time of the first turn in Unix milliseconds, and interval between turns. The interval is 0 if
   * the stream has no limit per second.
   */
  firstAt: number;
  intervalMs: number;
}

export const isLimited = (lane: LimitedLane): boolean =>
  lane.max_in_flight !== null || lane.max_per_second !== null || lane.strict_order === 1;

/** Returns the remaining capacity and turns of a lane; undefined if the lane has none now. */
export function planTurns(
  lane: LimitedLane,
  held: { leased: number; nextSendAt: number | null },
  now: number,
): LaneTurns | undefined {
  const atOnce = lane.strict_order === 1 ? 1 : (lane.max_in_flight ?? Number.POSITIVE_INFINITY);
  const intervalMs = lane.max_per_second === null ? 0 : 1000 / lane.max_per_second;
  const firstAt = intervalMs === 0 ? now : Math.max(now, held.nextSendAt ?? now);
  const turns =
    intervalMs === 0
      ? Number.POSITIVE_INFINITY
      : Math.floor((now + TURNS_AHEAD_MS - firstAt) / intervalMs) + 1;
  const room = Math.min(atOnce - held.leased, turns);
  return room > 0 ? { room, firstAt, intervalMs } : undefined;
}

/** Takes the first `count` turns; returns the milliseconds until each turn. */
export async function takeTurns(
  trx: Db,
  lane: LimitedLane,
  { firstAt, intervalMs }: LaneTurns,
  count: number,
  now: number,
): Promise<number[]> {
  if (intervalMs === 0 || count === 0) return Array.from({ length: count }, () => 0);
  await trx
    .updateTable('stream')
    .set({ next_send_at: Math.ceil(firstAt + count * intervalMs) })
    .where('id', '=', lane.id)
    .execute();
  return Array.from({ length: count }, (_, n) => firstAt - now + n * intervalMs);
}
