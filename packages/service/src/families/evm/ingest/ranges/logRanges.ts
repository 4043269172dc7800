/**
 * Finds blocks by querying nodes for logs over ranges whose sizes adapt to the limits of the nodes.
 * An empty response alone proves nothing: a node must have the last block of the ranges, and a
 * second node is queried for the same logs. With `isVerified`, the blooms of all headers are checked
 * too.
 */
import type { BlockRange } from '@sluice/kit/contract';
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
import {
  type ComparisonOptions,
  type SecondLogs,
  createComparison,
  hasSameLogs,
} from './comparison.ts';
import { type BloomFilter, addByBloom, toBloomFilter } from './headerBlooms.ts';
import {
  FAILED_MS,
  type NodeRanges,
  type RangeLogs,
  type RangePlan,
  createRangeReading,
  hitsOf,
  pauseRanges,
  unknownRanges,
} from './rangeReading.ts';

const HEADERS_PER_ROUND = 1_024;
/**
 * Number of parts that a second node may need in addition to those of the first one, to learn its
 * own limit.
 */
const SPARE_PARTS = 16;

interface Options extends Pick<ComparisonOptions, 'chain' | 'readLogsOf' | 'log'> {
  providers: Pick<Providers<Provider>, 'ask'> & ComparisonOptions['providers'];
  /** Whether to compare the logs of a node with those of a second one. */
  isCompared: boolean;
  /** Whether to read each header and check its bloom. */
  isVerified: boolean;
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
  options: Options,
  search: LogSearch,
  rangesOf: (node: Provider) => NodeRanges,
): BlockSearch {
  const { chain, providers, isCompared, isVerified, log } = options;
  let blooms: BloomFilter[] | undefined;
  /** The last block that was searched. */
  let searchedUpTo = -1;

  const isUsable = (node: Provider): boolean => performance.now() >= rangesOf(node).restsUntil;

  // Logs of ranges are not proven. If proofs are wanted, their blocks are read.
  const keepsLogs = search.keepsLogs === true && !isVerified;
  const reading = createRangeReading({ ...search, keepsLogs }, rangesOf);

  const readLogs = async (
    node: Provider,
    plan: RangePlan,
    range: BlockRange,
    maxParts?: number,
  ): Promise<RangeLogs> => {
    try {
      return await reading.readLogs(node, plan, range, maxParts);
    } catch (error) {
      if (isOfKind(error, 'inconsistent')) pauseRanges(rangesOf(node), FAILED_MS);
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

  const comparison = createComparison({ ...options, search, readLogs, rangesOf, isUsable });

  const searchOn = async (
    node: Provider,
    plan: RangePlan,
    from: number,
    anchor: BlockHeader,
    isAgain: boolean,
  ): Promise<FoundBlocks | undefined> => {
    if (!isUsable(node)) return undefined;
    // The anchor was just read, often from this node.
    const hasAnchor = node.knows(anchor.hash) || (await node.readHeaderOf(anchor.hash));
    if (!hasAnchor) return undefined;
    const range = { from, to: anchor.number };
    const size = Math.min(plan.size, rangesOf(node).limit.size);
    const maxParts = Math.ceil((range.to - from + 1) / size) + SPARE_PARTS;
    let read: RangeLogs;
    let second: SecondLogs | undefined;
    try {
      [read, second] = await Promise.all([
        readLogs(node, plan, range),
        isCompared ? comparison.read(node, { plan, range, maxParts, anchor }) : undefined,
      ]);
    } catch (error) {
      if (isOfKind(error, 'inconsistent') || isUsable(node)) throw error;
      return undefined;
    }
    const end = read.to === anchor.number ? anchor : await node.readHeaderAt(read.to);
    if (end === undefined) {
      throw new SourceError('missing', `${node.name}: block ${read.to} is missing`);
    }
    if (second !== undefined) await comparison.check(node, read, second);
    const hits: FoundBlock[] = hitsOf(search, read);
    if (keepsLogs) {
      for (const hit of hits) {
        // A block whose logs differ between the nodes is read.
        if (second === undefined || hasSameLogs(hit.number, read, second)) {
          hit.logs = read.logs.get(hit.number)!.logs;
        }
      }
    }
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
        for (const each of nodes) pauseRanges(each, 0);
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
  pauseRanges(ranges, FAILED_MS);
  throw new SourceError(
    'inconsistent',
    `${node.name}: a log belongs to block ${wrong.number} ${wrong.hash}, which the node does not have`,
  );
}
