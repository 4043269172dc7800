import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { createPollSchedule } from './pollSchedule.ts';

const EVEN_MS = 1_000;

/** Time at which a block arrives at the node, and its timestamp, in milliseconds. */
interface Arrival {
  atMs: number;
  timestampMs: number;
}

interface Outcome {
  /** Delays between the arrival of each block and the poll that finds it, sorted. */
  delaysMs: number[];

  polls: { sentMs: number }[];
}

/** Polls a chain according to the schedule, on a simulated clock. */
function simulate(
  arrivals: readonly Arrival[],
  { roundTripMs = 2, fromBlock = 0 }: { roundTripMs?: number; fromBlock?: number } = {},
): Outcome {
  const schedule = createPollSchedule(EVEN_MS);
  const delaysMs: number[] = [];
  const polls: Outcome['polls'] = [];
  let newest = 0;
  let sentMs = arrivals[0]!.atMs;
  while (newest < arrivals.length - 1) {
    for (; arrivals[newest + 1] !== undefined && arrivals[newest + 1]!.atMs <= sentMs; newest++) {
      if (newest >= fromBlock) delaysMs.push(sentMs - arrivals[newest + 1]!.atMs);
    }
    if (newest >= fromBlock) polls.push({ sentMs });
    const answeredMs = sentMs + roundTripMs;
    schedule.record({ sentMs, answeredMs, head: headerOf(newest, arrivals[newest]!) });
    // Timers may fire up to a millisecond late.
    sentMs = Math.max(answeredMs, schedule.nextAt()) + 1;
  }
  return { delaysMs: delaysMs.toSorted((a, b) => a - b), polls };
}

const headerOf = (number: number, { timestampMs }: Arrival): BlockHeader => ({
  number,
  hash: `0x${number}`,
  parentHash: `0x${number - 1}`,
  timestamp: Math.floor(timestampMs / 1_000),
});

const atShare = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor(share * sorted.length)]!;
const minutesOf = ({ polls }: Outcome): number =>
  (polls.at(-1)!.sentMs - polls[0]!.sentMs) / 60_000;

/**
 * Creates the arrivals of a chain with a steady block time. Slots can be skipped, and each block
 * arrives some time after its timestamp. If delays accumulate, each block is timed from the last.
 */
const steady = ({
  blockMs,
  phase,
  jitters,
  skipped = () => false,
  blocks = 400,
  accumulates = false,
}: {
  blockMs: number;
  /** Time from the timestamp to the arrival, as a share of the block time. */
  phase: number;
  /** Additional delays of the arrivals in milliseconds, which the slots use in turn. */
  jitters: readonly number[];
  skipped?: (slot: number) => boolean;
  blocks?: number;
  accumulates?: boolean;
}): Arrival[] => {
  let accumulatedMs = 0;
  return Array.from({ length: blocks }, (_, slot) => slot)
    .filter((slot) => !skipped(slot))
    .map((slot) => {
      const jitterMs = jitters[slot % jitters.length]!;
      if (accumulates) accumulatedMs += jitterMs;
      const delayMs = accumulates ? accumulatedMs : jitterMs;
      return { atMs: (slot + phase) * blockMs + delayMs, timestampMs: slot * blockMs };
    });
};

const randomOf = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

/** Number of blocks that the schedule needs to learn the pace. */
const LEARNING_BLOCKS = 100;

