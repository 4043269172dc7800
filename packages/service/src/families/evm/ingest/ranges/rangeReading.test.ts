import type { BlockRange } from '@sluice/kit/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nameNode, readResult } from '../../../../ingest/nodes/rpcError.ts';
import type { LogFilter } from '../../../../match/logSearch.ts';
import { SourceError, type SourceErrorKind, isOfKind } from '../../../../ingest/source.ts';
import type { Provider } from '../provider.ts';
import {
  type NodeRanges,
  type RangeLogs,
  createRangeReading,
  unknownRanges,
} from './rangeReading.ts';

const TOKEN = `0x${'70'.repeat(20)}`;
const HOUR_MS = 3_600_000;
const hex = (number: number): string => `0x${number.toString(16)}`;
const hashOf = (number: number, byte = 'b1'): string =>
  `0x${byte}${number.toString(16).padStart(62, '0')}`;

const logOf = (number: number, more: object = {}) => ({
  blockNumber: hex(number),
  blockHash: hashOf(number),
  transactionHash: hashOf(number, 'aa'),
  transactionIndex: '0x0',
  logIndex: '0x0',
  address: TOKEN,
  topics: [],
  data: '0x',
  ...more,
});
/** Every tenth block has a log. */
const logsIn = ({ from, to }: BlockRange) =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n)
    .filter((number) => number % 10 === 0)
    .map((number) => logOf(number));

type Answer = unknown[] | { code: number; message: string; data?: unknown } | SourceError;

/** A node that answers `eth_getLogs` with a function. Errors pass through the classification. */
function createNode(
  answer: (range: BlockRange, filter: LogFilter) => Answer,
  filters = 1,
  keepsLogs = false,
) {
  const queries: BlockRange[] = [];
  const most = { queries: 0, logs: 0 };
  let running = 0;
  const node = {
    name: 'node',
    async request(method: string, params: readonly unknown[]): Promise<unknown> {
      const query = params[0] as LogFilter & { fromBlock: string; toBlock: string };
      const range = { from: Number(query.fromBlock), to: Number(query.toBlock) };
      queries.push(range);
      most.queries = Math.max(most.queries, ++running);
      await Promise.resolve();
      running--;
      const given = answer(range, query);
      if (given instanceof SourceError) throw given;
      return readResult(
        nameNode('node', 'https://node.example'),
        method,
        Array.isArray(given) ? { result: given } : { error: given },
      );
    },
  } as Partial<Provider> as Provider;
  const ranges: NodeRanges = unknownRanges();
  const reading = createRangeReading(
    { plans: [Array.from({ length: filters }, (_, n) => ({ topics: [[hashOf(n)]] }))], keepsLogs },
    () => ranges,
    () => Promise.resolve(),
  );

  /** Reads a range in rounds, like a search. Failed rounds are repeated. */
  const readAll = async (to: number, maxFailures = 50) => {
    const found: number[] = [];
    const failures: unknown[] = [];
    for (let from = 0; from <= to;) {
      if (ranges.restsUntil > performance.now()) return { found, failures, stoppedAt: from };
      const { plan, reach } = reading.choosePlan(ranges.limit.size)!;
      const end = Math.min(to, from + reach - 1);
      try {
        const read = await reading.readLogs(node, plan, { from, to: end });
        const blocks = [...read.logs.keys(), ...read.whole].toSorted((a, b) => a - b);
        for (const block of blocks) found.push(block);
        const logs = [...read.logs.values()].reduce((sum, block) => sum + block.logs.length, 0);
        most.logs = Math.max(most.logs, logs);
        from = read.to + 1;
      } catch (error) {
        failures.push(error);
        if (failures.length > maxFailures) throw error;
      }
    }
    return { found, failures, stoppedAt: undefined };
  };
  const readOnce = async (range: BlockRange): Promise<RangeLogs> => {
    const { plan } = reading.choosePlan(ranges.limit.size)!;
    return reading.readLogs(node, plan, range);
  };
  return { queries, most, ranges, readAll, readOnce };
}

const expected = (to: number): number[] =>
  Array.from({ length: Math.floor(to / 10) + 1 }, (_, n) => n * 10);
const blocksIn = ({ from, to }: BlockRange): number => to - from + 1;
/** A node that refuses ranges of more blocks with this error. */
const limited = (blocks: number, error: { code: number; message: string; data?: unknown }) =>
  createNode((range) => (blocksIn(range) > blocks ? error : logsIn(range)));

