/**
 * Decides when to poll the head of a chain. Chains with a steady block time are polled when the
 * next block is due, and then at short intervals until it arrives. Other chains are polled evenly.
 */
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { type Arrivals, createArrivals } from './arrivals.ts';

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
/**
 * Block time, in intervals of even polling, below which a chain gets a fixed number of polls per
 * block.
 */
const SHORT_BLOCK = 1.5;
const POLLS_PER_SHORT_BLOCK = 2.8;
/**
 * Maximum number of unused polls that are saved for later, in addition to the polls of one block.
 */
const SPARE_POLLS = 3;
/** Minimum time between polls. More frequent polls would hardly find a block earlier. */
const MIN_GAP_MS = 30;
/** Weight of the newest round trip in the moving average. */
const ROUND_TRIP_WEIGHT = 0.2;
/**
 * Number of blocks out of every `SEARCH_AGAIN_BLOCKS` for which a chain with short blocks is polled
 * more often, in search of a pace.
 */
const SEARCH_BLOCKS = 32;
const SEARCH_AGAIN_BLOCKS = 1_024;

/** @param evenMs time between polls of a chain without a steady pace */
export function createPollSchedule(evenMs: number): PollSchedule {
  const blockTime = createBlockTime(evenMs);
  let last: Poll | undefined;
  let roundTripMs = 0;
  let blockMs: number | undefined;
  let arrivals: Arrivals | undefined;
  /** Number of further polls that the average rate allows now. */
  let allowed = 0;

  const isShort = (ms: number): boolean => ms < SHORT_BLOCK * evenMs;
  /** Returns the average rate for this block time, in polls per millisecond. */
  const rateOf = (ms: number): number =>
    isShort(ms) ? POLLS_PER_SHORT_BLOCK / ms : SHARE_OF_EVEN / evenMs;

  const spend = (sinceMs: number, nowMs: number): void => {
    const rate = blockMs === undefined ? SHARE_OF_EVEN / evenMs : rateOf(blockMs);
    const most = rate * (blockMs ?? 0) + SPARE_POLLS;
    allowed = Math.max(0, Math.min(most, allowed + (nowMs - sinceMs) * rate) - 1);
  };

  return {
    record(poll) {
      const before = last;
      last = poll;
      roundTripMs += ROUND_TRIP_WEIGHT * (poll.answeredMs - poll.sentMs - roundTripMs);
      if (before === undefined) return;
      spend(before.sentMs, poll.sentMs);
      if (poll.head.hash === before.head.hash) return;
      const found = blockTime.observe(before.head, poll.head);
      if (found !== blockMs) arrivals = found === undefined ? undefined : createArrivals(found);
      blockMs = found;
      arrivals?.observe(before.sentMs, poll.sentMs);
    },
    nextAt() {
      if (last === undefined) return 0;
      const { sentMs } = last;
      const evenAt = sentMs + evenMs;
      if (blockMs === undefined || arrivals === undefined) return evenAt;
      const rate = rateOf(blockMs);
      if (!arrivals.isReliable()) {
        const searches = arrivals.unsureBlocks() % SEARCH_AGAIN_BLOCKS < SEARCH_BLOCKS;
        return isShort(blockMs) && searches ? sentMs + 1 / rate : evenAt;
      }
      const pollsPerBlock = rate * blockMs;
      const dueAt = arrivals.nextPollAt(sentMs, {
        gapMs: Math.max(MIN_GAP_MS, roundTripMs),
        overdueMs: evenMs,
        pollsPerBlock: SHARE_OF_EVEN * pollsPerBlock,
      });
      // Looks for an early block with a poll that would otherwise go unused.
      const unusedAt = sentMs + (pollsPerBlock + SPARE_POLLS - allowed) / rate;
      const spareAt = Math.max(sentMs + Math.min(evenMs, blockMs / 2), unusedAt);
      const affordableAt = Math.min(evenAt, sentMs + Math.max(0, 1 - allowed) / rate);
      return Math.max(Math.min(dueAt, spareAt), affordableAt);
    },
  };
}

const OBSERVED_BLOCKS = 16;
const NEEDED_BLOCKS = 8;
/** Minimum share of blocks that have the most frequent distance from their parent. */
const STEADY_SHARE = 0.6;
/** Minimum ratio of the average to the most frequent distance. Skipped blocks only increase it. */
const MIN_AVERAGE = 0.95;
const MAX_BLOCK_MS = 30_000;

/** Finds the block time from the timestamps of headers, which are in seconds. */
function createBlockTime(minMs: number): {
  /**
   * Returns the block time in milliseconds; undefined if it is unknown, unsteady, below `minMs` or
   * above `MAX_BLOCK_MS`.
   */
  observe(before: BlockHeader, head: BlockHeader): number | undefined;
} {
  const distances: number[] = [];
  return {
    observe(before, head) {
      const blocks = head.number - before.number;
      if (blocks > 0) distances.push((head.timestamp - before.timestamp) / blocks);
      if (distances.length > OBSERVED_BLOCKS) distances.shift();
      if (distances.length < NEEDED_BLOCKS) return undefined;
      const counts = [...Map.groupBy(distances, (seconds) => seconds)];
      const [usual, same] = counts.reduce((a, b) => (b[1].length > a[1].length ? b : a));
      const average = distances.reduce((sum, seconds) => sum + seconds, 0) / distances.length;
      const isSteady =
        same.length >= STEADY_SHARE * distances.length && average >= MIN_AVERAGE * usual;
      const ms = usual * 1_000;
      return isSteady && ms >= minMs && ms <= MAX_BLOCK_MS ? ms : undefined;
    },
  };
}
