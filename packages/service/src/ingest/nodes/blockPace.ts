/**
 * Learns the block time of a chain from the times at which polls find new blocks. Timestamps of
 * blocks are not used, because they are in whole seconds and several blocks can share one.
 */

export interface BlockPace {
  /**
   * Records that the block at this height arrived after `afterMs` and no later than `byMs`, on the
   * clock of the polls.
   */
  observe(number: number, afterMs: number, byMs: number): void;
  /** Returns the block time in milliseconds; undefined while it is unknown or not steady. */
  steadyMs(): number | undefined;
  /** Returns the average time per block in milliseconds, steady or not; undefined while unknown. */
  averageMs(): number | undefined;
}

/** The interval in which a block arrived. */
interface Sighting {
  number: number;
  afterMs: number;
  byMs: number;
}

/** A grid of equally long slots. Most slots have one block. */
interface Grid {
  /** Time of slot 0. */
  startMs: number;
  blockMs: number;
}

const REMEMBERED = 48;
const NEEDED = 8;
/**
 * Number of block times, and of milliseconds, that two sightings may be apart. After a longer gap,
 * the number of skipped slots is uncertain, so learning begins again.
 */
const MAX_SLOTS = 24;
const MAX_GAP_MS = 10_000;
/** How far an arrival may be off its slot, as a share of the block time. */
const TOLERANCE = 0.25;
/** Minimum share of arrivals within the tolerance. */
const STEADY_SHARE = 0.75;
const MAX_BLOCK_MS = 30_000;
/**
 * Added to the width of an interval when intervals are weighted, because arrivals vary even if they
 * are observed exactly.
 */
const JITTER_MS = 20;
/** Number of times that the fit is improved. */
const ROUNDS = 4;

export function createBlockPace(): BlockPace {
  let sightings: Sighting[] = [];
  let steadyMs: number | undefined;
  let averageMs: number | undefined;
  return {
    observe(number, afterMs, byMs) {
      const last = sightings.at(-1);
      if (last !== undefined && number <= last.number) return;
      const gapMs = byMs - (last?.byMs ?? byMs);
      if (gapMs > Math.max(MAX_GAP_MS, MAX_SLOTS * (averageMs ?? Infinity))) sightings = [];
      sightings.push({ number, afterMs, byMs });
      if (sightings.length > REMEMBERED) sightings.shift();
      if (sightings.length < NEEDED) return;
      const first = sightings[0]!;
      averageMs = (byMs - first.byMs) / (number - first.number);
      steadyMs = findSteadyMs(sightings);
    },
    steadyMs: () => steadyMs,
    averageMs: () => averageMs,
  };
}

/** Returns the block time; undefined if too many arrivals are off the best grid. */
function findSteadyMs(sightings: readonly Sighting[]): number | undefined {
  let slots = countSlots(sightings);
  let grid = fitMiddles(sightings, slots);
  slots = placeInGrid(sightings, grid);
  grid = fitMiddles(sightings, slots);
  // Any time within an interval is as good as its middle, so only the distance from it counts.
  for (let round = 0; round < ROUNDS; round++) {
    const { startMs, blockMs } = grid;
    grid = fit(
      sightings.map(({ afterMs, byMs }, n) => {
        const y = Math.min(byMs, Math.max(afterMs, startMs + slots[n]! * blockMs));
        return { x: slots[n]!, y, weight: 1 };
      }),
    );
  }
  const { startMs, blockMs } = grid;
  if (!(blockMs > 0 && blockMs <= MAX_BLOCK_MS)) return undefined;
  const near = sightings.filter(({ afterMs, byMs }, n) => {
    const atMs = startMs + slots[n]! * blockMs;
    return atMs > afterMs - TOLERANCE * blockMs && atMs < byMs + TOLERANCE * blockMs;
  });
  return near.length >= STEADY_SHARE * sightings.length ? blockMs : undefined;
}

const middleOf = ({ afterMs, byMs }: Sighting): number => (afterMs + byMs) / 2;
const widthOf = ({ afterMs, byMs }: Sighting): number => byMs - afterMs;

/** Estimates the slots of the sightings from the median time per block. */
function countSlots(sightings: readonly Sighting[]): number[] {
  const steps = sightings.slice(1).map((each, n) => {
    const before = sightings[n]!;
    return {
      blocks: each.number - before.number,
      ms: middleOf(each) - middleOf(before),
      errorMs: (widthOf(each) + widthOf(before)) / 2,
    };
  });
  const times = steps.map(({ ms, blocks }) => ms / blocks).toSorted((a, b) => a - b);
  const usualMs = times[Math.floor(times.length / 2)]!;
  let slot = 0;
  return [
    slot,
    ...steps.map(({ blocks, ms, errorMs }) => {
      // A slot counts as skipped only if this is nearly certain.
      const certainMs = ms - 0.55 * errorMs;
      return (slot += Math.max(blocks, Math.round(certainMs / usualMs)));
    }),
  ];
}

/** Assigns each sighting to the first slot of the grid that its interval allows. */
function placeInGrid(sightings: readonly Sighting[], { startMs, blockMs }: Grid): number[] {
  let slot = -Infinity;
  return sightings.map(({ number, afterMs }, n) => {
    const blocks = number - (sightings[n - 1]?.number ?? number);
    slot = Math.max(slot + blocks, Math.ceil((afterMs - startMs) / blockMs - TOLERANCE));
    return slot;
  });
}

/** Fits a grid to the middles of the intervals. Narrow intervals count more. */
const fitMiddles = (sightings: readonly Sighting[], slots: readonly number[]): Grid =>
  fit(
    sightings.map((each, n) => ({
      x: slots[n]!,
      y: middleOf(each),
      weight: 1 / (widthOf(each) + JITTER_MS) ** 2,
    })),
  );

/** Fits a line to the points by least squares. */
function fit(points: readonly { x: number; y: number; weight: number }[]): Grid {
  let [all, sumX, sumY, sumXX, sumXY] = [0, 0, 0, 0, 0];
  const { x: originX, y: originY } = points[0]!;
  for (const point of points) {
    const { weight } = point;
    const x = point.x - originX;
    const y = point.y - originY;
    all += weight;
    sumX += weight * x;
    sumY += weight * y;
    sumXX += weight * x ** 2;
    sumXY += weight * x * y;
  }
  const blockMs = (all * sumXY - sumX * sumY) / (all * sumXX - sumX ** 2);
  return { blockMs, startMs: originY - originX * blockMs + (sumY - blockMs * sumX) / all };
}
