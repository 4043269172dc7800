/** Tracks the matches of one chain that are in progress, or that wait for their next try. */
import type { EnrichingMatch } from '../store/enrichment/contract.ts';
import type { Store } from '../store/store.ts';

export interface MatchQueue {
  /** Returns the oldest matches that may start now without exceeding the limits. */
  list(nowMs: number): Promise<EnrichingMatch[]>;
  /** Marks the match as in progress. Returns the number of this try, starting at 1. */
  begin(match: Pick<EnrichingMatch, 'id' | 'streamId'>): number;
  /**
   * Ends a try and makes the match wait until `untilMs`. `tries` is the number of tries that count
   * so far.
   */
  rest(matchId: string, tries: number, untilMs: number): void;
  /** Removes a completed match. */
  forget(matchId: string): void;
  tries(matchId: string): number;
  /**
   * Returns the earliest time after `nowMs` at which a match may be retried; infinity if none
   * waits.
   */
  nextAt(nowMs: number): number;
  underWay(): number;
}

const IN_FLIGHT = 32;
/** Maximum number of matches in progress of all slow streams. */
const IN_FLIGHT_OF_SLOW = 16;
/** Duration of a try above which its stream is slow until a quicker one. */
const SLOW_MS = 2_000;
const IN_FLIGHT_PER_STREAM = 2;
/**
 * Maximum number of a stream's matches that may wait for a retry. At this number, no new matches of
 * the stream start, because they often need the same refused data.
 */
const RESTING_PER_STREAM = 16;
const FORGET_MS = 10 * 60_000;

export function createMatchQueue(chain: string, store: Pick<Store, 'listEnriching'>): MatchQueue {
  /** Streams and starts of the matches in progress, by match id. */
  const inFlight = new Map<string, { streamId: string; startedAt: number }>();
  /** Streams whose last try was slow. */
  const slow = new Set<string>();
  const isOverdue = ({ startedAt }: { startedAt: number }): boolean =>
    performance.now() - startedAt > SLOW_MS;
  const end = (matchId: string): string | undefined => {
    const ended = inFlight.get(matchId);
    if (ended === undefined) return undefined;
    inFlight.delete(matchId);
    if (isOverdue(ended)) slow.add(ended.streamId);
    else slow.delete(ended.streamId);
    return ended.streamId;
  };
  const resting = new Map<string, { streamId: string; tries: number; until: number }>();
  const tries = (matchId: string): number => resting.get(matchId)?.tries ?? 0;

  return {
    async list(now) {
      const room = IN_FLIGHT - inFlight.size;
      if (room === 0) return [];
      const perStream = new Map<string, number>();
      const slowNow = new Set(slow);
      for (const each of inFlight.values()) {
        perStream.set(each.streamId, (perStream.get(each.streamId) ?? 0) + 1);
        if (isOverdue(each)) slowNow.add(each.streamId);
      }
      let slowRoom = IN_FLIGHT_OF_SLOW;
      for (const [streamId, n] of perStream) if (slowNow.has(streamId)) slowRoom -= n;
      // Forgets matches whose retry is long overdue. The ledger no longer lists them, because their
      // block or stream was removed.
      for (const [id, { until }] of resting) if (until < now - FORGET_MS) resting.delete(id);
      const asleep = [...resting].filter(([, { until }]) => until > now);
      const sleepers = Map.groupBy(asleep, ([, { streamId }]) => streamId);
      const full = [
        ...[...perStream].filter(([, n]) => n >= IN_FLIGHT_PER_STREAM).map(([id]) => id),
        ...[...sleepers].filter(([, all]) => all.length >= RESTING_PER_STREAM).map(([id]) => id),
        ...(slowRoom <= 0 ? slowNow : []),
      ];
      const found = await store.listEnriching({
        chain,
        limit: room,
        perStream: IN_FLIGHT_PER_STREAM,
        notStreams: full,
        notMatches: [...inFlight.keys(), ...asleep.map(([id]) => id)],
      });
      return found.filter(({ streamId }) => {
        const n = perStream.get(streamId) ?? 0;
        if (n >= IN_FLIGHT_PER_STREAM || (slowNow.has(streamId) && slowRoom-- <= 0)) return false;
        perStream.set(streamId, n + 1);
        return true;
      });
    },
    begin({ id, streamId }) {
      inFlight.set(id, { streamId, startedAt: performance.now() });
      return tries(id) + 1;
    },
    rest(matchId, tried, until) {
      resting.set(matchId, { streamId: end(matchId)!, tries: tried, until });
    },
    forget(matchId) {
      end(matchId);
      resting.delete(matchId);
    },
    tries,
    nextAt: (now) =>
      Math.min(...[...resting.values()].map(({ until }) => until).filter((at) => at > now)),
    underWay: () => inFlight.size,
  };
}
