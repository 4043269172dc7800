import { afterEach, expect, test, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import { createLeases } from './claims.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Creates leases on a ledger that extends all leases except `lost`. */
function open(
  engine: 'sqlite' | 'postgres',
  lost: readonly string[] = [],
  onExtended = (): void => {},
) {
  const extended: string[][] = [];
  let isDown = false;
  const leases = createLeases({
    log: createLog(() => {}),
    onReleased: () => {},
    store: {
      engine,
      extendLeases(asked) {
        if (isDown) return Promise.reject(new Error('connection refused'));
        extended.push(asked.map(({ id, leaseToken }) => `${id} ${leaseToken}`));
        onExtended();
        return Promise.resolve(asked.map(({ id }) => id).filter((id) => !lost.includes(id)));
      },
      releaseLeases: () =>
        Promise.resolve({ released: 0, suspects: 0, quarantined: [], cancelled: [] }),
    },
  });
  return { leases, extended, goDown: () => (isDown = true) };
}

test('extends held leases until they are dropped or claimed again under another token', async () => {
  vi.useFakeTimers();
  const { leases, extended } = open('postgres');
  leases.hold({ id: 'a', leaseToken: '1' });
  leases.hold({ id: 'b', leaseToken: '1' });
  leases.start();
  await vi.advanceTimersByTimeAsync(7_000);
  leases.drop({ id: 'a', leaseToken: '1' });
  leases.hold({ id: 'b', leaseToken: '2' });
  leases.drop({ id: 'b', leaseToken: '1' });
  await vi.advanceTimersByTimeAsync(7_000);
  leases.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(extended).toEqual([['a 1', 'b 1'], ['b 2']]);
});

test('does not extend leases on SQLite, which do not expire', async () => {
  vi.useFakeTimers();
  const { leases, extended } = open('sqlite');
  leases.hold({ id: 'a', leaseToken: '1' });
  leases.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(extended).toEqual([]);
});

test('distinguishes lost leases from a ledger that does not respond', async () => {
  const { leases, goDown } = open('postgres', ['a']);
  const asked = ['a', 'b'].map((id) => ({ id, leaseToken: '1' }));
  expect(await leases.renew(asked)).toEqual([asked[1]]);
  goDown();
  expect(await leases.renew(asked)).toBeUndefined();
});

test.each(['monotonic', 'wall'])(
  'extends leases again if the process stalled meanwhile, by the %s clock',
  async (which) => {
    const clock = which === 'wall' ? Date : performance;
    const now = clock.now.bind(clock);
    let stalledMs = 0;
    vi.spyOn(clock, 'now').mockImplementation(() => now() + stalledMs);
    const stallsMs = [60_000, 11_000, 0];
    const { leases, extended } = open('postgres', ['a'], () => {
      stalledMs += stallsMs.shift()!;
    });
    const asked = ['a', 'b'].map((id) => ({ id, leaseToken: '1' }));
    expect(await leases.renew(asked)).toEqual([asked[1]]);
    expect(extended).toEqual([['a 1', 'b 1'], ['b 1'], ['b 1']]);
  },
);