describe('a chain with a block time', () => {
  test.each([
    [1_000, 2],
    [1_000, 100],
    [2_000, 2],
    [2_000, 100],
    [5_000, 2],
    [12_000, 2],
    [12_000, 100],
  ])('of %i ms, %i ms away, is polled shortly after each block', (blockMs, roundTripMs) => {
    for (let seed = 1; seed <= 3; seed++) {
      const random = randomOf(seed);
      const jitters = Array.from({ length: 40 }, () => random() * 40);
      const arrivals = steady({ blockMs, phase: random(), jitters });
      const outcome = simulate(arrivals, { roundTripMs, fromBlock: LEARNING_BLOCKS });
      expect(atShare(outcome.delaysMs, 0.5)).toBeLessThanOrEqual(60);
      expect(atShare(outcome.delaysMs, 0.95)).toBeLessThanOrEqual(150);
      if (blockMs < 2_900) {
        expect(outcome.polls.length).toBeLessThanOrEqual(3 * outcome.delaysMs.length);
      } else {
        expect(outcome.polls.length / minutesOf(outcome)).toBeLessThanOrEqual(60_000 / EVEN_MS);
      }
    }
  });

  test.each([
    [200, 2, false],
    [400, 2, false],
    [1_017, 2, false],
    [2_100, 2, false],
    [400, 2, true],
    [1_017, 2, true],
    [2_100, 2, true],
  ])(
    'of %i ms with 20 ms of jitter, %i ms away, is polled in time; the jitter accumulates: %s',
    (blockMs, roundTripMs, accumulates) => {
      for (let seed = 1; seed <= 3; seed++) {
        const random = randomOf(seed);
        const jitters = Array.from({ length: 997 }, () => (random() - 0.5) * 40);
        const how = { blockMs, phase: random(), jitters, accumulates, blocks: 600 };
        const outcome = simulate(steady(how), { roundTripMs, fromBlock: LEARNING_BLOCKS });
        // The rest of the service takes up to 15 ms of the 40 and 120 ms that are allowed.
        expect(atShare(outcome.delaysMs, 0.5)).toBeLessThanOrEqual(accumulates ? 40 : 25);
        expect(atShare(outcome.delaysMs, 0.95)).toBeLessThanOrEqual(accumulates ? 160 : 100);
        expect(outcome.polls.length).toBeLessThanOrEqual(3 * outcome.delaysMs.length);
      }
    },
  );

  test('below 100 ms is polled every 100 ms', () => {
    for (const blockMs of [3, 10, 60]) {
      const arrivals = steady({
        blockMs,
        phase: 0.3,
        jitters: [0, 2, 1],
        blocks: 60_000 / blockMs,
      });
      const outcome = simulate(arrivals, { fromBlock: 20_000 / blockMs });
      expect(outcome.delaysMs.at(-1)).toBeLessThanOrEqual(105);
      expect(outcome.polls.length / minutesOf(outcome)).toBeLessThanOrEqual(600);
    }
  });

  test('above 100 ms is polled every 100 ms at most', () => {
    const arrivals = steady({ blockMs: 150, phase: 0.3, jitters: [0, 2, 1], blocks: 800 });
    const outcome = simulate(arrivals, { fromBlock: 100 });
    expect(outcome.polls.length / minutesOf(outcome)).toBeLessThanOrEqual(610);
  });

  test('below 100 ms, or of 200 ms, is polled evenly while it is silent', () => {
    for (const blockMs of [50, 200]) {
      const arrivals = steady({ blockMs, phase: 0.3, jitters: [0, 5], blocks: 200 });
      const end = arrivals.at(-1)!;
      const late = { atMs: end.atMs + 90_000, timestampMs: end.timestampMs + 90_000 };
      const { polls } = simulate([...arrivals, late]);
      const silent = polls.filter(({ sentMs }) => sentMs > end.atMs + 11_000);
      expect(silent.length).toBeLessThanOrEqual(80);
    }
  });

  test('that skips blocks keeps its pace', () => {
    const arrivals = steady({
      blockMs: 12_000,
      phase: 0.2,
      jitters: [0, 300, 90, 500, 40, 210],
      skipped: (slot) => slot % 29 === 7,
    });
    const { delaysMs } = simulate(arrivals, { fromBlock: LEARNING_BLOCKS });
    expect(atShare(delaysMs, 0.5)).toBeLessThanOrEqual(100);
    expect(delaysMs.at(-1)).toBeLessThanOrEqual(EVEN_MS + 5);
  });

  test('that changes its phase is learned again', () => {
    const before = steady({ blockMs: 2_000, phase: 0.1, jitters: [0, 5, 10] });
    const end = before.at(-1)!;
    const after = steady({ blockMs: 2_000, phase: 0.7, jitters: [0, 5, 10] }).map((each) => ({
      atMs: each.atMs + end.atMs,
      timestampMs: each.timestampMs + end.timestampMs + 2_000,
    }));
    const { delaysMs } = simulate([...before, ...after], {
      fromBlock: before.length + LEARNING_BLOCKS,
    });
    expect(atShare(delaysMs, 0.5)).toBeLessThanOrEqual(60);
    expect(atShare(delaysMs, 0.9)).toBeLessThanOrEqual(300);
  });
});

