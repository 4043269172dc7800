import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createPace } from './pace.ts';
import { SourceError } from '../source.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const limited = (retryAfterMs: number) => async (): Promise<never> => {
  throw new SourceError('rate-limited', 'too many', { retryAfterMs });
};

describe('pace', () => {
  /**
   * Starts many requests. `finish` completes them and returns the maximum number that ran at once.
   */
  const fill = (pace: ReturnType<typeof createPace>, wanted: number) => {
    let running = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    const all = Array.from({ length: wanted }, () =>
      pace.run(async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => ends.push(resolve));
        running--;
      }),
    );
    const finish = async (): Promise<number> => {
      while (ends.length > 0) {
        ends.splice(0).forEach((end) => end());
        await vi.advanceTimersByTimeAsync(2_000);
      }
      await Promise.all(all);
      return most;
    };
    return { finish };
  };

  test('allows more requests at once with each response, and half as many after a rate limit', async () => {
    const pace = createPace('node');
    const first = fill(pace, 500);
    await vi.advanceTimersByTimeAsync(0);
    const most = await first.finish();
    expect(most).toBeGreaterThan(8);
    expect(most).toBeLessThanOrEqual(32);
    await expect(pace.run(limited(0))).rejects.toThrow('too many');
    const second = fill(pace, 17);
    await vi.advanceTimersByTimeAsync(500);
    expect(await second.finish()).toBeLessThanOrEqual(most / 2 + 1);
  });

  test('rejects requests immediately for the time that the node requests, then continues', async () => {
    const pace = createPace('node');
    await expect(pace.run(limited(5_000))).rejects.toThrow('too many');
    expect(pace.pausedUntil).toBe(performance.now() + 5_000);
    const refused = await pace.run(async () => 1).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: 'rate-limited', retryAfterMs: 5_000 });
    vi.advanceTimersByTime(5_001);
    expect(pace.pausedUntil).toBe(0);
    const result = pace.run(async () => 2);
    await vi.advanceTimersByTimeAsync(100);
    expect(await result).toBe(2);
  });

  test('spaces requests out after a rate limit, until responses arrive again', async () => {
    const pace = createPace('node');
    await expect(pace.run(limited(0))).rejects.toThrow('too many');
    vi.advanceTimersByTime(1);
    const starts: number[] = [];
    const all = Array.from({ length: 4 }, () => pace.run(async () => void starts.push(Date.now())));
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all(all);
    const gaps = starts.slice(1).map((start, n) => start - starts[n]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(9);
  });

  test('runs aside requests after all others, with at most half of the capacity', async () => {
    const pace = createPace('node');
    const started: string[] = [];
    const ends: (() => void)[] = [];
    const ask = (what: string, order?: 'aside') =>
      pace.run(async () => {
        started.push(what);
        await new Promise<void>((resolve) => ends.push(resolve));
      }, order);
    const all = Array.from({ length: 8 }, () => ask('aside', 'aside'));
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toHaveLength(4);
    all.push(...Array.from({ length: 6 }, () => ask('block')));
    await vi.advanceTimersByTimeAsync(0);
    expect(started.slice(4)).toEqual(['block', 'block', 'block', 'block']);
    ends.splice(0).forEach((end) => end());
    await vi.advanceTimersByTimeAsync(0);
    expect(started.slice(8, 10)).toEqual(['block', 'block']);
    while (ends.length > 0) {
      ends.splice(0).forEach((end) => end());
      await vi.advanceTimersByTimeAsync(0);
    }
    await Promise.all(all);
    expect(started).toHaveLength(14);
  });

  test('runs slow requests with at most a quarter of the capacity', async () => {
    const pace = createPace('node');
    const started: string[] = [];
    const ends: (() => void)[] = [];
    const ask = (order: 'ordinary' | 'aside' | 'slow') =>
      pace.run(async () => {
        started.push(order);
        await new Promise<void>((resolve) => ends.push(resolve));
      }, order);
    const all = Array.from({ length: 6 }, () => ask('slow'));
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['slow', 'slow']);
    all.push(...Array.from({ length: 6 }, () => ask('aside')));
    await vi.advanceTimersByTimeAsync(0);
    expect(started.slice(2)).toEqual(['aside', 'aside']);
    all.push(...Array.from({ length: 6 }, () => ask('ordinary')));
    await vi.advanceTimersByTimeAsync(0);
    expect(started.slice(4)).toEqual(Array.from({ length: 4 }, () => 'ordinary'));
    while (ends.length > 0) {
      ends.splice(0).forEach((end) => end());
      await vi.advanceTimersByTimeAsync(0);
    }
    await Promise.all(all);
    expect(started).toHaveLength(18);
  });

  test('runs slow requests one by one, however few requests a node allows', async () => {
    const pace = createPace('node');
    for (let n = 0; n < 4; n++) {
      await expect(pace.run(limited(0))).rejects.toThrow('too many');
      await vi.advanceTimersByTimeAsync(1_001);
    }
    let done = 0;
    for (let n = 0; n < 2; n++) void pace.run(async () => void done++, 'slow');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(done).toBe(2);
  });

  test('slows down once for a burst of rate limits', async () => {
    const pace = createPace('node');
    const burst = await Promise.allSettled(Array.from({ length: 8 }, () => pace.run(limited(0))));
    expect(burst.every(({ status }) => status === 'rejected')).toBe(true);
    vi.advanceTimersByTime(1);
    const next = fill(pace, 4);
    await vi.advanceTimersByTimeAsync(500);
    expect(await next.finish()).toBe(4);
  });
});
