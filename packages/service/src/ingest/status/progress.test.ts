import { describe, expect, test } from 'vitest';
import { createProgress } from './progress.ts';

describe('progress', () => {
  test('uses the recent rate, and includes the growth of the head', () => {
    let now = 0;
    const progress = createProgress(() => now);
    expect(progress.read()).toBe(undefined);
    progress.begin(100, 1_100);
    expect(progress.read()).toEqual({ from: 100, to: 1_100, perSecond: 0, secondsLeft: null });
    // Commits 50 blocks per second, while the head grows by 10 per second.
    for (let second = 1; second <= 10; second++) {
      now = second * 1_000;
      progress.note(100 + 50 * second, 1_100 + 10 * second);
    }
    expect(progress.read()).toEqual({ from: 100, to: 1_200, perSecond: 50, secondsLeft: 15 });
    // The commits slow down, and the earlier rate no longer counts.
    for (let second = 11; second <= 40; second++) {
      now = second * 1_000;
      progress.note(600 + 5 * (second - 10), 1_200 + 10 * (second - 10));
    }
    expect(progress.read()).toMatchObject({ perSecond: 5, secondsLeft: null });
    now = 41_000;
    expect(progress.end()).toEqual({ blocks: 650, seconds: 41 });
    expect(progress.read()).toBe(undefined);
    expect(progress.end()).toBe(undefined);
  });
});