type Waits = (random: () => number, block: number) => number;
/**
 * Creates the arrivals of a chain from the waits between its blocks. Timestamps are arrival times.
 */
const irregular = (seed: number, wait: Waits): Arrival[] => {
  const random = randomOf(seed);
  let atMs = 1e6;
  return Array.from({ length: 300 }, (_, block) => {
    atMs += wait(random, block);
    return { atMs, timestampMs: atMs };
  });
};

describe('a chain without a steady pace', () => {
  const chains: [string, Waits][] = [
    ['blocks at random, 1 s on average', (random) => -Math.log(1 - random()) * 1_000],
    ['blocks at random, 3 s on average', (random) => -Math.log(1 - random()) * 3_000],
    ['blocks at random, 12 s on average', (random) => -Math.log(1 - random()) * 12_000],
    ['bursts', (random, block) => (block % 6 === 0 ? (0.5 + random()) * 8_000 : 5)],
  ];
  test.each(chains)('%s: is polled evenly', (_, wait) => {
    for (let seed = 1; seed <= 3; seed++) {
      const outcome = simulate(irregular(seed, wait));
      expect(outcome.delaysMs.at(-1)).toBeLessThanOrEqual(EVEN_MS + 5);
      // While the schedule searches for a pace, it polls more often.
      expect(outcome.polls.length).toBeLessThanOrEqual(60 * minutesOf(outcome) + 64);
    }
  });

  test('several blocks per second on average: is polled once per block', () => {
    for (let seed = 1; seed <= 3; seed++) {
      const outcome = simulate(irregular(seed, (random) => -Math.log(1 - random()) * 250));
      expect(atShare(outcome.delaysMs, 0.5)).toBeLessThanOrEqual(250);
      expect(outcome.polls.length).toBeLessThanOrEqual(1.2 * outcome.delaysMs.length);
    }
  });

  test('steady timestamps but random arrivals are no slower than with even polls', () => {
    for (let seed = 1; seed <= 3; seed++) {
      const random = randomOf(seed);
      const arrivals = steady({ blockMs: 2_000, phase: 0, jitters: [0] }).map((each) => ({
        ...each,
        atMs: each.atMs + random() * 1_900,
      }));
      const { delaysMs } = simulate(arrivals);
      expect(atShare(delaysMs, 0.5)).toBeLessThanOrEqual(600);
      expect(atShare(delaysMs, 0.95)).toBeLessThanOrEqual(EVEN_MS + 5);
    }
  });
});

test('a chain that stops is polled evenly', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.constantFrom(2_000, 12_000),
      (phase, blockMs) => {
        const arrivals = steady({ blockMs, phase, jitters: [0, 10, 20] }).slice(0, 60);
        const end = arrivals.at(-1)!;
        const stopMs = 120_000;
        const late = { atMs: end.atMs + stopMs, timestampMs: end.timestampMs + stopMs };
        const { polls } = simulate([...arrivals, late]);
        const silent = polls.filter(({ sentMs }) => sentMs > end.atMs + 2 * blockMs);
        for (const [n, { sentMs }] of silent.slice(1).entries()) {
          expect(sentMs - silent[n]!.sentMs).toBeLessThanOrEqual(EVEN_MS + 5);
        }
        expect(silent.length).toBeLessThanOrEqual(stopMs / EVEN_MS);
      },
    ),
    { numRuns: 10 },
  );
});

test('a chain that resumes after an hour of silence stays within its budget', () => {
  for (const blockMs of [400, 2_000, 12_000]) {
    const arrivals = steady({ blockMs, phase: 0.2, jitters: [0, 10, 20] });
    const end = arrivals.at(-1)!;
    const resumed = steady({ blockMs, phase: 0.7, jitters: [0, 10, 20] }).map((each) => ({
      atMs: each.atMs + end.atMs + 3_600_000,
      timestampMs: each.timestampMs + end.timestampMs + 3_600_000,
    }));
    const { polls, delaysMs } = simulate([...arrivals, ...resumed], { fromBlock: arrivals.length });
    expect(delaysMs).toHaveLength(resumed.length - 1);
    expect(polls.length).toBeLessThanOrEqual(Math.max(3, blockMs / EVEN_MS) * delaysMs.length + 10);
  }
});
