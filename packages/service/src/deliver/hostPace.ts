/**
 * Limit on the webhooks per second that this process sends to one host, across all streams,
 * including replays and retries. The state is kept in memory only.
 */

export interface HostPace {
  /** Takes the next turn for the URL's host; returns the milliseconds until that turn. */
  take(streamId: string, url: string, now?: number): number;
  /**
   * Takes a turn for a webhook without a stream, and returns the milliseconds until that turn.
   * Returns undefined without taking a turn if the wait would exceed `mostMs`.
   */
  takeSoon(url: string, mostMs: number, now?: number): number | undefined;
  /**
   * Returns the streams to exclude from claims, because the next turns of their hosts are taken.
   */
  waiting(now?: number): string[];
}

/**
 * Milliseconds by which turns may be assigned in advance, so that a host stays busy between two
 * claims.
 */
const AHEAD_MS = 250;
const MAX_STREAMS = 100_000;
const MAX_HOSTS = 100_000;

/**
 * @param perSecond undefined for no limit
 * @param hostOfUrl returns the host of a webhook URL; undefined if the URL has no limit
 */
export function createHostPace(
  perSecond: number | undefined,
  hostOfUrl: (url: string) => string | undefined,
): HostPace {
  if (perSecond === undefined) return { take: () => 0, takeSoon: () => 0, waiting: () => [] };
  const intervalMs = 1000 / perSecond;
  const hostOf = new Map<string, string>();
  /** Time of the earliest free turn of each host. */
  const nextAt = new Map<string, number>();

  const forgetWhoseTurnsAreFree = (now: number): void => {
    for (const [host, at] of nextAt) if (at <= now) nextAt.delete(host);
    for (const [streamId, host] of hostOf) if (!nextAt.has(host)) hostOf.delete(streamId);
  };

  const takeTurn = (host: string, now: number, mostMs: number): number | undefined => {
    const at = Math.max(now, nextAt.get(host) ?? now);
    if (at - now > mostMs) return undefined;
    nextAt.set(host, at + intervalMs);
    if (nextAt.size >= MAX_HOSTS) forgetWhoseTurnsAreFree(now);
    return at - now;
  };

  return {
    take(streamId, url, now = performance.now()) {
      const host = hostOfUrl(url);
      if (host === undefined) return 0;
      if (hostOf.size >= MAX_STREAMS) forgetWhoseTurnsAreFree(now);
      hostOf.set(streamId, host);
      return takeTurn(host, now, Number.POSITIVE_INFINITY)!;
    },
    takeSoon(url, mostMs, now = performance.now()) {
      const host = hostOfUrl(url);
      return host === undefined ? 0 : takeTurn(host, now, mostMs);
    },
    waiting: (now = performance.now()) =>
      [...hostOf]
        .filter(([, host]) => (nextAt.get(host) ?? now) > now + AHEAD_MS)
        .map(([streamId]) => streamId),
  };
}
