/** Tests range searches in which one node lies about where logs are. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLog } from '../../../../base/log.ts';
import type { BlockHeader } from '../../../../store/blocks/contract.ts';
import type { LogFilter, LogSearch } from '../../../../match/logSearch.ts';
import { SourceError, isOfKind } from '../../../../ingest/source.ts';
import type { Provider } from '../provider.ts';
import { createLogRanges } from './logRanges.ts';

const BLOCKS = 20_000;
const STEP = 700;
const TOKEN = `0x${'70'.repeat(20)}`;
const hex = (number: number): string => `0x${number.toString(16)}`;
const hashOf = (number: number, byte = 'b1'): string =>
  `0x${byte}${number.toString(16).padStart(62, '0')}`;
const headerOf = (number: number): BlockHeader => ({
  number,
  hash: hashOf(number),
  parentHash: hashOf(number - 1),
  timestamp: 0,
});
const search: LogSearch = {
  plans: [[{ address: [TOKEN], topics: [] }]],
  takes: ({ logs }) => logs.length > 0,
};

interface Place {
  number: number;
  hash: string;
  /** Data of the log. Default: none. */
  data?: string;
}
const placeOf = (number: number): Place => ({ number, hash: hashOf(number) });

/** Every 700th block has a log. */
const TRUTH: readonly Place[] = Array.from({ length: Math.floor(BLOCKS / STEP) }, (_, n) =>
  placeOf((n + 1) * STEP),
);

const toLog = ({ number, hash, data = '0x' }: Place) => ({
  blockNumber: hex(number),
  blockHash: hash,
  transactionHash: hash,
  transactionIndex: '0x0',
  logIndex: '0x0',
  address: TOKEN,
  topics: [],
  data,
});

/**
 * @param claims where the node claims that logs are
 * @param limit largest range that the node accepts, in blocks
 */
function createNode(name: string, claims = TRUTH, limit = Number.POSITIVE_INFINITY) {
  const queries: number[] = [];
  const node = {
    name,
    hasVote: true,
    restsUntil: 0,
    fault: () => {},
    knows: () => false,
    readHeaderOf: (hash: string) => Promise.resolve(headerOf(Number(`0x${hash.slice(4)}`))),
    readHeaderAt: (number: number) => Promise.resolve(headerOf(number)),
    async request(_method: string, params: readonly unknown[]): Promise<unknown> {
      const query = params[0] as LogFilter & { fromBlock: string; toBlock: string };
      const [from, to] = [Number(query.fromBlock), Number(query.toBlock)];
      queries.push(to - from + 1);
      await Promise.resolve();
      if (to - from >= limit) throw new SourceError('too-large', 'no');
      return claims.filter(({ number }) => from <= number && number <= to).map(toLog);
    },
  } as Partial<Provider> as Provider;
  return { node, queries };
}

const silent = createLog(() => {});

/**
 * Searches all blocks. Returns the found ones, and the nodes that were found to lie.
 *
 * @param how.others the nodes of other operators
 */
async function findAll(
  nodes: readonly Provider[],
  {
    isCompared = true,
    others = nodes,
    keepsLogs = false,
  }: { isCompared?: boolean; others?: readonly Provider[]; keepsLogs?: boolean } = {},
) {
  const blamed: unknown[] = [];
  const open = createLogRanges({
    chain: '0x7a69',
    providers: {
      all: nodes,
      witnesses: (of) => others.filter((each) => each !== of),
      readHeaderAt: (number) => Promise.resolve(headerOf(number)),
      async ask(read) {
        for (const each of nodes) {
          try {
            const found = await read(each);
            if (found !== undefined) return found;
          } catch (error) {
            if (!isOfKind(error, 'missing')) throw error;
          }
        }
        return undefined;
      },
    },
    readLogsOf: ({ number }) =>
      Promise.resolve(
        number > 0 && number % STEP === 0 ? [{ address: TOKEN, topics: [], data: '0x' }] : [],
      ),
    isCompared,
    isVerified: false,
    log: { ...silent, warn: (_event, fields) => blamed.push(fields?.['provider']) },
  });
  const blocks = open({ ...search, keepsLogs });
  const found: Place[] = [];
  /** Blocks whose logs were kept, so that they are not read. */
  const kept: number[] = [];
  for (let from = 1; from <= BLOCKS;) {
    const next = await blocks.next(from, BLOCKS);
    if (next === undefined) throw new Error(`block ${from} can't be searched`);
    found.push(...next.hits.map(({ number, hash }) => ({ number, hash })));
    kept.push(...next.hits.filter(({ logs }) => logs !== undefined).map(({ number }) => number));
    from = next.end.number + 1;
  }
  return { found, blamed, kept };
}

