import { afterEach, expect, test, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import { createLeases } from './leases.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Creates leases on a ledger that extends all leases except `lost`. */
function open(isShared: boolean, lost: readonly string[] = [], onExtended = (): void => {}) {
  const extended: string[][] = [];
  const released: string[][] = [];
  let isDown = false;
  const leases = createLeases({
    log: createLog(() => {}),
    onReleased: () => {},
    store: {
      isShared,
      extendLeases(asked) {
        if (isDown) return Promise.reject(new Error('connection refused'));
        extended.push(asked.map(({ id, leaseToken }) => `${id} ${leaseToken}`));
        onExtended();
        return Promise.resolve(asked.map(({ id }) => id).filter((id) => !lost.includes(id)));
      },
      releaseLeases(which) {
        if (isDown) return Promise.reject(new Error('disk full'));
        released.push(typeof which === 'string' ? [which] : which.map(({ id }) => id));
        return Promise.resolve({ released: 0, suspects: 0, quarantined: [], canceled: [] });
      },
    },
  });
  return { leases, extended, released, setDown: (down: boolean) => (isDown = down) };
}

test('the deliverer extends held leases until they are dropped or claimed again under another token', async () => {
  vi.useFakeTimers();
  const { leases, extended } = open(true);
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

test('the deliverer does not extend leases on SQLite, which do not expire', async () => {
  vi.useFakeTimers();
  const { leases, extended, released } = open(false);
  leases.hold({ id: 'a', leaseToken: '1' });
  leases.start();
  await vi.advanceTimersByTimeAsync(60_000);
  leases.stop();
  expect([extended, released]).toEqual([[], []]);
});

test('the deliverer lets abandoned leases expire on SQLite, once the ledger responds', async () => {
  vi.useFakeTimers();
  const { leases, released, setDown } = open(false);
  leases.hold({ id: 'a', leaseToken: '1' });
  leases.hold({ id: 'b', leaseToken: '1' });
  leases.start();
  leases.abandon({ id: 'a', leaseToken: '1' });
  await vi.advanceTimersByTimeAsync(39_000);
  expect(released).toEqual([]);
  setDown(true);
  await vi.advanceTimersByTimeAsync(20_000);
  setDown(false);
  await vi.advanceTimersByTimeAsync(20_000);
  leases.stop();
  expect(released).toEqual([['a']]);
});

test('the deliverer distinguishes lost leases from a ledger that does not respond', async () => {
  const { leases, setDown } = open(true, ['a']);
  const asked = ['a', 'b'].map((id) => ({ id, leaseToken: '1' }));
  expect(await leases.renew(asked)).toEqual([asked[1]]);
  setDown(true);
  expect(await leases.renew(asked)).toBeUndefined();
});

test.each(['monotonic', 'wall'])(
  'the deliverer extends leases again if the process stalled meanwhile, by the %s clock',
  async (which) => {
    const clock = which === 'wall' ? Date : performance;
    const now = clock.now.bind(clock);
    let stalledMs = 0;
    vi.spyOn(clock, 'now').mockImplementation(() => now() + stalledMs);
    const stallsMs = [60_000, 11_000, 0];
    const { leases, extended } = open(true, ['a'], () => {
      stalledMs += stallsMs.shift()!;
    });
    const asked = ['a', 'b'].map((id) => ({ id, leaseToken: '1' }));
    expect(await leases.renew(asked)).toEqual([asked[1]]);
    expect(extended).toEqual([['a 1', 'b 1'], ['b 1'], ['b 1']]);
  },
);

test('the deliverer gives up on leases if each extension takes too long', async () => {
  let stalledMs = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + stalledMs);
  const { leases, extended } = open(true, [], () => {
    stalledMs += 11_000;
  });
  expect(await leases.renew([{ id: 'a', leaseToken: '1' }])).toBeUndefined();
  expect(extended).toHaveLength(3);
});
