/** Reads logs in ranges of a size that the node accepts. */
import type { BlockRange } from '@sluice/kit/contract';
import type { EvmLog } from '../../../match/evm/block.ts';
import type { LogFilter, LogSearch } from '../../../match/evm/logSearch.ts';
import { type Json, hash, hex, list, object, toNumber } from '../../json.ts';
import { SourceError, isOfKind } from '../../source.ts';
import type { Provider } from '../provider.ts';

/** Initial range size of the first plan, which is the most selective one. */
const FIRST_BLOCKS = 128;
/** Initial range size of other plans, whose filters also return unrelated logs. */
const FIRST_UNSELECTIVE_BLOCKS = 16;
const MAX_BLOCKS = 100_000;
/**
 * Assumed range size until the actual size reaches a limit, so that plans with few queries are
 * tried first.
 */
const EXPECTED_BLOCKS = 2_000;
/**
 * A range size grows after a range with at most `FEW_LOGS` logs or, once the size has reached a
 * limit, with fewer than a quarter of `FEW_LOGS`. It shrinks after a range with more than
 * `MANY_LOGS`.
 */
const FEW_LOGS = 1_000;
const MANY_LOGS = 4_000;
const GROWTH = 4;
/** Growth factor of a size that reached a limit: events may become rarer, and nodes may recover. */
const SETTLED_GROWTH = 1.25;
/** Maximum response size. A range with a larger response is divided. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/**
 * Maximum number of times that one range is divided as a node suggests. After that, it is halved.
 */
const MAX_SUGGESTIONS = 3;
/** Maximum number of queries per block. If a block needs more, reading it is faster. */
const MAX_QUERIES_PER_BLOCK = 2;
/**
 * Minimum number of blocks per range after timeouts. If a range this small times out, its size is
 * not the cause.
 */
const SMALL_BLOCKS = 16;

/** The known limits of one node. */
export interface NodeRanges {
  /**
   * Maximum number of blocks per range, according to the node's error messages; `MAX_BLOCKS` if
   * unknown.
   */
  maxBlocks: number;
  /** The `performance.now` time until which the node is not queried for ranges. */
  restsUntil: number;
  /** True if the node missed logs that another node has. */
  isUnreliable: boolean;
}

export const unknownRanges = (): NodeRanges => ({
  maxBlocks: MAX_BLOCKS,
  restsUntil: 0,
  isUnreliable: false,
});

/**
 * Logs of a range by block number. `whole` lists the blocks that have too many logs for one
 * response.
 */
export interface RangeLogs {
  logs: Map<number, { hash: string; logs: EvmLog[] }>;
  whole: number[];
}

/** Filters that together find all blocks of a search, and the current range size for them. */
export interface RangePlan {
  readonly filters: readonly LogFilter[];
  /** Number of blocks per query. */
  size: number;
  /** True once the size has reached a limit; it then grows slowly. */
  isSettled: boolean;
}

export interface RangeReading {
  /**
   * Returns the plan that needs the fewest queries per block. Returns undefined, and resets the
   * sizes of all plans, if reading each block costs less.
   *
   * @param maxBlocks maximum range size over all nodes, as far as their limits are known
   */
  choosePlan(maxBlocks: number): RangePlan | undefined;
  readLogs(node: Provider, plan: RangePlan, range: BlockRange): Promise<RangeLogs>;
}

/** @param rangesOf returns the limits of a node, which are updated in place */
export function createRangeReading(
  { plans: filters }: Pick<LogSearch, 'plans'>,
  rangesOf: (node: Provider) => NodeRanges,
): RangeReading {
  const begin = (): RangePlan[] =>
    filters.map((each, n) => ({
      filters: each,
      size: n === 0 ? FIRST_BLOCKS : FIRST_UNSELECTIVE_BLOCKS,
      isSettled: false,
    }));
  let plans = begin();

  /**
   * Queries a range and adds its logs to `into`. Divides the range if its response is too large.
   */
  const readRange = async (
    node: Provider,
    plan: RangePlan,
    range: BlockRange,
    into: RangeLogs,
    refusals = 0,
  ): Promise<void> => {
    const { from, to } = range;
    let size: number;
    try {
      const answers = await Promise.all(
        plan.filters.map((filter) => queryLogs(node, filter, range)),
      );
      for (const found of answers) collect(node, found, range, into);
      const logs = answers.reduce((sum, each) => sum + each.length, 0);
      return adapt(plan, to - from + 1, logs);
    } catch (error) {
      if (isOfKind(error, 'unreachable')) {
        // The node may have timed out, so later ranges are smaller.
        resize(plan, Math.max(SMALL_BLOCKS, Math.floor((to - from + 1) / 2)));
      }
      if (!isOfKind(error, 'too-large')) throw error;
      if (from === to) {
        into.whole.push(from);
        return;
      }
      size = shrink(plan, range, error, { refusals, limits: rangesOf(node) });
    }
    const half = Math.ceil((to - from + 1) / 2);
    for (let next = from; next <= to;) {
      const part = { from: next, to: Math.min(to, next + size - 1) };
      await readRange(node, plan, part, into, refusals + 1);
      next = part.to + 1;
      // Perhaps only the start of the range has too many logs, so the size grows again.
      size = Math.max(size, Math.min(size * 2, half, rangesOf(node).maxBlocks));
    }
  };

  return {
    choosePlan(maxBlocks) {
      const expectedSize = ({ size, isSettled }: RangePlan): number =>
        isSettled ? size : Math.max(size, Math.min(EXPECTED_BLOCKS, maxBlocks));
      const cost = (plan: RangePlan): number => plan.filters.length / expectedSize(plan);
      const best = plans.reduce((a, b) => (cost(b) < cost(a) ? b : a));
      if (best.filters.length <= best.size * MAX_QUERIES_PER_BLOCK) return best;
      plans = begin();
      return undefined;
    },
    async readLogs(node, plan, { from, to }) {
      const into: RangeLogs = { logs: new Map(), whole: [] };
      const size = Math.min(plan.size, rangesOf(node).maxBlocks);
      const parts: Promise<void>[] = [];
      for (let next = from; next <= to; next += size) {
        const part = { from: next, to: Math.min(to, next + size - 1) };
        parts.push(readRange(node, plan, part, into));
      }
      await Promise.all(parts);
      return into;
    },
  };
}

