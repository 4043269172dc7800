/**
 * What a stream's own limits and its order leave room for. They hold whichever process claims: its row
 * is locked meanwhile, and counted is what the ledger has.
 */
import type { Db, Tables } from '../engine/tables.ts';

export type LimitedLane = Pick<
  Tables['stream'],
  'id' | 'max_in_flight' | 'max_per_second' | 'strict_order'
>;

export interface HeldLane {
  /** Deliveries of the lane that are leased, by whomever. */
  leased: number;
  nextSendAt: number | null;
}

export interface LaneTurns {
  room: number;
  /** Of streams that are sent so many in a second: when the first turn is, and how far they are apart. */
  firstAt: number;
  intervalMs: number;
}

/** Turns are given so far ahead, so that a claim now and then is enough. */
export const TURNS_AHEAD_MS = 250;

export const isLimited = (lane: LimitedLane): boolean =>
  lane.max_in_flight !== null || lane.max_per_second !== null || lane.strict_order === 1;

/** What a lane that is held leaves room for; undefined where there is none now. */
export function toTurns(lane: LimitedLane, held: HeldLane, now: number): LaneTurns | undefined {
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

/** The first `count` turns are taken; answers with the milliseconds until each. */
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
