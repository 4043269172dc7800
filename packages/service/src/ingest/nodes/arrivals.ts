/**
 * Learns from polls at which phase of the block time the blocks of a chain arrive. Each interval in
 * which a block arrived narrows a histogram of the phase. The histogram is blurred with each block,
 * so that it follows drift.
 */

export interface Arrivals {
  /**
   * Records that a block arrived after `afterMs` and no later than `byMs`, on the same clock as the
   * polls.
   *
   * @param blockMs the best current estimate of the block time
   */
  observe(afterMs: number, byMs: number, blockMs: number): void;
  /** Returns whether the model has recently predicted arrivals clearly better than chance. */
  isReliable(): boolean;
  /**
   * Returns when to poll next for the block after the last observed block. The plan minimizes the
   * expected delay, with at most about `pollsPerBlock` polls per block.
   *
   * @param how.gapMs minimum time between two polls
   * @param how.overdueMs maximum time between two polls for a block that is overdue
   */
  nextPollAt(
    lastPollMs: number,
    how: { gapMs: number; overdueMs: number; pollsPerBlock: number },
  ): number;
}

const BIN_MS = 5;
const MAX_BINS = 1_024;
/** Weight of the newest block in the histogram. The first blocks count more. */
const WEIGHT = 0.1;
/** Share of a bin that moves to each of its neighbors per block. */
const BLUR = 0.25;
/**
 * Share of the histogram that is spread evenly per block, so that a change of the phase is
 * detected.
 */
const ANYWHERE = 0.002;
/** Minimum gain in log-likelihood over a uniform phase, and number of blocks to average it over. */
const RELIABLE_GAIN = 0.2;
const GAIN_BLOCKS = 8;
const MIN_GAIN = -2;
const MAX_GAIN = 3;
const RELIABLE_BLOCKS = 4;
/**
 * Assumed probability that a block is skipped. It adds to the cost of polls after the usual
 * arrival.
 */
const SKIPPED = 0.02;
/**
 * Cost of a poll, in milliseconds of delay. It is multiplied by `POLL_COST_FACTOR` until a plan
 * needs few enough polls.
 */
const POLL_COST_MS = 15;
const POLL_COST_FACTOR = 1.4;
const POLL_COST_MAX_MS = 10_000;

const modulo = (value: number, divisor: number): number => ((value % divisor) + divisor) % divisor;

