/** Reads logs in ranges of a size that the node accepts. */
import { setTimeout as wait } from 'node:timers/promises';
import type { BlockRange } from '@sluice/kit/contract';
import type { BlockRef } from '../../../../store/blocks/contract.ts';
import type { EvmLog } from '../../match/block.ts';
import type { LogFilter, LogSearch } from '../../../../match/logSearch.ts';
import {
  type Json,
  readHash,
  readHex,
  toList,
  toObject,
  optionalHex,
  toHex,
} from '../../../../ingest/json.ts';
import { isTransient } from '../../../../ingest/nodes/rpcError.ts';
import { SourceError, type SourceErrorKind, isOfKind } from '../../../../ingest/source.ts';
import type { Provider } from '../provider.ts';
import { emitterOf, readNumber } from '../values.ts';
import { GROWTH_FACTOR, type RangeLimit, createRangeLimit } from './rangeLimit.ts';

/** Number of ranges queried at once, of a size that the node is known to accept. */
const RANGES_AT_ONCE = 16;
/** Number of queries after which no further range is queried at once. */
const QUERIES_AT_ONCE = 32;
/** Initial range size of the first plan, which is the most selective one. */
const FIRST_BLOCKS = 128;
/** Initial range size of other plans, whose filters also return unrelated logs. */
const FIRST_UNSELECTIVE_BLOCKS = 16;
const MAX_BLOCKS = 100_000;
/** Minimum number of blocks per round of a plan that was tried, so that rounds cost little. */
const MIN_ROUND_BLOCKS = 128;
/**
 * Assumed range size until the actual size reaches a limit, so that plans with few queries are
 * tried first.
 */
const EXPECTED_BLOCKS = 2_000;
/** Numbers of logs by which a search sizes its ranges and rounds. */
interface LogSizes {
  /**
   * Number of logs that a range should have. A size grows toward it after a range with fewer or,
   * once the size has reached a limit, with fewer than a quarter.
   */
  wanted: number;
  /** Number of logs in a range above which the size is halved. */
  many: number;
  /** Number of logs that ranges queried at once are expected to have. */
  atOnce: number;
  /** Number of logs in memory after which a round ends before the last of its blocks. */
  perRound: number;
  /** Maximum size of one response. A range with a larger one is divided. */
  responseBytes: number;
}
const MIB = 1024 * 1024;
/** Most of the requests read the blocks of the logs, so larger ranges would save little. */
const OF_BLOCKS: LogSizes = {
  wanted: 1_000,
  many: 4_000,
  atOnce: 32_000,
  perRound: 32_000,
  responseBytes: 4 * MIB,
};
/** No blocks are read, so headers cost less in longer rounds. Many nodes return up to 10,000 logs. */
const OF_KEPT_LOGS: LogSizes = {
  wanted: 8_000,
  many: 10_000,
  atOnce: 64_000,
  perRound: 128_000,
  responseBytes: 16 * MIB,
};
/** Growth factor of a size that reached a limit, because events may become rarer. */
const SETTLED_GROWTH = 1.25;
/** Maximum number of logs that all queries of a range return. A range with more is divided. */
const MAX_RANGE_LOGS = 16_000;
/** Maximum number of queries per block. If a block needs more, reading it is faster. */
const MAX_QUERIES_PER_BLOCK = 2;
/**
 * Minimum number of blocks per range after timeouts. If a range this small times out, its size is
 * not the cause.
 */
const SMALL_BLOCKS = 16;
/** Number of passing errors in a row after which the size of the range is taken as the cause. */
const PASSING_ERRORS: Partial<Record<SourceErrorKind, number>> = { 'rate-limited': 4, missing: 4 };
const DEFAULT_PASSING_ERRORS = 2;
/** Wait before a range is queried again after a passing error. */
const AGAIN_MS = 250;
/** Number of refused blocks in a row after which the node serves no ranges. */
const REFUSED_BLOCKS = 8;
/** Time for which a node that serves no ranges is not queried for ranges. */
const REFUSED_MS = 3_600_000;
/** The same for a node whose errors are passing. */
export const FAILED_MS = 60_000;

/** The known limits of the ranges of one node. */
export interface NodeRanges {
  readonly limit: RangeLimit;
  /** The `performance.now` time until which the node is not queried for ranges. */
  restsUntil: number;
  /** Number of passing errors in a row, and the smallest range with one of them. */
  failures: number;
  failedBlocks: number;
  /** Number of refused queries for a single block in a row. */
  refusedBlocks: number;
}

export const unknownRanges = (): NodeRanges => ({
  limit: createRangeLimit(),
  restsUntil: 0,
  refusedBlocks: 0,
  failures: 0,
  failedBlocks: Number.POSITIVE_INFINITY,
});

