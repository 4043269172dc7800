/** Tests the reports of chains that this process and other processes read. */
import { expect, test, vi } from 'vitest';
import type { ChainReport, Lease } from '../store/leases/contract.ts';
import { createChainReports, heightsOf } from './chainReports.ts';

const log = { info: () => {}, warn: () => {}, error: () => {} };
const reportOf = (id: string, state: ChainReport['state']) => ({ id, state }) as ChainReport;

async function start(
  leaseStates: Record<string, 'holder' | 'candidate' | 'none'>,
  leases: Lease[] = [],
) {
  const all = Object.entries(leaseStates).map(([id, leaseState]) => ({
    id,
    leaseState,
    report: vi.fn(() => reportOf(id, 'live')),
  }));
  const byId = new Map(all.map((each) => [each.id, each]));
  const reports = createChainReports({
    store: {
      listLeases: async () => leases,
      signals: { on: () => () => {} } as never,
    },
    log,
    own: { all, get: (id) => byId.get(id) },
  });
  await reports.start();
  await reports.stop();
  return { reports, all };
}

test('finding a chain reports only that chain, however many there are', async () => {
  const names = Array.from({ length: 200 }, (_, n) => `0x${n.toString(16)}`);
  const { reports, all } = await start(Object.fromEntries(names.map((id) => [id, 'holder'])));
  for (const id of names) expect(reports.find(id)).toEqual(reportOf(id, 'live'));
  for (const { report } of all) expect(report).toHaveBeenCalledTimes(1);
});

test('a chain that another process reads has the report of that process', async () => {
  const other = (name: string, freeForMs = 0) => ({
    name,
    holder: 'other',
    freeForMs,
    report: reportOf(name, 'catching-up'),
  });
  const { reports } = await start({ '0x1': 'holder', '0x2': 'candidate', '0x3': 'none' }, [
    other('0x1'),
    other('0x2'),
    other('0x3'),
    other('0x4', 5_000),
    { name: 'alerts', holder: 'other', freeForMs: 0, report: null },
  ]);
  const states = { '0x1': 'live', '0x2': 'catching-up', '0x3': 'catching-up', '0x4': 'down' };
  expect(reports.list().map(({ id, state }) => [id, state])).toEqual(Object.entries(states));
  for (const [id, state] of Object.entries(states)) expect(reports.find(id)?.state).toBe(state);
  expect(reports.find('alerts')).toBeUndefined();
  expect(reports.find('0x5')).toBeUndefined();
});

test('a chain without a reader is read by a candidate, or until a minute has passed', async () => {
  const free = (name: string, freeForMs: number) => ({
    name,
    holder: 'other',
    freeForMs,
    report: null,
  });
  const { reports } = await start({ '0x1': 'candidate', '0x2': 'none' }, [
    free('0x1', 90_000),
    free('0x2', 90_000),
    free('0x3', 59_000),
  ]);
  expect(['0x1', '0x2', '0x3', '0x4'].map((id) => reports.isRead(id))).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test('a candidate reports a chain without a reader, and so does any process without a report', async () => {
  const free = {
    name: '0x1',
    holder: 'other',
    freeForMs: 5_000,
    report: reportOf('0x1', 'catching-up'),
  };
  const { reports } = await start({ '0x1': 'candidate', '0x2': 'none' }, [free]);
  expect(reports.list().map(({ id, state }) => [id, state])).toEqual([
    ['0x1', 'live'],
    ['0x2', 'live'],
  ]);
});

test('a chain whose reader stopped is down without progress, and forgotten after a day', async () => {
  const free = (name: string, hours: number) => ({
    name,
    holder: 'other',
    freeForMs: hours * 3_600_000,
    report: { ...reportOf(name, 'catching-up'), progress: {} } as ChainReport,
  });
  const { reports } = await start({}, [free('0x1', 23), free('0x2', 25)]);
  expect(reports.list()).toEqual([
    {
      id: '0x1',
      state: 'down',
      progress: null,
      message: 'no process reads this chain; the last reader, other, stopped 82800 s ago',
    },
  ]);
  expect(reports.find('0x2')).toBeUndefined();
});

test('reports are read again at each signal and each second, and kept if that fails', async () => {
  vi.useFakeTimers();
  try {
    const listLeases = vi.fn(async (): Promise<Lease[]> => [
      { name: '0x1', holder: 'other', freeForMs: 0, report: reportOf('0x1', 'live') },
    ]);
    const listeners = new Set<() => void>();
    const reports = createChainReports({
      store: {
        listLeases,
        signals: {
          on(_: string, listener: () => void) {
            listeners.add(listener);
            return () => listeners.delete(listener);
          },
        } as never,
      },
      log,
      own: { all: [], get: () => undefined },
    });
    await reports.start();
    listLeases.mockRejectedValueOnce(new Error('unavailable'));
    for (const listener of listeners) listener();
    await vi.advanceTimersByTimeAsync(0);
    expect(listLeases).toHaveBeenCalledTimes(2);
    expect(reports.list()).toHaveLength(1);
    listLeases.mockResolvedValue([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reports.list()).toEqual([]);
    await reports.stop();
    expect(listeners.size).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('no block above the checkpoint counts as confirmed, even if the nodes are ahead', () => {
  const report = { checkpoint: 90, confirmedUpTo: 88, safe: 95, finalized: 40 };
  const heights = { chain: 88, latest: 90, depth: 90, safe: 90, finalized: 40 };
  expect(heightsOf(report)).toEqual(heights);
  expect(heightsOf({ ...report, finalized: 91 })).toEqual({ ...heights, finalized: 90 });
  expect(heightsOf({ ...report, safe: null, finalized: null })).toEqual({
    ...heights,
    safe: -1,
    finalized: -1,
  });
  expect(new Set(Object.values(heightsOf()))).toEqual(new Set([-1]));
});
