import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import { createSignals } from '../store/live/signals.ts';
import { createRuleKeeper } from './ruleKeeper.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function createKeeper() {
  const signals = createSignals();
  const refreshes: number[] = [];
  const ledger = { isAvailable: true };
  let isLoaded = false;
  const lines: string[] = [];
  const keeper = createRuleKeeper(
    {
      async refresh() {
        refreshes.push(Date.now());
        if (!ledger.isAvailable) throw new Error('the ledger is unavailable');
        isLoaded = true;
        return 1;
      },
      isLoaded: () => isLoaded,
    },
    { store: { signals }, log: createLog((line) => lines.push(line)) },
  );
  return { keeper, signals, refreshes, ledger, lines };
}

test('the rule keeper loads the rules at the start, after each change, and periodically', async () => {
  const { keeper, signals, refreshes } = createKeeper();
  const onLoaded = vi.fn();
  keeper.start(onLoaded);
  await vi.advanceTimersByTimeAsync(0);
  expect([refreshes.length, onLoaded.mock.calls.length]).toEqual([1, 1]);
  signals.send(['rules']);
  await vi.advanceTimersByTimeAsync(0);
  expect(refreshes.length).toBe(2);
  await vi.advanceTimersByTimeAsync(30_000);
  expect([refreshes.length, onLoaded.mock.calls.length]).toEqual([5, 1]);
  keeper.stop();
  signals.send(['rules']);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(refreshes.length).toBe(5);
});

test('the rule keeper retries a load that fails', async () => {
  const { keeper, refreshes, ledger, lines } = createKeeper();
  const onLoaded = vi.fn();
  ledger.isAvailable = false;
  keeper.start(onLoaded);
  await vi.advanceTimersByTimeAsync(2_500);
  expect([refreshes.length, lines.length, onLoaded.mock.calls.length]).toEqual([3, 3, 0]);
  ledger.isAvailable = true;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([keeper.isLoaded(), onLoaded.mock.calls.length]).toEqual([true, 1]);
  keeper.stop();
});