/** @param blockMs first estimate of the block time */
export function createArrivals(blockMs: number): Arrivals {
  const bins = Math.min(MAX_BINS, Math.max(2, Math.round(blockMs / BIN_MS)));
  let phases = new Float64Array(bins).fill(1 / bins);
  let periodMs = blockMs;
  /** A time at which the phase is 0. */
  let originMs = 0;
  /** Estimated time at which the newest block arrived. */
  let arrivedMs = 0;
  let observed = 0;
  let gain = 0;
  /**
   * Planned polls for the next block, from the start of its period. Recomputed after each block.
   */
  let plan: Plan | undefined;

  const isReliable = (): boolean => observed >= RELIABLE_BLOCKS && gain > RELIABLE_GAIN;
  const phaseOf = (ms: number): number => modulo(ms - originMs, periodMs) / periodMs;

  /** Returns the circular mean of the phases, from 0 to 1. */
  const readCenter = (): number => {
    let x = 0;
    let y = 0;
    for (const [bin, share] of phases.entries()) {
      const angle = (2 * Math.PI * bin) / bins;
      x += share * Math.cos(angle);
      y += share * Math.sin(angle);
    }
    return modulo(Math.atan2(y, x) / (2 * Math.PI), 1);
  };

  const blur = (): void => {
    phases = phases.map((share, bin) => {
      const neighbors = phases[(bin + 1) % bins]! + phases[(bin + bins - 1) % bins]!;
      const blurred = share + BLUR * (neighbors - 2 * share);
      return blurred + ANYWHERE * (1 / bins - blurred);
    });
  };

  /** Moves weight into the bins of the interval, in proportion to their existing weights. */
  const narrow = (firstBin: number, width: number): void => {
    const isInside = (bin: number): boolean => modulo(bin - firstBin, bins) < width;
    const inside = phases.reduce((sum, share, bin) => sum + (isInside(bin) ? share : 0), 0);
    const newest = Math.min(MAX_GAIN, Math.max(MIN_GAIN, Math.log((inside * bins) / width)));
    gain += (newest - gain) / GAIN_BLOCKS;
    const weight = Math.max(WEIGHT, 1 / (observed + 1));
    phases = phases.map(
      (share, bin) => share * (1 - weight + (isInside(bin) ? weight / inside : 0)),
    );
  };

  /** Changes the period, but not the phase of this time. */
  const setPeriod = (newMs: number, atMs: number): void => {
    originMs = atMs - phaseOf(atMs) * newMs;
    periodMs = newMs;
  };

  return {
    isReliable,
    observe(afterMs, byMs, newBlockMs) {
      plan = undefined;
      setPeriod(newBlockMs, arrivedMs);
      arrivedMs = (afterMs + byMs) / 2;
      observed++;
      blur();
      const width = Math.max(1, Math.ceil(((byMs - afterMs) / periodMs) * bins));
      // An interval of a complete period contains no information about the phase.
      if (width >= bins) return;
      narrow(Math.floor(phaseOf(byMs) * bins) - width + 1, width);
    },
    nextPollAt(lastPollMs, { gapMs, overdueMs, pollsPerBlock }) {
      // Periods start where arrivals are least likely, so that each period contains one block.
      const cutMs = originMs + modulo(readCenter() + 0.5, 1) * periodMs;
      const periodOf = (ms: number): number => Math.floor((ms - cutMs) / periodMs);
      const expected = periodOf(arrivedMs) + 1;
      const period = Math.max(periodOf(lastPollMs), expected);
      const startMs = cutMs + period * periodMs;
      const binMs = periodMs / bins;
      const cutBin = Math.floor(phaseOf(startMs + binMs / 2) * bins);
      plan ??= makePlan(
        phases.map((_, n) => phases[(cutBin + n) % bins]!),
        { binMs, gapBins: Math.max(1, Math.ceil(gapMs / binMs)), pollsPerBlock },
      );
      const from = Math.round((lastPollMs - startMs) / binMs);
      const bin = from < 0 ? plan.first : plan.next[Math.min(from, bins)]!;
      const plannedAt = Math.max(startMs + bin * binMs, lastPollMs + gapMs);
      const isOverdue = period > expected || bin === bins;
      return isOverdue ? Math.min(plannedAt, lastPollMs + overdueMs) : plannedAt;
    },
  };
}

/** Times of polls, as numbers of bins since the start of the period. */
interface Plan {
  first: number;
  /** Time of the next poll, by the time of a poll that found no block. */
  next: Uint16Array;
}

/**
 * Minimizes the expected delay plus the cost of polls by dynamic programming from the end of the
 * period. Raises the cost until the expected number of polls is within the limit.
 */
function makePlan(
  shares: Float64Array,
  { binMs, gapBins, pollsPerBlock }: { binMs: number; gapBins: number; pollsPerBlock: number },
): Plan {
  const bins = shares.length;
  /** Prefix sums of the shares, and of each share times its arrival in bins. */
  const arrived = new Float64Array(bins + 1);
  const moments = new Float64Array(bins + 1);
  for (const [bin, share] of shares.entries()) {
    arrived[bin + 1] = arrived[bin]! + share;
    moments[bin + 1] = moments[bin]! + share * (bin + 0.5);
  }
  const next = new Uint16Array(bins + 1).fill(bins);
  const costs = new Float64Array(bins + 1);

  /** Returns the best time of the poll after `from`, and saves the expected cost from `from` on. */
  const choose = (from: number, earliest: number, pollCost: number): number => {
    let best = bins;
    let bestCost = Infinity;
    for (let bin = Math.min(bins, earliest); bin <= bins; bin++) {
      const delay =
        binMs * (bin * (arrived[bin]! - arrived[from]!) - (moments[bin]! - moments[from]!));
      if (delay > bestCost) break;
      const cost = delay + (bin === bins ? 0 : pollCost) + costs[bin]!;
      if (cost >= bestCost) continue;
      bestCost = cost;
      best = bin;
    }
    costs[from] = bestCost;
    return best;
  };

  for (let costMs = POLL_COST_MS; ; costMs *= POLL_COST_FACTOR) {
    for (let bin = bins - 1; bin >= 0; bin--) {
      next[bin] = choose(bin, bin + gapBins, costMs * (1 - arrived[bin]! + SKIPPED));
    }
    const first = choose(0, 0, costMs);
    let expected = 0;
    for (let from = 0, bin = first; bin < bins; from = bin, bin = next[bin]!) {
      expected += 1 - arrived[from]!;
    }
    if (expected <= pollsPerBlock || costMs > POLL_COST_MAX_MS) return { first, next };
  }
}
