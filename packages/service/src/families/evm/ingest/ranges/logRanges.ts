/**
 * Finds blocks by querying nodes for logs over ranges whose sizes adapt to the limits of the nodes.
 * An empty response alone proves nothing: a node must have the last block of the ranges, and a
 * second node verifies samples. With `isVerified`, the blooms of all headers are checked too.
 */
import type { BlockRange } from '@sluice/kit/contract';
import type { Log } from '../../../../base/log.ts';
import type { LogSearch } from '../../../../match/logSearch.ts';
import type { BlockHeader, BlockRef } from '../../../../store/blocks/contract.ts';
import type { Providers } from '../../../../ingest/nodes/providers.ts';
import {
  type BlockSearch,
  type FoundBlock,
  type FoundBlocks,
  SourceError,
  isOfKind,
} from '../../../../ingest/source.ts';
import type { Provider } from '../provider.ts';
import { type BloomFilter, addByBloom, toBloomFilter } from './headerBlooms.ts';
import {
  FAILED_MS,
  type NodeRanges,
  type RangeLogs,
  type RangePlan,
  createRangeReading,
  rest,
  unknownRanges,
} from './rangeReading.ts';

/** Number of rounds per sample. A second node verifies the first range of the sampled round. */
const ROUNDS_PER_SAMPLE = 8;
const HEADERS_PER_ROUND = 1_024;
/** Time for which a node that missed logs is not queried for ranges. */
const UNRELIABLE_MS = 86_400_000;

interface Options {
  chain: string;
  providers: Pick<Providers<Provider>, 'all' | 'ask' | 'readHeaderAt'>;
  /** Whether to read each header and check its bloom. */
  isVerified: boolean;
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
  { chain, providers, isVerified, log }: Options,
  search: LogSearch,
  rangesOf: (node: Provider) => NodeRanges,
): BlockSearch {
  const reading = createRangeReading(search, rangesOf);
  let rounds = 0;
  let blooms: BloomFilter[] | undefined;
  /** The last block that was searched. */
  let searchedUpTo = -1;

  const isUsable = (node: Provider): boolean => performance.now() >= rangesOf(node).restsUntil;

  // Logs of ranges are not proven. If proofs are wanted, their blocks are read.
  const keepsLogs = search.keepsLogs === true && !isVerified;

  const hitsOf = ({ logs }: RangeLogs): FoundBlock[] =>
    [...logs]
      .filter(([number, block]) => search.takes({ number, ...block }))
      .map(([number, { hash, logs: its }]) => ({ number, hash, ...(keepsLogs && { logs: its }) }));

  const blame = (node: Provider, block: number): void => {
    rest(rangesOf(node), UNRELIABLE_MS);
    node.fault('missing');
    log.warn('node missed logs of a range; its ranges are not used for a day', {
      chain,
      provider: node.name,
      block,
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
      if (isOfKind(error, 'inconsistent')) rest(rangesOf(node), FAILED_MS);
      else if (error instanceof SourceError && !isUsable(node)) {
        log.info('node serves no ranges of logs; its ranges are not used for now', {
          chain,
          provider: node.name,
          error: error.message,
          seconds: Math.round((rangesOf(node).restsUntil - performance.now()) / 1_000),
        });
      }
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
    const to = Math.min(range.to, others.to);
    const findExtra = (these: RangeLogs, those: RangeLogs): number | undefined => {
      const known = new Set([...those.whole, ...hitsOf(those).map(({ number }) => number)]);
      return hitsOf(these).find(
        ({ number }) => range.from <= number && number <= to && !known.has(number),
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
    isAgain: boolean,
  ): Promise<FoundBlocks | undefined> => {
    if (!isUsable(node)) return undefined;
    if ((await node.readHeaderOf(anchor.hash)) === undefined) return undefined;
    const sampleTo = Math.min(anchor.number, from + plan.size - 1);
    let read: RangeLogs;
    try {
      read = await readLogs(node, plan, { from, to: anchor.number });
    } catch (error) {
      if (isOfKind(error, 'inconsistent') || isUsable(node)) throw error;
      return undefined;
    }
    const end = read.to === anchor.number ? anchor : await node.readHeaderAt(read.to);
    if (end === undefined) {
      throw new SourceError('missing', `${node.name}: block ${read.to} is missing`);
    }
    if (rounds++ % ROUNDS_PER_SAMPLE === 0) {
      const sample = { from, to: Math.min(sampleTo, read.to) };
      await checkSample(node, plan, sample, read, anchor);
    }
    const hits = hitsOf(read);
    for (const number of read.whole) {
      const header = await node.readHeaderAt(number);
      if (header !== undefined) hits.push(header);
    }
    if (isAgain) await checkHits(node, hits, rangesOf(node));
    let isProven = false;
    if (isVerified) {
      blooms ??= search.plans[0]!.map(toBloomFilter);
      isProven = await addByBloom(node, { from, anchor: end, blooms, read, hits });
    }
    // The ranges were queried by number, so the node must still have the same last block.
    const still = await node.readHeaderAt(anchor.number);
    if (still?.hash !== anchor.hash) {
      throw new SourceError(
        'disagreement',
        `${node.name}: block ${anchor.number} changed while ranges below it were read`,
      );
    }
    hits.sort((a, b) => a.number - b.number);
    return { end, hits, isProven };
  };

  return {
    async next(from, upTo) {
      const nodes = providers.all.filter(isUsable).map(rangesOf);
      if (nodes.length === 0) return undefined;
      const chosen = reading.choosePlan(Math.max(...nodes.map(({ limit }) => limit.size)));
      if (chosen === undefined) {
        // The limits are learned again, because they may have changed.
        for (const each of nodes) rest(each, 0);
        return undefined;
      }
      const { plan, reach } = chosen;
      const to = Math.min(upTo, from + (isVerified ? HEADERS_PER_ROUND : reach) - 1);
      const anchor = await providers.readHeaderAt(to);
      if (anchor === undefined) {
        throw new SourceError('missing', `no node of this chain has block ${to}`);
      }
      // The blocks are searched again if those that were found before failed to load.
      const isAgain = from <= searchedUpTo;
      const found = await providers.ask((node) => searchOn(node, plan, from, anchor, isAgain), {
        hash: anchor.hash,
      });
      if (found !== undefined) searchedUpTo = found.end.number;
      return found;
    },
  };
}

/**
 * Checks that the hits are blocks of the node's chain. Throws a SourceError `inconsistent`, and
 * stops using the ranges of the node for a while, if one is not.
 */
async function checkHits(
  node: Provider,
  hits: readonly BlockRef[],
  ranges: NodeRanges,
): Promise<void> {
  const headers = await Promise.all(hits.map(({ number }) => node.readHeaderAt(number)));
  const wrong = hits.find(({ hash }, n) => headers[n]?.hash !== hash);
  if (wrong === undefined) return;
  rest(ranges, FAILED_MS);
  throw new SourceError(
    'inconsistent',
    `${node.name}: a log belongs to block ${wrong.number} ${wrong.hash}, which the node does not have`,
  );
}
