/** How far a node is behind the others, and for how long one that is away is left alone. */
import type { BlockRef } from '../../store/blocks/contract.ts';

export interface Lag {
  /** Number of its newest block. */
  head(): number | null;
  noteHead(head: BlockRef, nowMs: number): void;
  /** How its head stands to the best of the others, looked at in the same moment. */
  compare(behind: number, nowMs: number): void;
  /** Blocks it is behind, of those that are no lag yet. */
  share(): number;
  /** Others have passed it, and its head has not moved for long: it speaks of the past. */
  isStalled(nowMs: number): boolean;
}

/** More than the blocks that come while two nodes of an EVM chain are asked. */
const LAG_BLOCKS = 3;
const STALLED_MS = 60_000;
const PROBE_MIN_MS = 1_000;
const PROBE_MAX_MS = 60_000;

/** @param lagBlocks so many blocks behind the others a node is not lagging yet */
export function createLag(lagBlocks = LAG_BLOCKS): Lag {
  let head: BlockRef | undefined;
  let movedAt = performance.now();
  let behind = 0;
  let behindSince: number | undefined;
  return {
    head: () => head?.number ?? null,
    noteHead(latest, nowMs) {
      if (latest.hash !== head?.hash) movedAt = nowMs;
      head = latest;
    },
    compare(blocks, nowMs) {
      behind = Math.max(0, blocks);
      behindSince = behind === 0 ? undefined : (behindSince ?? nowMs);
    },
    share: () => behind / lagBlocks,
    isStalled: (nowMs) =>
      behindSince !== undefined && nowMs - Math.max(behindSince, movedAt) > STALLED_MS,
  };
}

export interface Outage {
  /** It did not answer. While it is left alone that is no news. */
  note(nowMs: number): void;
  end(): void;
  /** When it may be asked again, 1 s to 60 s after it last did not answer; 0 while it answers. */
  probeAt(): number;
}

export function createOutage(): Outage {
  let probeAt = 0;
  let waitMs = 0;
  return {
    note(nowMs) {
      if (nowMs < probeAt) return;
      waitMs = Math.min(Math.max(waitMs * 2, PROBE_MIN_MS), PROBE_MAX_MS);
      probeAt = nowMs + waitMs;
    },
    end() {
      probeAt = waitMs = 0;
    },
    probeAt: () => probeAt,
  };
}
