/** The matches of one chain that are being completed, and those that failed and rest before the next try. */
import type { EnrichingMatch } from '../store/enrichment/contract.ts';
import type { Store } from '../store/store.ts';

export interface MatchQueue {
  /** The oldest matches that there is room for. */
  list(nowMs: number): Promise<EnrichingMatch[]>;
  /** The match is under way from now on. Returns how many tries this makes. */
  begin(match: Pick<EnrichingMatch, 'id' | 'streamId'>): number;
  /** The match is under way no more, and not tried again before this time. */
  rest(matchId: string, tries: number, untilMs: number): void;
  /** The match is done. */
  forget(matchId: string): void;
  tries(matchId: string): number;
  /** When the next match that rests may be tried; infinity where none rests. */
  nextAt(nowMs: number): number;
  underWay(): number;
}

const IN_FLIGHT = 32;
const IN_FLIGHT_PER_STREAM = 2;
const FORGET_MS = 10 * 60_000;

export function createMatchQueue(chain: string, store: Pick<Store, 'listEnriching'>): MatchQueue {
  /** Streams of the matches under way, by match. */
  const inFlight = new Map<string, string>();
  const resting = new Map<string, { tries: number; until: number }>();
  const tries = (matchId: string): number => resting.get(matchId)?.tries ?? 0;

  return {
    async list(now) {
      const room = IN_FLIGHT - inFlight.size;
      if (room === 0) return [];
      const perStream = new Map<string, number>();
      for (const streamId of inFlight.values()) {
        perStream.set(streamId, (perStream.get(streamId) ?? 0) + 1);
      }
      // Some are never listed again: their block or their stream is gone.
      for (const [id, { until }] of resting) if (until < now - FORGET_MS) resting.delete(id);
      const full = [...perStream].filter(([, n]) => n >= IN_FLIGHT_PER_STREAM).map(([id]) => id);
      const asleep = [...resting].filter(([, { until }]) => until > now).map(([id]) => id);
      const found = await store.listEnriching({
        chain,
        limit: room,
        perStream: IN_FLIGHT_PER_STREAM,
        notStreams: full,
        notMatches: [...inFlight.keys(), ...asleep],
      });
      return found.filter(({ streamId }) => {
        const n = perStream.get(streamId) ?? 0;
        perStream.set(streamId, n + 1);
        return n < IN_FLIGHT_PER_STREAM;
      });
    },
    begin({ id, streamId }) {
      inFlight.set(id, streamId);
      return tries(id) + 1;
    },
    rest(matchId, tried, until) {
      inFlight.delete(matchId);
      resting.set(matchId, { tries: tried, until });
    },
    forget(matchId) {
      inFlight.delete(matchId);
      resting.delete(matchId);
    },
    tries,
    nextAt: (now) =>
      Math.min(...[...resting.values()].map(({ until }) => until).filter((at) => at > now)),
    underWay: () => inFlight.size,
  };
}
