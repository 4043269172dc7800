/**
 * Finds blocks by querying nodes for logs over ranges whose sizes adapt to the limits of the nodes.
 * An empty response alone proves nothing: a node must have the last block of the ranges, and a
 * second node verifies samples. With `verifyHeaders`, the blooms of all headers are checked too.
 */
import type { BlockRange } from '@sluice/kit/contract';
import type { Log } from '../../../base/log.ts';
import type { LogSearch } from '../../../match/evm/logSearch.ts';
import type { BlockHeader, BlockRef } from '../../../store/blocks/contract.ts';
import type { Providers } from '../../nodes/providers.ts';
import { type BlockSearch, type FoundBlocks, SourceError, isOfKind } from '../../source.ts';
import type { Provider } from '../provider.ts';
import { type BloomFilter, addByBloom, toBloomFilter } from './headerBlooms.ts';
import {
  type NodeRanges,
  type RangeLogs,
  type RangePlan,
  createRangeReading,
  isSmallest,
  unknownRanges,
} from './rangeReading.ts';

/** Number of ranges queried at once after the range size has reached a limit. */
const RANGES_AT_ONCE = 16;
/** Number of rounds per sample. A second node verifies the first range of the sampled round. */
const ROUNDS_PER_SAMPLE = 8;
const HEADERS_PER_ROUND = 1_024;
/**
 * Time for which a node is not queried for ranges after it refused one, or lacked the method or
 * data.
 */
const REFUSED_MS = 600_000;
/**
 * Time for which a node is not queried for ranges after an inconsistent response, or after it did
 * not respond even for a small range.
 */
const FAILED_MS = 60_000;

interface Options {
  chain: string;
  providers: Pick<Providers<Provider>, 'all' | 'ask' | 'readHeaderAt'>;
  /** Whether to read each header and check its bloom. */
  verifyHeaders: boolean;
  log: Log;
}

/**
 * Returns a function that opens a search. Each search adapts its own range sizes; the limits of the
 * nodes are shared by all searches.
 */
export function createLogRanges(options: Options): (search: LogSearch) => BlockSearch {
  const nodes = new Map<Provider, NodeRanges>();
  const rangesOf = (node: Provider): NodeRanges => {
    const known = nodes.get(node) ?? unknownRanges();
    nodes.set(node, known);
    return known;
  };
  return (search) => openSearch(options, search, rangesOf);
}