/** The lies about one log, which a node claims to be in block `number` instead. */
const LIES: Record<string, (place: Place, number: number) => Place[]> = {
  hidden: () => [],
  moved: (_place, number) => [placeOf(number)],
  invented: (place, number) => [place, placeOf(number)],
  'in a block that does not exist': ({ number }) => [{ number, hash: hashOf(number, 'ee') }],
};
/** Lies about consecutive logs from any block on, of nodes that are honest about earlier blocks. */
const anyClaims: fc.Arbitrary<Place[]> = fc
  .record({
    first: fc.nat(TRUTH.length - 1),
    count: fc.integer({ min: 1, max: TRUTH.length }),
    lie: fc.constantFrom(...Object.values(LIES)),
    by: fc.integer({ min: 1, max: STEP - 1 }),
  })
  .map(({ first, count, lie, by }) =>
    TRUTH.flatMap((place, n) =>
      n < first || n >= first + count ? [place] : lie(place, place.number - by),
    ),
  );
const anyLimit = fc.constantFrom(100, 1_000, Number.POSITIVE_INFINITY);

test('property: a search finds what one of several nodes hides or moves, and blames only that one', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyClaims,
      fc.integer({ min: 2, max: 3 }),
      fc.nat(2),
      anyLimit,
      async (claims, count, liar, limit) => {
        const nodes = Array.from({ length: count }, (_, n) =>
          n === liar ? createNode('liar', claims, limit) : createNode('honest', TRUTH, limit),
        );
        const { found, blamed } = await findAll(nodes.map(({ node }) => node));
        expect(found).toEqual(TRUTH);
        // With three nodes, the last one is queried only if another lies.
        expect(blamed).toEqual(liar < 2 ? ['liar'] : []);
      },
    ),
    { numRuns: 300 },
  );
});

test('a second node with a small limit gets few queries, not those of all blocks', async () => {
  const first = createNode('first');
  const second = createNode('second', TRUTH, 10);
  const { found } = await findAll([first.node, second.node]);
  expect(found).toEqual(TRUTH);
  expect(second.queries.length).toBeLessThan(BLOCKS / 10 / 20);
});

test('a second node with a smaller limit compares blocks that the first one cannot foresee', async () => {
  // Far from the first block of any round.
  const hidden = TRUTH.filter(({ number }) => number < 2_000 || number > 6_000);
  let times = 0;
  for (let run = 0; run < 200 && times === 0; run++) {
    const first = createNode('liar', hidden);
    const second = createNode('second', TRUTH, 10);
    const { blamed } = await findAll([first.node, second.node]);
    times += blamed.length;
  }
  expect(times).toBeGreaterThan(0);
});

test('a single node and trust=node are not compared', async () => {
  const [first, second] = [createNode('first', []), createNode('second')];
  expect(await findAll([first.node])).toMatchObject({ found: [], blamed: [] });
  expect(await findAll([first.node, second.node], { isCompared: false })).toMatchObject({
    found: [],
    blamed: [],
  });
  expect(second.queries).toEqual([]);
});

test('a node of another operator is compared first', async () => {
  const [first, same, other] = [createNode('first'), createNode('same'), createNode('other')];
  await findAll([first.node, same.node, other.node], { others: [other.node] });
  expect(same.queries).toEqual([]);
  expect(other.queries.length).toBeGreaterThan(0);
});

test('a block whose logs differ between the nodes is read, even if logs suffice', async () => {
  const [changed, ...others] = TRUTH;
  const first = createNode('liar', [{ ...changed!, data: '0x01' }, ...others]);
  const { found, kept } = await findAll([first.node, createNode('honest').node], {
    keepsLogs: true,
  });
  expect(found).toEqual(TRUTH);
  expect(kept).toEqual(others.map(({ number }) => number));
});