describe('ranges of logs', () => {
  test.each([
    [-32602, 'Invalid params'],
    [-32005, 'limit exceeded'],
    [-32603, 'Internal error'],
    [-32000, 'no'],
    [-32601, 'not supported'],
    [1, ''],
    [-32000, 'Archive requests require a personal token'],
  ])('contain all logs below the limit of a node that responds %i %s', async (code, message) => {
    for (const blocks of [1, 7, 100, 3_000]) {
      const to = blocks * 200;
      const node = limited(blocks, { code, message });
      expect(await node.readAll(to)).toMatchObject({ found: expected(to), failures: [] });
      expect(node.queries.length).toBeLessThan(300);
    }
  });

  test.each([1, 10, 100])(
    'are as large as a node that returns 10,000 logs allows if %i logs of each block are kept',
    async (perBlock) => {
      const logs = ({ from, to }: BlockRange) =>
        Array.from({ length: (to - from + 1) * perBlock }, (_, n) =>
          logOf(from + Math.floor(n / perBlock), { logIndex: hex(n % perBlock) }),
        );
      const node = createNode(
        (range) =>
          blocksIn(range) * perBlock > 10_000
            ? { code: -32005, message: 'query returned more than 10000 results' }
            : logs(range),
        1,
        true,
      );
      const to = 400_000 / perBlock - 1;
      const { found, failures } = await node.readAll(to);
      expect([found.length, failures]).toEqual([to + 1, []]);
      const needed = 400_000 / 10_000;
      expect(node.queries.length).toBeLessThan(1.5 * needed);
      expect(node.most.logs).toBeLessThanOrEqual(128_000);
    },
  );

  test('take one more query after one temporary error', async () => {
    const count = async (errors: readonly number[]): Promise<number> => {
      let query = 0;
      const node = createNode((range) =>
        errors.includes(query++)
          ? { code: -32603, message: 'service temporarily unavailable' }
          : logsIn(range),
      );
      expect((await node.readAll(24_000)).found).toEqual(expected(24_000));
      return node.queries.length;
    };
    const usual = await count([]);
    for (const at of [0, 1, 3]) expect(await count([at])).toBe(usual + 1);
  });

  test.each(['unreachable', 'missing', 'rate-limited'] as const)(
    'are read from another node or later if a node is %s, without smaller ranges',
    async (kind) => {
      let isFailing = false;
      const node = createNode((range) => (isFailing ? new SourceError(kind, 'no') : logsIn(range)));
      await node.readAll(3_000);
      const { size } = node.ranges.limit;
      isFailing = true;
      await expect(node.readOnce({ from: 0, to: 2_000 })).rejects.toMatchObject({ kind });
      expect(node.ranges.limit.size).toBe(size);
    },
  );

  test.each<SourceErrorKind>(['unreachable', 'missing', 'rate-limited'])(
    'become smaller if larger ones are always %s',
    async (kind) => {
      const node = createNode((range) =>
        blocksIn(range) > 40 ? new SourceError(kind, 'no') : logsIn(range),
      );
      const { found } = await node.readAll(2_000);
      expect(found).toEqual(expected(2_000));
      expect(node.queries.length).toBeLessThan(150);
    },
  );

  test.each([
    [-32601, 'the method eth_getLogs does not exist', HOUR_MS],
    [-32602, 'Archive requests require a personal token', HOUR_MS],
    [-32000, 'upgrade your plan', HOUR_MS],
    [-32603, 'Internal error', 60_000],
  ])('are not queried for a time if a node refuses all: %i %s', async (code, message, restMs) => {
    const node = createNode(() => ({ code, message }));
    const { failures } = await node.readAll(1_000);
    expect(failures).toHaveLength(1);
    expect(node.queries.length).toBeLessThan(24);
    const left = node.ranges.restsUntil - performance.now();
    expect(left).toBeGreaterThan(restMs - 30_000);
    expect(left).toBeLessThanOrEqual(restMs);
  });

  test('leave single blocks with too many logs to be read in full', async () => {
    const node = createNode((range) =>
      range.from <= 500 && 500 <= range.to
        ? { code: -32000, message: 'query returned more than 10000 results' }
        : logsIn(range),
    );
    expect((await node.readAll(2_000)).found).toEqual(expected(2_000));
    expect(node.queries.length).toBeLessThan(80);
  });

  test('property: are read in full, or paused, after a bounded number of queries, whatever the node returns', async () => {
    const anyError = fc.oneof(
      fc.constantFrom(
        { code: -32603, message: 'Internal error' },
        { code: -32005, message: 'limit exceeded' },
        { code: -32602, message: 'max block range 3' },
        { code: -32602, message: 'this block range should work: [0x0, 0x1]' },
        { code: -32000, message: 'header not found' },
      ),
      fc.constantFrom<SourceErrorKind>('unreachable', 'rate-limited'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 3_000 }),
        anyError,
        fc.array(fc.option(anyError, { nil: undefined }), { maxLength: 60 }),
        async (blocks, refusal, others) => {
          const toAnswer = (error: typeof refusal): Answer =>
            typeof error === 'string' ? new SourceError(error, 'no') : error;
          let query = 0;
          const node = createNode((range) => {
            const other = others[query++];
            if (other !== undefined) return toAnswer(other);
            return blocksIn(range) > blocks ? toAnswer(refusal) : logsIn(range);
          });
          const to = 4_000;
          const { found, stoppedAt } = await node.readAll(to, 1_000);
          const last = stoppedAt ?? to + 1;
          // Refused blocks are found, too.
          const withLogs = found.filter((number) => number % 10 === 0);
          expect(withLogs).toEqual(expected(to).filter((number) => number < last));
          expect(found.length - withLogs.length).toBeLessThan(blocks === 0 ? 9 : others.length + 1);
          const needed = last / Math.max(1, blocks);
          // A message with a wrong limit is believed for up to 1,024 queries.
          expect(node.queries.length).toBeLessThan(needed * 1.5 + 1_024 + 350);
        },
      ),
      { numRuns: 200 },
    );
  });

  test.each([
    ['of another range', [logOf(5_000)]],
    ['of a block with two hashes', [logOf(10), logOf(10, { blockHash: hashOf(10, 'ee') })]],
    ['that were removed', [logOf(10, { removed: true })]],
    ['of no block', [logOf(10, { blockNumber: null, blockHash: null })]],
  ])('of a node that returns logs %s are rejected', async (_what, logs) => {
    const node = createNode(() => logs);
    const read = node.readOnce({ from: 0, to: 100 });
    await expect(read).rejects.toSatisfy((error) => isOfKind(error, 'inconsistent'));
  });

  test('keep logs with the same index in different transactions', async () => {
    const logs = [logOf(10), logOf(10, { transactionHash: hashOf(10, 'ab') })];
    const { logs: blocks } = await createNode(() => logs).readOnce({ from: 0, to: 20 });
    expect(blocks.get(10)!.logs.map(({ transactionHash }) => transactionHash)).toEqual(
      logs.map(({ transactionHash }) => transactionHash),
    );
  });

  test('keep logs without an index or a transaction', async () => {
    const omitted = [
      { logIndex: null },
      { logIndex: undefined, data: '0x01' },
      { transactionIndex: null, transactionHash: null },
    ];
    const logs = omitted.map((more) => logOf(10, more));
    const { logs: blocks } = await createNode(() => logs).readOnce({ from: 0, to: 20 });
    expect(blocks.get(10)!.logs).toHaveLength(logs.length);
  });

  test('keep logs with numbers and addresses in the forms of other networks', async () => {
    const address = `xdc${TOKEN.slice(2).toUpperCase()}`;
    const { readOnce } = createNode(() => [logOf(0, { address, blockNumber: '0', logIndex: 3 })]);
    const [log] = (await readOnce({ from: 0, to: 9 })).logs.get(0)!.logs;
    expect(log).toMatchObject({ address: TOKEN, logIndex: 3 });
  });

  test('drop repeated logs, however many', async () => {
    const logs = Array.from({ length: 20_000 }, () => logOf(10));
    const { logs: blocks } = await createNode(() => logs).readOnce({ from: 0, to: 20 });
    expect(blocks.get(10)!.logs).toHaveLength(1);
  });

  test('end a round early where blocks suddenly have many logs, and lose none', async () => {
    const quiet = 200_000;
    const to = quiet + 300_000;
    const node = createNode(({ from, to: end }) => {
      const first = Math.max(from, quiet);
      return end - first > 7_000
        ? new SourceError('too-large', 'no')
        : Array.from({ length: Math.max(0, end - first + 1) }, (_, n) => logOf(first + n));
    });
    const { found, failures } = await node.readAll(to);
    expect(failures).toEqual([]);
    expect(found).toHaveLength(to - quiet + 1);
    expect(found.every((number, n) => number === quiet + n)).toBe(true);
    expect(node.most.logs).toBeLessThan(150_000);
  });

  test('hold few logs even if the first block of a round always fails at first', async () => {
    let returned = 0;
    const node = createNode(({ from, to }) => {
      if (from === 0 && to > 0) return new SourceError('too-large', 'no');
      const blocks = to - from + 1;
      const count = Math.min(10_000, blocks * 1_000);
      returned += count;
      return Array.from({ length: count }, (_, n) =>
        logOf(from + (n % blocks), { logIndex: hex(n) }),
      );
    });
    node.ranges.limit.accept(64);
    const read = await node.readOnce({ from: 0, to: 100_000 });
    expect(returned).toBeLessThan(200_000);
    expect(read.to).toBeLessThan(10_000);
    expect(Math.max(...read.logs.keys())).toBe(read.to);
  });

  test('are divided if all queries of a range together return too many logs', async () => {
    const filters = 40;
    const perBlock = 10;
    const node = createNode(
      ({ from, to }, { topics }) =>
        Array.from({ length: (to - from + 1) * perBlock }, (_, n) =>
          logOf(from + Math.floor(n / perBlock), {
            logIndex: hex(n % perBlock),
            transactionHash: topics[0]![0]!,
          }),
        ),
      filters,
    );
    const read = await node.readOnce({ from: 0, to: 127 });
    const counts = [...read.logs.values()].map(({ logs }) => logs.length);
    expect(counts).toEqual(Array(read.to + 1).fill(filters * perBlock));
    expect(Math.max(...node.queries.map(blocksIn))).toBe(128);
    expect(
      node.queries.filter((range) => blocksIn(range) * filters * perBlock < 16_000),
    ).not.toEqual([]);
    // The queries of one range run at the same time, those of other ranges later.
    expect(node.most.queries).toBe(filters);
  });
});