/** Stops querying a node for ranges for a time. */
export function pauseRanges(ranges: NodeRanges, ms: number): void {
  Object.assign(ranges, { ...unknownRanges(), restsUntil: performance.now() + ms });
}

/**
 * Logs of a range by block number. `whole` lists the blocks that the node refuses to search, which
 * may have too many logs for one response. `to` is the last block that was searched, which may be
 * lower than requested.
 */
export interface RangeLogs {
  logs: BlockLogs;
  whole: number[];
  to: number;
}

type BlockLogs = Map<number, { hash: string; logs: EvmLog[] }>;

/** Filters that together find all blocks of a search, and the current range size for them. */
export interface RangePlan {
  readonly filters: readonly LogFilter[];
  /** Number of blocks per query, if the node accepts them. */
  size: number;
  /** True once a node has responded to a query. */
  isTried: boolean;
  /** True once the size has reached a limit; it then grows slowly. */
  isSettled: boolean;
  /** Maximum number of logs per block in recent ranges. */
  logsPerBlock: number;
}

export interface RangeReading {
  /**
   * Returns the plan that needs the fewest queries per block, and how many blocks to search with it
   * at once. Returns undefined, and resets the sizes of all plans, if reading each block costs
   * less.
   *
   * @param maxBlocks maximum range size over all nodes, as far as their limits are known
   */
  choosePlan(maxBlocks: number): { plan: RangePlan; reach: number } | undefined;
  /**
   * Reads the logs of a range, or of its first blocks if they have many logs.
   *
   * @param maxParts number of parts after which the reading ends, perhaps before the first block
   */
  readLogs(
    node: Provider,
    plan: RangePlan,
    range: BlockRange,
    maxParts?: number,
  ): Promise<RangeLogs>;
}

/**
 * @param rangesOf returns what is known about a node, which is updated in place
 * @param pause waits before a range is queried again after a passing error
 */
export function createRangeReading(
  { plans: filters, keepsLogs = false }: Pick<LogSearch, 'plans' | 'keepsLogs'>,
  rangesOf: (node: Provider) => NodeRanges,
  pause = (): Promise<void> => wait(AGAIN_MS),
): RangeReading {
  const begin = (): RangePlan[] =>
    filters.map((each, n) => ({
      filters: each,
      size: n === 0 ? FIRST_BLOCKS : FIRST_UNSELECTIVE_BLOCKS,
      isTried: false,
      isSettled: false,
      logsPerBlock: 0,
    }));
  let plans = begin();
  const sizes = keepsLogs ? OF_KEPT_LOGS : OF_BLOCKS;

  /** Returns how many ranges of this size, up to a maximum, have this number of logs in total. */
  const rangesWith = (logs: number, { logsPerBlock }: RangePlan, size: number): number => {
    const each = Math.max(1, logsPerBlock * size);
    return Math.max(1, Math.min(RANGES_AT_ONCE, Math.floor(logs / each)));
  };

  return {
    choosePlan(maxBlocks) {
      const expectedSize = ({ size, isSettled }: RangePlan): number =>
        Math.min(isSettled ? size : Math.max(size, EXPECTED_BLOCKS), maxBlocks);
      const cost = (plan: RangePlan): number => plan.filters.length / expectedSize(plan);
      const plan = plans.reduce((a, b) => (cost(b) < cost(a) ? b : a));
      const size = Math.min(plan.size, maxBlocks);
      if (plan.filters.length > size * MAX_QUERIES_PER_BLOCK) {
        plans = begin();
        return undefined;
      }
      const reach = plan.isTried
        ? Math.max(size * rangesWith(sizes.perRound, plan, size), MIN_ROUND_BLOCKS)
        : size;
      return { plan, reach };
    },
    async readLogs(node, plan, range, maxParts = Number.POSITIVE_INFINITY) {
      const ranges = rangesOf(node);
      const into: RangeLogs = { logs: new Map(), whole: [], to: range.to };
      let partsLeft = maxParts;
      let count = 0;
      let pending = [range];
      // Searches at least one block, so that the next round makes progress.
      while (
        pending.length > 0 &&
        partsLeft > 0 &&
        (count < sizes.perRound || pending[0]!.from === range.from)
      ) {
        const size = Math.min(plan.size, ranges.limit.size);
        const partsAtOnce = Math.min(
          rangesWith(sizes.atOnce, plan, size),
          Math.ceil(QUERIES_AT_ONCE / plan.filters.length),
        );
        const partCount = ranges.limit.isKnown(size) ? Math.min(partsAtOnce, partsLeft) : 1;
        const { parts, left } = takeParts(pending, size, partCount);
        partsLeft -= parts.length;
        const answers = await Promise.all(parts.map((part) => queryPart(node, plan, part, sizes)));
        plan.isTried = true;
        for (const { part, found } of answers) {
          if (found === undefined) continue;
          for (const [number, block] of found.logs) into.logs.set(number, block);
          count += found.count;
          adapt(plan, blocksIn(part), found.count, sizes);
          noteAnswer(ranges, blocksIn(part));
        }
        const failed = answers.flatMap(({ part, error }) => (error ? [{ part, error }] : []));
        const { again, isPaused } = handleFailures(ranges, failed, into);
        if (isPaused) await pause();
        pending = [...again, ...left].toSorted((a, b) => a.from - b.from);
      }
      return pending[0] === undefined ? into : upTo(into, pending[0].from - 1);
    },
  };
}

