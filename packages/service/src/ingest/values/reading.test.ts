import { expect, test } from 'vitest';
import { createLog } from '../../base/log.ts';
import { until } from '@sluice/testkit';
import { type ReadValues, createValueReading } from './reading.ts';

const NOTHING: ReadValues<object> = {
  results: [],
  forgotten: [],
  lacking: [],
  sent: new Map(),
  problems: new Map(),
};
const PENDING = {
  chain: '0x1',
  block: { number: 2, hash: '0x2', parentHash: '0x1', timestamp: 2 },
  after: 1,
  pending: 1,
};

test('known values are loaded again only if the block does not follow, or a stream changed', async () => {
  const block = (number: number, hash: string, parentHash: string, revision = 1) => ({
    block: { number, hash, parentHash, timestamp: number },
    revision,
  });
  const pending = [
    block(2, '0x2', '0x1'),
    block(3, '0x3', '0x2'),
    // A reorg.
    block(3, '0x3b', '0x2b'),
    block(4, '0x4', '0x3b'),
    // A stream changed.
    block(5, '0x5', '0x4', 2),
    block(6, '0x6', '0x5', 2),
  ];
  const events: string[] = [];
  const reading = createValueReading<{ id: string }, object>({
    chain: '0x1',
    epoch: 1,
    store: {
      nextState: () =>
        Promise.resolve(pending[0] && { ...PENDING, block: pending[0].block, after: 1 }),
      listCovering: () => Promise.resolve(['a']),
      listKnownReads() {
        events.push('load');
        return Promise.resolve([]);
      },
      commitState({ state }) {
        events.push(state.block.hash);
        pending.shift();
        return Promise.resolve(true);
      },
    },
    matcher: {
      refresh: () => Promise.resolve(pending[0]?.revision ?? 0),
      streams: () => [],
      toMatches: () => [],
    },
    readState: () => Promise.resolve(NOTHING),
    confirmedHeights: () => undefined,
    retryMs: 0,
    log: createLog(() => {}),
  });
  reading.start();
  await until('all are read', () => Promise.resolve(pending.length === 0));
  await reading.stop();
  expect(events.join(' ')).toBe('load 0x2 0x3 load 0x3b 0x4 load 0x5 0x6');
});

/** Starts a reader of one block, whose writes and reads end as given. */
function start({
  read = () => NOTHING,
  commit = () => true,
  pending = 1,
  retryMs = 0,
}: {
  read?: (isLastTry: boolean) => ReadValues<object> | undefined;
  commit?: () => boolean;
  pending?: number;
  retryMs?: number;
}) {
  const committed: { lacking: readonly string[] }[] = [];
  let isDone = false;
  let tries = 0;
  const reading = createValueReading<{ id: string }, object>({
    chain: '0x1',
    epoch: 1,
    store: {
      nextState: () => Promise.resolve(isDone ? undefined : { ...PENDING, pending }),
      listCovering: () => Promise.resolve(['a']),
      listKnownReads: () => Promise.resolve([]),
      commitState(given) {
        committed.push(given);
        isDone = commit();
        return Promise.resolve(isDone);
      },
    },
    matcher: {
      refresh: () => Promise.resolve(1),
      streams: () => [{ id: 'a' }, { id: 'b' }],
      toMatches: () => [],
    },
    readState({ streams }, isLastTry) {
      tries++;
      expect(streams).toEqual([{ id: 'a' }]);
      return Promise.resolve(read(isLastTry));
    },
    confirmedHeights: () => undefined,
    retryMs,
    log: createLog(() => {}),
  });
  reading.start();
  return { reading, committed, tries: () => tries };
}

test('a state that the nodes refuse is read six times', async () => {
  const world = start({
    read: (isLastTry) => (isLastTry ? { ...NOTHING, lacking: ['a'] } : undefined),
  });
  await until('it is written', () => Promise.resolve(world.committed.length > 0));
  await world.reading.stop();
  expect(world.tries()).toBe(6);
  expect(world.committed).toMatchObject([{ lacking: ['a'] }]);
});

test('the oldest of too many pending blocks becomes a hole', async () => {
  const world = start({ pending: 10_001 });
  await until('it is written', () => Promise.resolve(world.committed.length > 0));
  await world.reading.stop();
  expect(world.tries()).toBe(0);
  expect(world.committed).toMatchObject([{ lacking: ['a'] }]);
});

test('a write that is refused is not repeated at once', async () => {
  const world = start({ commit: () => false, retryMs: 60_000 });
  await until('it is written', () => Promise.resolve(world.committed.length > 0));
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  await world.reading.stop();
  expect(world.committed).toHaveLength(1);
});
