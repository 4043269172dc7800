/**
 * Compares the blocks that one node found by their logs with those that a second node finds, because
 * nothing proves that the logs of a range are complete.
 */
import { randomInt } from 'node:crypto';
import type { BlockRange } from '@sluice/kit/contract';
import type { Log } from '../../../../base/log.ts';
import type { LogSearch, SearchedLog } from '../../../../match/logSearch.ts';
import type { BlockRef } from '../../../../store/blocks/contract.ts';
import type { Providers } from '../../../../ingest/nodes/providers.ts';
import { SourceError } from '../../../../ingest/source.ts';
import type { Provider } from '../provider.ts';
import {
  type NodeRanges,
  type RangeLogs,
  type RangePlan,
  type RangeReading,
  hitsOf,
  pauseRanges,
} from './rangeReading.ts';

/** Time for which a node that missed or invented logs is not queried for ranges. */
const UNRELIABLE_MS = 86_400_000;

/** The logs that a second node returned for the blocks from `from` on. */
export interface SecondLogs {
  node: Provider;
  from: number;
  read: RangeLogs;
}

export interface ComparisonOptions {
  chain: string;
  providers: Pick<Providers<Provider>, 'all' | 'readHeaderAt' | 'witnesses'>;
  /** Reads the logs of a block with the evidence that the chain requires. */
  readLogsOf(block: BlockRef): Promise<readonly SearchedLog[]>;
  log: Log;
}

export interface Comparison {
  /**
   * Reads the logs of a range from a node other than the first, in at most `maxParts` parts. If that
   * is not enough, reads a random part of the range, which the nodes can't foresee. Returns undefined
   * if no other node can be searched now.
   */
  read(
    first: Provider,
    query: { plan: RangePlan; range: BlockRange; maxParts: number; anchor: BlockRef },
  ): Promise<SecondLogs | undefined>;
  /**
   * Compares the hits of both nodes, and stops using the ranges of a node that is wrong. The block
   * itself decides which one is, so that no node can discredit another with invented logs.
   *
   * @throws SourceError `missing` if the first node is wrong
   */
  check(first: Provider, read: RangeLogs, second: SecondLogs): Promise<void>;
}

export function createComparison({
  chain,
  providers,
  readLogsOf,
  log,
  search,
  readLogs,
  rangesOf,
  isUsable,
}: ComparisonOptions & {
  search: Pick<LogSearch, 'takes'>;
  readLogs: RangeReading['readLogs'];
  rangesOf(node: Provider): NodeRanges;
  isUsable(node: Provider): boolean;
}): Comparison {
  const blame = (node: Provider, how: 'missed' | 'invented', block: number): void => {
    if (!isUsable(node)) return;
    pauseRanges(rangesOf(node), UNRELIABLE_MS);
    node.fault('missing');
    log.warn(`node ${how} logs of a range; its ranges are not used for a day`, {
      chain,
      provider: node.name,
      block,
    });
  };

  /** Returns whether a hit is a block of the chain that the streams take. */
  const isTrue = async (hit: BlockRef): Promise<boolean> => {
    const header = await providers.readHeaderAt(hit.number);
    if (header === undefined) {
      throw new SourceError('missing', `no node of this chain has block ${hit.number}`);
    }
    return header.hash === hit.hash && search.takes({ ...hit, logs: await readLogsOf(hit) });
  };

  return {
    async read(first, { plan, range: { from, to }, maxParts, anchor }) {
      const node = [...providers.witnesses(first), ...providers.all].find(
        (each) => each !== first && each.hasVote && each.restsUntil === 0 && isUsable(each),
      );
      if (node === undefined) return undefined;
      const reach = maxParts * Math.min(plan.size, rangesOf(node).limit.size);
      const start = from + randomInt(Math.max(1, to - from + 2 - reach));
      try {
        if ((await node.readHeaderOf(anchor.hash)) === undefined) return undefined;
        const read = await readLogs(node, plan, { from: start, to }, maxParts);
        return { node, from: start, read };
      } catch (error) {
        if (error instanceof SourceError) return undefined;
        throw error;
      }
    },
    async check(first, read, { node: second, from, read: others }) {
      const to = Math.min(read.to, others.to);
      const sides = [
        { by: first, own: read, other: second, against: others },
        { by: second, own: others, other: first, against: read },
      ];
      for (const { by, own, other, against } of sides) {
        const known = new Map(hitsOf(search, against).map(({ number, hash }) => [number, hash]));
        const extra = hitsOf(search, own).find(
          ({ number, hash }) =>
            from <= number &&
            number <= to &&
            known.get(number) !== hash &&
            // The node refused to search this block, which has too many logs.
            !against.whole.includes(number),
        );
        if (extra === undefined) continue;
        if (await isTrue(extra)) blame(other, 'missed', extra.number);
        else blame(by, 'invented', extra.number);
      }
      if (isUsable(first)) return;
      throw new SourceError(
        'missing',
        `${first.name}: logs of blocks ${from} to ${to} are wrong; those of ${second.name} differ`,
      );
    },
  };
}

/** Returns whether both nodes returned the same logs of a block, or only one was queried. */
export function hasSameLogs(
  number: number,
  read: RangeLogs,
  { from, read: others }: SecondLogs,
): boolean {
  if (number < from || number > others.to) return true;
  const contentOf = ({ logs }: RangeLogs): string =>
    JSON.stringify(
      logs.get(number)?.logs.map(({ address, topics, data }) => [address, topics, data]),
    );
  return contentOf(read) === contentOf(others);
}