/** Returns the blocks of a range that a search takes. */
export const hitsOf = (search: Pick<LogSearch, 'takes'>, { logs }: RangeLogs): BlockRef[] =>
  [...logs]
    .filter(([number, block]) => search.takes({ number, ...block }))
    .map(([number, block]) => ({ number, hash: block.hash }));

const blocksIn = ({ from, to }: BlockRange): number => to - from + 1;

/** Removes the blocks after `to`. */
const upTo = ({ logs, whole }: RangeLogs, to: number): RangeLogs => ({
  logs: new Map([...logs].filter(([number]) => number <= to)),
  whole: whole.filter((number) => number <= to),
  to,
});

/** Takes up to `count` parts of at most `size` blocks from the ranges. */
function takeParts(
  ranges: readonly BlockRange[],
  size: number,
  count: number,
): { parts: BlockRange[]; left: BlockRange[] } {
  const parts: BlockRange[] = [];
  const left: BlockRange[] = [];
  for (const { from, to } of ranges) {
    let next = from;
    while (next <= to && parts.length < count) {
      parts.push({ from: next, to: Math.min(to, next + size - 1) });
      next += size;
    }
    if (next <= to) left.push({ from: next, to });
  }
  return { parts, left };
}

/** The response to the queries of one part: the logs, or the error of one of them. */
interface PartAnswer {
  part: BlockRange;
  found?: PartLogs;
  error?: SourceError;
}

interface PartLogs {
  logs: BlockLogs;
  /** Number of logs. */
  count: number;
  /** Keys of the logs. */
  seen: Set<string>;
}

async function queryPart(
  node: Provider,
  { filters }: RangePlan,
  part: BlockRange,
  sizes: LogSizes,
): Promise<PartAnswer> {
  const found: PartLogs = { logs: new Map(), count: 0, seen: new Set() };
  try {
    await Promise.all(
      filters.map(async (filter) =>
        collect(node, await queryLogs(node, filter, part, sizes), part, found),
      ),
    );
    return { part, found };
  } catch (error) {
    if (error instanceof SourceError) return { part, error };
    throw error;
  }
}

function noteAnswer(ranges: NodeRanges, blocks: number): void {
  ranges.limit.accept(blocks);
  ranges.refusedBlocks = 0;
  if (blocks < ranges.failedBlocks) return;
  ranges.failures = 0;
  ranges.failedBlocks = Number.POSITIVE_INFINITY;
}

/**
 * Decides what follows from the errors of parts that were queried at once, and returns the parts to
 * query again, in smaller ranges or after a pause. Refused blocks are added to `whole`.
 *
 * @throws SourceError if another node should be queried, or this one later
 */
function handleFailures(
  ranges: NodeRanges,
  failed: readonly { part: BlockRange; error: SourceError }[],
  { whole }: RangeLogs,
): { again: BlockRange[]; isPaused: boolean } {
  const invalid = failed.find(({ error }) =>
    isOfKind(error, 'inconsistent', 'disagreement', 'wrong-chain'),
  );
  if (invalid !== undefined) throw invalid.error;
  const again: BlockRange[] = [];
  const failures = ranges.failures + 1;
  let isPaused = false;
  let thrown: SourceError | undefined;
  for (const { part, error } of failed) {
    const blocks = blocksIn(part);
    const isBrief = isTransient(error) || error.kind === 'rate-limited';
    if (isBrief) {
      ranges.failures = failures;
      ranges.failedBlocks = Math.min(ranges.failedBlocks, blocks);
    }
    // Another node may respond instead.
    const isForOthers = isBrief && error.kind !== 'refused';
    if (isForOthers) thrown = error;
    if (isBrief && failures < (PASSING_ERRORS[error.kind] ?? DEFAULT_PASSING_ERRORS)) {
      again.push(part);
      isPaused = true;
      continue;
    }
    if (isForOthers && blocks <= SMALL_BLOCKS) {
      pauseRanges(ranges, FAILED_MS);
      throw error;
    }
    ranges.limit.refuse(blocks, toHint(part, error));
    if (blocks > 1) {
      again.push(part);
      continue;
    }
    whole.push(part.from);
    if (++ranges.refusedBlocks < REFUSED_BLOCKS) continue;
    pauseRanges(ranges, isBrief ? FAILED_MS : REFUSED_MS);
    throw error;
  }
  if (thrown !== undefined) throw thrown;
  return { again, isPaused };
}

