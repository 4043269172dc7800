import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import { LEASE_MS } from '../operate/holder.ts';
import { createSignals } from '../store/live/signals.ts';
import type { Reader } from '../store/leases/contract.ts';
import { createChainSharing } from './sharing.ts';

const CHAINS = ['0x1', '0x2', '0x3', '0x4'];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/**
 * Creates an in-memory ledger that can become unavailable. Readers that do not join again expire.
 */
function createLedger() {
  const readers = new Map<string, { chains: readonly string[]; joinedAt: number; until: number }>();
  const ledger = {
    isAvailable: true,
    holders: new Map<string, string>(),
    join(id: string, chains: readonly string[], forMs = LEASE_MS) {
      const now = Date.now();
      const known = readers.get(id);
      const joinedAt = known === undefined || known.until < now ? now : known.joinedAt;
      readers.set(id, { chains, joinedAt, until: now + forMs });
    },
    readers: () => [...readers.keys()],
  };
  const check = (): void => {
    if (!ledger.isAvailable) throw new Error('the ledger is unavailable');
  };
  const store = {
    signals: createSignals(),
    async joinReaders({
      id,
      chains,
      forMs,
    }: {
      id: string;
      chains: readonly string[];
      forMs: number;
    }) {
      check();
      ledger.join(id, chains, forMs);
    },
    async leaveReaders(id: string) {
      check();
      readers.delete(id);
    },
    async readSharing() {
      check();
      const now = Date.now();
      const listed: Reader[] = [...readers]
        .filter(([, { until }]) => until > now)
        .map(([id, { chains, joinedAt }]) => ({ id, chains, joinedForMs: now - joinedAt }));
      return { readers: listed, holders: new Map(ledger.holders) };
    },
  };
  return { ledger, store };
}

function createReader(readable: () => readonly string[] = () => CHAINS) {
  const { ledger, store } = createLedger();
  const sharing = createChainSharing({
    id: 'self',
    store,
    log: createLog(() => {}),
    listReadable: readable,
    onChange: () => {},
  });
  const own = (): string[] => CHAINS.filter((chain) => sharing.isOwn(chain));
  /** Takes the leases of the reader's chains, as the duties of a service do. */
  const take = (): void => {
    for (const chain of own()) ledger.holders.set(chain, 'self');
  };
  return { ledger, store, sharing, own, take };
}

test('a single reader has every chain at once', async () => {
  const { sharing, own } = createReader();
  expect(own()).toEqual([]);
  sharing.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(own()).toEqual(CHAINS);
});

test('a reader joins when it has loaded what it needs', async () => {
  let readable: string[] = [];
  const { ledger, sharing, own } = createReader(() => readable);
  sharing.start();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ledger.readers()).toEqual([]);
  readable = ['0x2'];
  sharing.look();
  await vi.advanceTimersByTimeAsync(0);
  expect([ledger.readers(), own()]).toEqual([['self'], ['0x2']]);
});

test('a reader hands over one chain at a time', async () => {
  const { ledger, sharing, own, take } = createReader();
  sharing.start();
  await vi.advanceTimersByTimeAsync(0);
  take();
  for (let second = 0; second < 12; second++) {
    ledger.join('other', CHAINS);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  const [released] = CHAINS.filter((chain) => !own().includes(chain));
  expect(own()).toHaveLength(3);
  // The next chain is handed over only after the other reader has taken this one.
  ledger.holders.delete(released!);
  ledger.join('other', CHAINS);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(own()).toHaveLength(3);
  ledger.holders.set(released!, 'other');
  ledger.join('other', CHAINS);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(own()).toHaveLength(2);
});

test('after an outage of the ledger, readers keep their chains', async () => {
  const { ledger, sharing, own, take } = createReader();
  ledger.join('other', CHAINS, 20_000);
  ledger.holders.set('0x1', 'other').set('0x2', 'other');
  sharing.start();
  await vi.advanceTimersByTimeAsync(5_000);
  take();
  expect(own()).toEqual(['0x3', '0x4']);

  ledger.isAvailable = false;
  await vi.advanceTimersByTimeAsync(30_000);
  // All leases have expired, and this process is the first to join again.
  ledger.holders.clear();
  ledger.isAvailable = true;
  await vi.advanceTimersByTimeAsync(1_500);
  expect(own()).toEqual(['0x3', '0x4']);
  // A chain that another process has taken meanwhile is lost.
  ledger.holders.set('0x4', 'other');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(own()).toEqual(['0x3']);
  // The other reader has not joined again, so it now counts as dead.
  await vi.advanceTimersByTimeAsync(3_000);
  expect(own()).toEqual(['0x1', '0x2', '0x3']);
});

test('a reader does not reconsider a chain that it is about to take', async () => {
  const { ledger, sharing, own } = createReader();
  sharing.start();
  await vi.advanceTimersByTimeAsync(0);
  ledger.join('other', CHAINS);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(own()).toEqual(CHAINS);
  ledger.holders.set('0x1', 'other');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(own()).toEqual(['0x2', '0x3', '0x4']);
});

test('a reader that stops leaves at once', async () => {
  const { ledger, sharing } = createReader();
  sharing.start();
  await vi.advanceTimersByTimeAsync(0);
  await sharing.stop();
  expect(ledger.readers()).toEqual([]);
});
