/**
 * A bound on what one host is sent in a second by all streams together, replays and retries included, so
 * that many streams cannot flood a receiver that none of them could alone. It is kept in memory, for this
 * process; the clock is one that only goes forward.
 */
import { readInboxName } from '@sluice/kit/contract';

export interface HostPace {
  /** Takes the next turn of the URL's host for a webhook of this stream; milliseconds until then. */
  take(streamId: string, url: string, now?: number): number;
  /** The same for a webhook without a stream. Undefined, and no turn taken, where it would wait longer. */
  takeSoon(url: string, mostMs: number, now?: number): number | undefined;
  /** Streams that nothing should be claimed of now: the turns of their host are given away for a while. */
  waiting(now?: number): string[];
}

/** Turns are given so far ahead, so that a claim now and then is enough. */
const AHEAD_MS = 250;
const MOST_STREAMS = 100_000;
const MOST_HOSTS = 100_000;

/** @param perSecond undefined for no bound. */
export function createHostPace(perSecond: number | undefined): HostPace {
  if (perSecond === undefined) return { take: () => 0, takeSoon: () => 0, waiting: () => [] };
  const intervalMs = 1000 / perSecond;
  const hostOf = new Map<string, string>();
  /** By host, the earliest turn that is not taken. */
  const nextAt = new Map<string, number>();

  const forgetWhoseTurnsAreFree = (now: number): void => {
    for (const [host, at] of nextAt) if (at <= now) nextAt.delete(host);
    for (const [streamId, host] of hostOf) if (!nextAt.has(host)) hostOf.delete(streamId);
  };

  const takeTurn = (host: string, now: number, mostMs: number): number | undefined => {
    const at = Math.max(now, nextAt.get(host) ?? now);
    if (at - now > mostMs) return undefined;
    nextAt.set(host, at + intervalMs);
    if (nextAt.size >= MOST_HOSTS) forgetWhoseTurnsAreFree(now);
    return at - now;
  };
  const isInbox = (url: string): boolean => readInboxName(url) !== undefined;

  return {
    take(streamId, url, now = performance.now()) {
      if (isInbox(url)) return 0;
      const { host } = new URL(url);
      if (hostOf.size >= MOST_STREAMS) forgetWhoseTurnsAreFree(now);
      hostOf.set(streamId, host);
      return takeTurn(host, now, Number.POSITIVE_INFINITY)!;
    },
    takeSoon: (url, mostMs, now = performance.now()) =>
      isInbox(url) ? 0 : takeTurn(new URL(url).host, now, mostMs),
    waiting: (now = performance.now()) =>
      [...hostOf]
        .filter(([, host]) => (nextAt.get(host) ?? now) > now + AHEAD_MS)
        .map(([streamId]) => streamId),
  };
}