function toHint({ from }: BlockRange, { range }: SourceError): Parameters<RangeLimit['refuse']>[1] {
  return {
    ...(range?.to !== undefined && { suggested: range.to - from + 1 }),
    ...(range?.blocks !== undefined && { limit: range.blocks }),
  };
}

/**
 * Adapts the range size of a plan to the number of logs that a range of this many blocks returned.
 */
function adapt(
  plan: RangePlan,
  blocks: number,
  logs: number,
  { wanted, many }: Pick<LogSizes, 'wanted' | 'many'>,
): void {
  plan.logsPerBlock = Math.max(logs / blocks, plan.logsPerBlock / 2);
  if (logs > many) {
    plan.size = Math.max(1, Math.min(plan.size, Math.floor(blocks / 2)));
    plan.isSettled = true;
    return;
  }
  // A response for part of a range gives no information about larger ranges.
  if (blocks < plan.size) return;
  const most = Math.max(blocks, Math.floor((blocks * wanted) / Math.max(1, logs)));
  if (plan.isSettled && logs >= wanted / GROWTH_FACTOR) return;
  const grown = Math.ceil(blocks * (plan.isSettled ? SETTLED_GROWTH : GROWTH_FACTOR));
  plan.size = Math.min(MAX_BLOCKS, grown, most);
  if (plan.size < grown) plan.isSettled = true;
}

async function queryLogs(
  node: Provider,
  filter: LogFilter,
  { from, to }: BlockRange,
  { responseBytes }: Pick<LogSizes, 'responseBytes'>,
): Promise<unknown[]> {
  const query = { ...filter, fromBlock: toHex(from), toBlock: toHex(to) };
  // A refusal does not count against the node.
  const how = { isOptional: true, maxBytes: responseBytes };
  return toList(await node.request('eth_getLogs', [query], how), `${node.name}: logs`);
}

/**
 * Groups logs by block, without duplicates, because several filters may find the same log. On some
 * chains, log indices restart in each transaction, so an index alone does not identify a log.
 */
function collect(
  { name }: Provider,
  found: readonly unknown[],
  { from, to }: BlockRange,
  into: PartLogs,
): void {
  const { logs: blocks, seen } = into;
  for (const item of found) {
    const raw = toObject(item, `${name}: log`);
    const blockNumber = readNumber(raw, 'blockNumber');
    const blockHash = readHash(raw, 'blockHash');
    const block = blocks.get(blockNumber) ?? { hash: blockHash, logs: [] };
    if (
      blockNumber < from ||
      blockNumber > to ||
      block.hash !== blockHash ||
      raw['removed'] === true
    ) {
      throw new SourceError(
        'inconsistent',
        `${name}: a log of blocks ${from} to ${to} belongs to block ${blockNumber} ${blockHash}`,
      );
    }
    const log = toRangeLog(raw);
    const key = `${blockNumber} ${log.transactionHash} ${log.logIndex}`;
    if (log.logIndex !== UNKNOWN_INDEX && seen.has(key)) continue;
    if (++into.count > MAX_RANGE_LOGS) {
      throw new SourceError(
        'too-large',
        `${name}: blocks ${from} to ${to} have more than ${MAX_RANGE_LOGS} logs`,
      );
    }
    seen.add(key);
    block.logs.push(log);
    blocks.set(blockNumber, block);
  }
}

/** Replaces an index that the node omits. The logs of ranges only locate blocks. */
const UNKNOWN_INDEX = -1;

const toRangeLog = (raw: Json): EvmLog => ({
  logIndex: indexIn(raw, 'logIndex'),
  transactionHash: optionalHex(raw, 'transactionHash') ?? '',
  transactionIndex: indexIn(raw, 'transactionIndex'),
  ...emitterOf(raw),
  data: readHex(raw, 'data'),
});

const indexIn = (raw: Json, key: string): number =>
  raw[key] == null ? UNKNOWN_INDEX : readNumber(raw, key);
