/**
 * A bound on what one host is sent in a second by all streams together, replays and retries included, so
 * that many streams cannot flood a receiver that none of them could alone. It is kept in memory, for this
 * process; the clock is one that only goes forward.
 */
import { readInboxName } from '@sluice/kit/contract';

export interface HostPace {
  /** Takes the next turn of the URL's host for a webhook of this stream; milliseconds until then. */
  take(streamId: string, url: string, now?: number): number;
  /** Streams that nothing should be claimed of now: the turns of their host are given away for a while. */
  waiting(now?: number): string[];
}

/** Turns are given so far ahead, so that a claim now and then is enough. */
const AHEAD_MS = 250;
const MOST_STREAMS = 100_000;

/** @param perSecond undefined for no bound. */
export function createHostPace(perSecond: number | undefined): HostPace {
  if (perSecond === undefined) return { take: () => 0, waiting: () => [] };
  const intervalMs = 1000 / perSecond;
  const hostOf = new Map<string, string>();
  /** By host, the earliest turn that is not taken. */
  const nextAt = new Map<string, number>();

  const forgetWhoseTurnsAreFree = (now: number): void => {
    for (const [host, at] of nextAt) if (at <= now) nextAt.delete(host);
    for (const [streamId, host] of hostOf) if (!nextAt.has(host)) hostOf.delete(streamId);
  };

  return {
    take(streamId, url, now = performance.now()) {
      // An inbox is no host of anybody's.
      if (readInboxName(url) !== undefined) return 0;
      const { host } = new URL(url);
      if (hostOf.size >= MOST_STREAMS) forgetWhoseTurnsAreFree(now);
      hostOf.set(streamId, host);
      const at = Math.max(now, nextAt.get(host) ?? now);
      nextAt.set(host, at + intervalMs);
      return at - now;
    },
    waiting: (now = performance.now()) =>
      [...hostOf]
        .filter(([, host]) => (nextAt.get(host) ?? now) > now + AHEAD_MS)
        .map(([streamId]) => streamId),
  };
}