function openSearch(
  { chain, providers, verifyHeaders, log }: Options,
  search: LogSearch,
  rangesOf: (node: Provider) => NodeRanges,
): BlockSearch {
  const reading = createRangeReading(search, rangesOf);
  let rounds = 0;
  let blooms: BloomFilter[] | undefined;

  const isUsable = (node: Provider): boolean => {
    const { restsUntil, isUnreliable } = rangesOf(node);
    return !isUnreliable && performance.now() >= restsUntil;
  };

  const hitsOf = ({ logs }: RangeLogs): BlockRef[] =>
    [...logs]
      .filter(([number, block]) => search.takes({ number, ...block }))
      .map(([number, block]) => ({ number, hash: block.hash }));

  const blame = (node: Provider, block: number): void => {
    rangesOf(node).isUnreliable = true;
    node.fault('missing');
    log.warn('node missed logs of a range; its ranges are no longer used', {
      ...{ chain, provider: node.name, block },
    });
  };

  const readLogs = async (
    node: Provider,
    plan: RangePlan,
    range: BlockRange,
  ): Promise<RangeLogs> => {
    try {
      return await reading.readLogs(node, plan, range);
    } catch (error) {
      const restMs = restMsAfter(error, plan);
      if (restMs > 0) rangesOf(node).restsUntil = performance.now() + restMs;
      throw error;
    }
  };

  /**
   * Compares the hits of `node` with the hits of a second node, if one is usable. A node that
   * missed hits is not used for ranges anymore; if it is `node`, throws a SourceError `missing`.
   */
  const checkSample = async (
    node: Provider,
    plan: RangePlan,
    range: BlockRange,
    read: RangeLogs,
    anchor: BlockRef,
  ): Promise<void> => {
    const second = providers.all.find(
      (each) => each !== node && each.hasVote && each.restsUntil === 0 && isUsable(each),
    );
    if (second === undefined) return;
    let others: RangeLogs;
    try {
      if ((await second.readHeaderOf(anchor.hash)) === undefined) return;
      others = await readLogs(second, plan, range);
    } catch (error) {
      if (error instanceof SourceError) return;
      throw error;
    }
    /**
     * Returns the number of a block in the range that is a hit in `these` but not in `those`. Skips
     * the blocks whose logs were too many for `those`.
     */
    const findExtra = (these: RangeLogs, those: RangeLogs): number | undefined => {
      const known = new Set([...those.whole, ...hitsOf(those).map(({ number }) => number)]);
      return hitsOf(these).find(
        ({ number }) => range.from <= number && number <= range.to && !known.has(number),
      )?.number;
    };
    const missedThere = findExtra(read, others);
    const missedHere = findExtra(others, read);
    if (missedThere !== undefined) blame(second, missedThere);
    if (missedHere === undefined) return;
    blame(node, missedHere);
    throw new SourceError(
      'missing',
      `${node.name}: blocks ${range.from} to ${range.to} lack logs that ${second.name} has in block ${missedHere}`,
    );
  };

  const searchOn = async (
    node: Provider,
    plan: RangePlan,
    from: number,
    anchor: BlockHeader,
  ): Promise<FoundBlocks | undefined> => {
    if (!isUsable(node)) return undefined;
    if ((await node.readHeaderOf(anchor.hash)) === undefined) return undefined;
    const to = anchor.number;
    const sample = { from, to: Math.min(to, from + plan.size - 1) };
    const read = await readLogs(node, plan, { from, to });
    if (rounds++ % ROUNDS_PER_SAMPLE === 0) await checkSample(node, plan, sample, read, anchor);
    const hits = hitsOf(read);
    for (const number of read.whole) {
      const header = await node.readHeaderAt(number);
      if (header !== undefined) hits.push(header);
    }
    let isProven = false;
    if (verifyHeaders) {
      blooms ??= search.plans[0]!.map(toBloomFilter);
      isProven = await addByBloom(node, { from, anchor, blooms, read, hits });
    }
    // The ranges were queried by number, so the node must still have the same last block.
    const still = await node.readHeaderAt(to);
    if (still?.hash !== anchor.hash) {
      throw new SourceError(
        'disagreement',
        `${node.name}: block ${to} changed while ranges below it were read`,
      );
    }
    hits.sort((a, b) => a.number - b.number);
    return { end: anchor, hits, isProven };
  };

  return {
    async next(from, upTo) {
      const maxBlocks = Math.max(...providers.all.map((node) => rangesOf(node).maxBlocks));
      const plan = reading.choosePlan(maxBlocks);
      if (plan === undefined || !providers.all.some(isUsable)) return undefined;
      const ranges = plan.isSettled ? RANGES_AT_ONCE : 1;
      const reach = Math.min(plan.size, maxBlocks) * ranges;
      const to = Math.min(upTo, from + (verifyHeaders ? HEADERS_PER_ROUND : reach) - 1);
      const anchor = await providers.readHeaderAt(to);
      if (anchor === undefined) {
        throw new SourceError('missing', `no node of this chain has block ${to}`);
      }
      return providers.ask((node) => searchOn(node, plan, from, anchor), { hash: anchor.hash });
    },
  };
}

/**
 * Returns the number of milliseconds for which a node is not queried for ranges after this error;
 * may be 0.
 */
function restMsAfter(error: unknown, plan: RangePlan): number {
  if (isOfKind(error, 'unsupported', 'refused', 'missing', 'pruned')) return REFUSED_MS;
  if (isOfKind(error, 'inconsistent')) return FAILED_MS;
  return isOfKind(error, 'unreachable') && isSmallest(plan) ? FAILED_MS : 0;
}
