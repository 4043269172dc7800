/**
 * Computes the timeline: one tick per block, oldest first. Pure; `chains/blockTimeline.tsx` draws it.
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
  /** Time of the service's report, in milliseconds of the browser's clock. */
  reportedAt: number;
}

/**
 * `empty` nothing matched · `hollow` matched, not yet confirmed · `solid` delivered ·
 * `waiting` not delivered yet · `failed` · `reorged` left the chain · `unknown` older than the
 * loaded deliveries.
 */
export type TickFill = 'empty' | 'hollow' | 'solid' | 'waiting' | 'failed' | 'reorged' | 'unknown';

export interface Tick {
  /** Height from 0 to 1; 0 draws the base line only. */
  height: number;
  fill: TickFill;
}

export interface Timeline {
  ticks: Tick[];
  /** Number of ticks at the end that are not final yet. */
  unconfirmed: number;
}

/**
 * Grows fast at first and then levels out, so that a single match is visible and a thousand fit.
 */
export const heightOf = (count: number): number =>
  count === 0 ? 0 : Math.min(1, 0.35 + Math.log2(count) / 6);

const isFinal = (chain: WatchedChain, blockNumber: number): boolean =>
  chain.confirmations === 'finalized'
    ? blockNumber <= (chain.confirmedUpTo ?? -1)
    : chain.head !== null && blockNumber <= chain.head - chain.confirmations;

/** Returns current and removed blocks, oldest first, at most `length`. */
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
  tick: (block: ChainBlock) => Tick,
): Timeline {
  const rows = orderedBlocks(chain, length);
  return {
    ticks: rows.map(({ block, removed }) =>
      removed ? { height: Math.max(0.5, heightOf(block.matches)), fill: 'reorged' } : tick(block),
    ),
    unconfirmed: rows.filter(({ block }) => !isFinal(chain, block.number)).length,
  };
}

/** Returns the timeline of a chain, with the matches of all streams. */
export function chainTimeline(chain: WatchedChain, length: number): Timeline {
  return toTimeline(chain, length, (block) => ({
    height: heightOf(block.matches),
    fill: block.matches === 0 ? 'empty' : isFinal(chain, block.number) ? 'solid' : 'hollow',
  }));
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

function fillOf({ state, phase, attempts }: DeliverySummary): TickFill {
  if (phase === 'removed') return 'reorged';
  if (state === 'failed' || (attempts > 0 && state === 'pending')) return 'failed';
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

/** How far the clock of a chain may be ahead of the service's. */
const CLOCK_SKEW_MS = 5_000;

/** The matches of one stream on one chain. */
export interface StreamBlocks {
  /** Deliveries of the stream, newest first. */
  deliveries: readonly DeliverySummary[];
  /** Deliveries created before this time may be missing. */
  since: number;
  /** The timeline from the service; loaded deliveries are newer, so they take precedence. */
  past?: StreamTimeline['chains'][number] | undefined;
}

/**
 * Returns the timeline of a stream from loaded deliveries, then from the service. Other blocks are
 * unknown.
 */
export function streamTimeline(
  chain: WatchedChain,
  { deliveries, since, past }: StreamBlocks,
  length: number,
): Timeline {
  const { from = Infinity, blocks: matched = [] } = past ?? {};
  const told = new Map(matched.map((block) => [block.hash, block]));
  const left = matched.filter(({ removed }) => removed);
  const byBlock = new Map<number, { records: number; fill: TickFill; confirmed: boolean }>();
  /** Heights at which older deliveries belong to a removed block. */
  const settled = new Set<number>();
  const timeOf = new Map(chain.blocks.map(({ number, timestamp }) => [number, timestamp]));
  for (const delivery of deliveries) {
    if (delivery.chainId !== chain.id || settled.has(delivery.blockNumber)) continue;
    // Belongs to another block of this height, as after a local chain started over.
    if (delivery.createdAt + CLOCK_SKEW_MS < (timeOf.get(delivery.blockNumber) ?? 0)) continue;
    const fill = fillOf(delivery);
    const known = byBlock.get(delivery.blockNumber);
    if (delivery.phase === 'removed') {
      settled.add(delivery.blockNumber);
      if (known !== undefined) continue;
    }
    const confirmed = delivery.phase === 'confirmed' || known?.confirmed === true;
    // The confirmed delivery supersedes the unconfirmed one, unless one of them has failed.
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
    const was = told.get(block.hash);
    if (was !== undefined) return { height: heightOf(was.matches), fill: pastFill(was) };
    return { height: 0, fill: block.number >= from ? 'empty' : 'unknown' };
  });
}
