/**
 * Computes the timeline: one tick per block, oldest first. `chains/blockTimeline.tsx` draws it.
 */
import type {
  ChainBlock,
  ChainHealth,
  DeliverySummary,
  StreamTimeline,
  TimelineBlock,
} from '@sluice/kit/sluice';

/** A chain, including blocks that reorgs removed while the page was open. */
export interface WatchedChain extends ChainHealth {
  removed: ChainBlock[];
  /** Time of the service's last report, in Unix milliseconds on the browser's clock. */
  reportedAt: number;
}

/**
 * `empty`: no match, or a canceled delivery · `hollow`: matched, not yet confirmed · `solid`:
 * confirmed · `waiting`: not delivered yet · `failed`: failed, quarantined, or waits for a retry ·
 * `reorged`: left the chain · `unknown`: not covered by the loaded deliveries or by the service's
 * timeline.
 */
export type TickFill = 'empty' | 'hollow' | 'solid' | 'waiting' | 'failed' | 'reorged' | 'unknown';

export interface TimelineTick {
  /** Height from 0 to 1; with 0, only a dash on the base line is drawn. */
  height: number;
  fill: TickFill;
}

export interface Timeline {
  ticks: TimelineTick[];
  /** Number of ticks whose blocks are not final yet. They are the newest ticks. */
  unconfirmed: number;
}

/**
 * Returns the height of a tick: 0 for no matches, 0.35 for one match, growing logarithmically to 1
 * for 15 or more.
 */
export const heightOf = (count: number): number =>
  count === 0 ? 0 : Math.min(1, 0.35 + Math.log2(count) / 6);

/** Returns whether the block is confirmed by the conditions of the chain. */
export const isFinal = (chain: WatchedChain, blockNumber: number): boolean =>
  chain.confirmations === 'finalized'
    ? blockNumber <= (chain.confirmedUpTo ?? -1)
    : chain.head !== null && blockNumber <= chain.head - chain.confirmations;

/** Returns the newest `length` blocks, current and removed ones, oldest first. */
function orderedBlocks(
  chain: WatchedChain,
  length: number,
): { block: ChainBlock; removed: boolean }[] {
  const rows = [
    ...chain.removed.map((block) => ({ block, removed: true })),
    ...chain.blocks.map((block) => ({ block, removed: false })),
  ];
  rows.sort((a, b) => a.block.number - b.block.number || Number(b.removed) - Number(a.removed));
  return rows.slice(-length);
}

function toTimeline(
  chain: WatchedChain,
  length: number,
  tick: (block: ChainBlock) => TimelineTick,
): Timeline {
  const rows = orderedBlocks(chain, length);
  return {
    ticks: rows.map(({ block, removed }) =>
      removed ? { height: Math.max(0.5, heightOf(block.matches)), fill: 'reorged' } : tick(block),
    ),
    unconfirmed: rows.filter(({ block }) => !isFinal(chain, block.number)).length,
  };
}

const rank: Record<TickFill, number> = {
  unknown: 0,
  empty: 0,
  solid: 1,
  hollow: 2,
  waiting: 3,
  failed: 4,
  reorged: 0,
};

function fillOf({ state, phase }: DeliverySummary): TickFill {
  if (phase === 'removed') return 'reorged';
  if (state === 'failed' || state === 'quarantined' || state === 'retrying') return 'failed';
  if (state === 'cancelled') return 'empty';
  if (state === 'succeeded') return phase === 'confirmed' ? 'solid' : 'hollow';
  return 'waiting';
}

const pastFill = ({
  failed,
  waiting,
  cancelled,
  delivered,
  confirmed,
}: TimelineBlock): TickFill => {
  if (failed > 0) return 'failed';
  if (waiting > 0) return 'waiting';
  if (cancelled > 0 && delivered === 0) return 'empty';
  return confirmed ? 'solid' : 'hollow';
};

/** Maximum time that a chain's clock may be ahead of the service's clock. */
const CLOCK_SKEW_MS = 5_000;

/** The sources for the timeline of one stream on one chain. */
export interface StreamBlocks {
  /** Deliveries of the stream, newest first; those on other chains are ignored. */
  deliveries: readonly DeliverySummary[];
  /** Time in Unix milliseconds. Deliveries created earlier may be missing. */
  since: number;
  /** The service's timeline of the stream on this chain. */
  past?: StreamTimeline['chains'][number] | undefined;
}

/**
 * Returns the timeline of a stream. Loaded deliveries are newer than the service's timeline, so
 * they take precedence. Blocks that are covered by neither source are unknown.
 */
export function streamTimeline(
  chain: WatchedChain,
  { deliveries, since, past }: StreamBlocks,
  length: number,
): Timeline {
  const { from = Infinity, blocks: matched = [] } = past ?? {};
  const reported = new Map(matched.map((block) => [block.hash, block]));
  const left = matched.filter(({ removed }) => removed);
  const byBlock = new Map<number, { records: number; fill: TickFill; confirmed: boolean }>();
  /**
   * Heights with a removal webhook. Older deliveries at these heights belong to the removed block.
   */
  const settled = new Set<number>();
  const timeOf = new Map(chain.blocks.map(({ number, timestamp }) => [number, timestamp]));
  for (const delivery of deliveries) {
    if (delivery.chainId !== chain.id || settled.has(delivery.blockNumber)) continue;
    // After a local chain starts over, older deliveries belong to other blocks of the same height.
    if (delivery.createdAt + CLOCK_SKEW_MS < (timeOf.get(delivery.blockNumber) ?? 0)) continue;
    const fill = fillOf(delivery);
    const known = byBlock.get(delivery.blockNumber);
    if (delivery.phase === 'removed') {
      settled.add(delivery.blockNumber);
      if (known !== undefined) continue;
    }
    const confirmed = delivery.phase === 'confirmed' || known?.confirmed === true;
    // The confirmed delivery supersedes the unconfirmed one, unless one of them failed or waits.
    const merged =
      known === undefined
        ? fill
        : confirmed && rank[fill] <= 2 && rank[known.fill] <= 2
          ? 'solid'
          : rank[fill] > rank[known.fill]
            ? fill
            : known.fill;
    byBlock.set(delivery.blockNumber, {
      records: Math.max(known?.records ?? 0, delivery.records),
      fill: merged,
      confirmed,
    });
  }
  const seen = new Set(chain.removed.map(({ hash }) => hash));
  const removed = [
    ...chain.removed,
    ...left
      .filter(({ hash }) => !seen.has(hash))
      .map(({ number, hash, matches }) => ({ number, hash, matches, timestamp: 0 })),
  ];
  return toTimeline({ ...chain, removed }, length, (block) => {
    const match = byBlock.get(block.number);
    if (match !== undefined) return { height: heightOf(match.records), fill: match.fill };
    if (block.timestamp >= since) return { height: 0, fill: 'empty' };
    const was = reported.get(block.hash);
    if (was !== undefined) return { height: heightOf(was.matches), fill: pastFill(was) };
    return { height: 0, fill: block.number >= from ? 'empty' : 'unknown' };
  });
}