/** Returns whether ranges of this plan are too small to be the cause of a timeout. */
export const isSmallest = ({ size }: RangePlan): boolean => size <= SMALL_BLOCKS;

/**
 * Adapts the range size of a plan to the number of logs that a range of this many blocks returned.
 */
function adapt(plan: RangePlan, blocks: number, logs: number): void {
  if (logs > MANY_LOGS) return resize(plan, Math.floor(blocks / 2));
  // A response for part of a range gives no information about larger ranges.
  if (blocks < plan.size) return;
  if (logs > FEW_LOGS) plan.isSettled = true;
  else if (!plan.isSettled) plan.size = Math.min(MAX_BLOCKS, blocks * GROWTH);
  else if (logs < FEW_LOGS / GROWTH) {
    plan.size = Math.min(MAX_BLOCKS, Math.ceil(blocks * SETTLED_GROWTH));
  }
  if (plan.size === MAX_BLOCKS) plan.isSettled = true;
}

/** Reduces the size of later ranges to at most `size`. */
function resize(plan: RangePlan, size: number): void {
  plan.size = Math.max(1, Math.min(plan.size, size));
  plan.isSettled = true;
}

/** Reduces the range size after a refusal, and returns the size of the parts to query instead. */
function shrink(
  plan: RangePlan,
  { from, to }: BlockRange,
  { range }: SourceError,
  { refusals, limits }: { refusals: number; limits: NodeRanges },
): number {
  const blocks = to - from + 1;
  const limit = range?.blocks ?? Number.POSITIVE_INFINITY;
  const suggested = range?.to === undefined ? limit : Math.min(limit, range.to - from + 1);
  const isFollowed = refusals < MAX_SUGGESTIONS && suggested >= 1 && suggested < blocks;
  if (isFollowed && limit < blocks) limits.maxBlocks = limit;
  const size = isFollowed ? suggested : Math.floor(blocks / 2);
  resize(plan, size);
  return size;
}

export const quantity = (number: number): string => `0x${number.toString(16)}`;

async function queryLogs(
  node: Provider,
  filter: LogFilter,
  { from, to }: BlockRange,
): Promise<unknown[]> {
  const query = { ...filter, fromBlock: quantity(from), toBlock: quantity(to) };
  const answer = await node.request('eth_getLogs', [query], { maxBytes: MAX_ANSWER_BYTES });
  return list(answer, `${node.name}: logs`);
}

/** Groups logs by block, without duplicates, because several filters may find the same log. */
function collect(
  { name }: Provider,
  found: readonly unknown[],
  { from, to }: BlockRange,
  { logs: blocks }: RangeLogs,
): void {
  for (const item of found) {
    const raw = object(item, `${name}: log`);
    const number = toNumber(hex(raw, 'blockNumber'));
    const blockHash = hash(raw, 'blockHash');
    const block = blocks.get(number) ?? { hash: blockHash, logs: [] };
    if (number < from || number > to || block.hash !== blockHash || raw['removed'] === true) {
      throw new SourceError(
        'inconsistent',
        `${name}: a log of blocks ${from} to ${to} belongs to block ${number} ${blockHash}`,
      );
    }
    const log = toRangeLog(raw);
    if (!block.logs.some(({ logIndex }) => logIndex === log.logIndex)) block.logs.push(log);
    blocks.set(number, block);
  }
}

const toRangeLog = (raw: Json): EvmLog => ({
  logIndex: toNumber(hex(raw, 'logIndex')),
  transactionHash: hex(raw, 'transactionHash'),
  transactionIndex: toNumber(hex(raw, 'transactionIndex')),
  address: hex(raw, 'address').toLowerCase(),
  topics: list(raw['topics'], 'topics').map((topic) => String(topic).toLowerCase()),
  data: hex(raw, 'data'),
});
