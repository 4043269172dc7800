/**
 * Decides when to poll the head of a chain. Chains with a steady block time are polled when the
 * next block is due, and then at short intervals until it arrives. Other chains are polled evenly.
 */
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { type Arrivals, createArrivals } from './arrivals.ts';
import { createBlockPace } from './blockPace.ts';

export interface Poll {
  /** Start of the poll, in milliseconds on a monotonic clock. */
  sentMs: number;
  answeredMs: number;
  head: BlockHeader;
}

export interface PollSchedule {
  record(poll: Poll): void;
  /**
   * Returns the time of the next poll, in milliseconds on the same clock as `sentMs`; 0 before the
   * first poll.
   */
  nextAt(): number;
}

/**
 * Average rate of polls relative to even polling. It is below 1, so that no minute has more polls
 * than with even polling.
 */
const SHARE_OF_EVEN = 0.95;
/** Average number of polls per block of a chain with short blocks. */
const POLLS_PER_BLOCK = 2.8;
/** Minimum average time between polls, however short the block time is. */
const FASTEST_MS = 100;
/** Time without a new block after which polls are at most as frequent as even polls. */
const SILENT_MS = 10_000;
/**
 * Maximum number of unused polls that are saved for later, in addition to the polls of one block.
 */
const SPARE_POLLS = 3;
/** Minimum time between polls. More frequent polls would hardly find a block earlier. */
const MIN_GAP_MS = 12;
/** Weight of the newest round trip in the moving average. */
const ROUND_TRIP_WEIGHT = 0.2;
/** Relative change of the block time after which the phase of the arrivals is learned again. */
const OTHER_PACE = 0.02;

/** @param evenMs time between polls of a chain without a steady pace */
export function createPollSchedule(evenMs: number): PollSchedule {
  const pace = createBlockPace();
  let last: Poll | undefined;
  let roundTripMs = 0;
  let arrivals: { model: Arrivals; blockMs: number } | undefined;
  /** Start of the poll that found the newest block. */
  let foundMs = 0;
  /** Number of further polls that the average rate allows now. */
  let allowed = 0;

  /** Returns the average time between polls for this block time. */
  const spacingOf = (blockMs: number): number =>
    Math.min(evenMs / SHARE_OF_EVEN, Math.max(FASTEST_MS, blockMs / POLLS_PER_BLOCK));
  /** Returns the time between evenly spaced polls for this block time. */
  const evenOf = (blockMs = evenMs): number => Math.min(evenMs, Math.max(FASTEST_MS, blockMs));

  const spend = (sinceMs: number, nowMs: number): void => {
    const blockMs = arrivals?.blockMs ?? evenMs;
    const spacingMs = spacingOf(blockMs);
    const most = blockMs / spacingMs + SPARE_POLLS;
    allowed = Math.max(0, Math.min(most, allowed + (nowMs - sinceMs) / spacingMs) - 1);
  };

  /** Updates the models of the arrivals. The block arrived between these two polls. */
  const observe = (number: number, afterMs: number, byMs: number): void => {
    foundMs = byMs;
    pace.observe(number, afterMs, byMs);
    const blockMs = pace.steadyMs();
    if (blockMs === undefined || blockMs < FASTEST_MS) {
      arrivals = undefined;
      return;
    }
    const isSame = arrivals !== undefined && Math.abs(blockMs / arrivals.blockMs - 1) <= OTHER_PACE;
    arrivals = { model: isSame ? arrivals!.model : createArrivals(blockMs), blockMs };
    arrivals.model.observe(afterMs, byMs, blockMs);
  };

  return {
    record(poll) {
      const before = last;
      last = poll;
      roundTripMs += ROUND_TRIP_WEIGHT * (poll.answeredMs - poll.sentMs - roundTripMs);
      if (before === undefined) return;
      spend(before.sentMs, poll.sentMs);
      if (poll.head.hash === before.head.hash) return;
      observe(poll.head.number, before.sentMs, poll.sentMs);
    },
    nextAt() {
      if (last === undefined) return 0;
      const { sentMs } = last;
      const evenAt = sentMs + evenMs;
      const isSilent = sentMs - foundMs > Math.max(SILENT_MS, 2 * (arrivals?.blockMs ?? 0));
      if (isSilent) return evenAt;
      if (arrivals === undefined) return sentMs + evenOf(pace.averageMs());
      const { model, blockMs } = arrivals;
      const spacingMs = spacingOf(blockMs);
      if (!model.isReliable()) return sentMs + Math.min(evenMs, spacingMs);
      const pollsPerBlock = blockMs / spacingMs;
      const dueAt = model.nextPollAt(sentMs, {
        gapMs: Math.max(MIN_GAP_MS, roundTripMs),
        overdueMs: evenMs,
        pollsPerBlock: SHARE_OF_EVEN * pollsPerBlock,
      });
      // Looks for an early block with a poll that would otherwise go unused.
      const unusedAt = sentMs + (pollsPerBlock + SPARE_POLLS - allowed) * spacingMs;
      const spareAt = Math.max(sentMs + Math.min(evenMs, blockMs / 2), unusedAt);
      const affordableAt = Math.min(evenAt, sentMs + Math.max(0, 1 - allowed) * spacingMs);
      return Math.max(Math.min(dueAt, spareAt), affordableAt);
    },
  };
}
