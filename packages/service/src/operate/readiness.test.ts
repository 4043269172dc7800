import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import { createReadiness } from './readiness.ts';
import { RetryableError } from '../base/errors.ts';
import type { Store } from '../store/store.ts';

const NOW = 1_000_000_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const createWorld = (
  answers: Partial<
    Pick<Store, 'checkWritable' | 'readLedgerTime' | 'listEnrichingSince' | 'countWaitingCommits'>
  > = {},
  isWell = true,
  whyUnprepared?: () => string | undefined,
) => {
  const store = {
    checkWritable: vi.fn(async () => {}),
    readLedgerTime: async () => NOW,
    listEnrichingSince: async () => [],
    countWaitingCommits: async () => 0,
    ...answers,
  };
  const lines: string[] = [];
  const readiness = createReadiness(
    store as unknown as Store,
    createLog((line) => lines.push(line)),
    () => isWell,
    whyUnprepared,
  );
  return { readiness, store, lines };
};

describe('deliveries waiting for enrichment', () => {
  const readWaiting = (waitedMs: number, isWell: boolean): Promise<string[]> => {
    const { readiness } = createWorld(
      { listEnrichingSince: async () => [{ chain: '0x1', since: NOW - waitedMs }] },
      isWell,
    );
    readiness.started();
    return readiness.read();
  };

  test('make a process not ready although the nodes respond', async () => {
    expect(await readWaiting(120_000, true)).toEqual([
      'deliveries of 0x1 have waited 120 s for enrichment; see the log',
    ]);
  });

  test.each([
    ['not for long', 119_999, true],
    ['for nodes that do not respond', 600_000, false],
  ])('leave a process ready when they wait %s', async (_, waitedMs, isWell) => {
    expect(await readWaiting(waitedMs, isWell)).toEqual([]);
  });
});

test('a process is not ready until it is prepared', async () => {
  let unprepared: string | undefined = 'addresses are being loaded';
  const { readiness } = createWorld({}, true, () => unprepared);
  readiness.started();
  expect(await readiness.read()).toEqual(['addresses are being loaded']);
  unprepared = undefined;
  expect(await readiness.read()).toEqual([]);
});

test('a process is ready between its start and its end', async () => {
  const { readiness, store } = createWorld();
  expect(await readiness.read()).toEqual(['the service is starting']);
  readiness.started();
  expect(await readiness.read()).toEqual([]);
  readiness.stopping();
  expect(await readiness.read()).toEqual(['the service is stopping']);
  expect(store.checkWritable).toHaveBeenCalledTimes(1);
});

describe('a ledger that cannot be written', () => {
  const away = async () => {
    throw new Error('connect ECONNREFUSED db.internal:5432');
  };

  test('makes a process not ready, and only the log has the details', async () => {
    const { readiness, lines } = createWorld({ checkWritable: away });
    readiness.started();
    expect(await readiness.read()).toEqual(['the ledger cannot be written; see the log']);
    expect(lines.join('')).toContain('db.internal');
  });

  test.each([
    ['waiting commits', async () => 1],
    [
      'a lack of connections, because all are waiting',
      async () => {
        throw new RetryableError('no_standby', 'no standby');
      },
    ],
  ])('for lack of a standby is detected by %s', async (_, countWaitingCommits) => {
    const { readiness } = createWorld({ checkWritable: away, countWaitingCommits });
    readiness.started();
    expect(await readiness.read()).toEqual([
      'commits are waiting for a standby of the database, and none responds',
    ]);
  });

  test('for another reason is not reported as a missing standby', async () => {
    const { readiness } = createWorld({ checkWritable: away, countWaitingCommits: away });
    readiness.started();
    expect(await readiness.read()).toEqual(['the ledger cannot be written; see the log']);
  });

  test('is written at most once a second, however many clients call', async () => {
    const { readiness, store } = createWorld();
    readiness.started();
    await Promise.all([readiness.read(), readiness.read()]);
    vi.advanceTimersByTime(999);
    await readiness.read();
    expect(store.checkWritable).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1);
    await readiness.read();
    expect(store.checkWritable).toHaveBeenCalledTimes(2);
  });

  test('gets three seconds, and no second write while one is waiting', async () => {
    const held = Promise.withResolvers<void>();
    const checkWritable = vi.fn(() => held.promise);
    const { readiness } = createWorld({ checkWritable });
    readiness.started();
    for (let n = 0; n < 3; n++) {
      let reasons: string[] | undefined;
      void readiness.read().then((read) => (reasons = read));
      await vi.advanceTimersByTimeAsync(2_999);
      expect(reasons).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      expect(reasons).toEqual(['the ledger cannot be written; see the log']);
    }
    expect(checkWritable).toHaveBeenCalledTimes(1);
    held.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await readiness.read()).toEqual([]);
    expect(checkWritable).toHaveBeenCalledTimes(2);
  });
});

describe('an exhausted resource of this process', () => {
  const reason = expect.stringMatching(/^webhooks cannot be sent: .*no file descriptors left/);

  test('makes it not ready for five seconds, along with any other reason', async () => {
    const { readiness } = createWorld({
      listEnrichingSince: async () => [{ chain: '0x1', since: 0 }],
    });
    readiness.started();
    readiness.recordLocalFailure('EMFILE');
    vi.advanceTimersByTime(4_999);
    expect(await readiness.read()).toEqual([expect.stringMatching(/^deliveries of 0x1/), reason]);
    vi.advanceTimersByTime(1);
    expect(await readiness.read()).toEqual([expect.stringMatching(/^deliveries of 0x1/)]);
  });

  test('is logged once while it lasts', () => {
    const { readiness, lines } = createWorld();
    for (let n = 0; n < 10; n++) {
      readiness.recordLocalFailure('EMFILE');
      vi.advanceTimersByTime(1_000);
    }
    expect(lines).toHaveLength(1);
    vi.advanceTimersByTime(5_000);
    readiness.recordLocalFailure('EMFILE');
    expect(lines).toHaveLength(2);
  });

  test('a stall does not count after it has ended', async () => {
    const { readiness } = createWorld();
    readiness.started();
    readiness.recordLocalFailure('STALLED');
    expect(await readiness.read()).toEqual([]);
  });
});
