/** How a chain that fell behind gets on: by what was committed lately, not since the start. */
import type { ChainProgress } from '@sluice/kit/contract';

export interface Progress {
  /** Begins at the block committed last. */
  begin(at: number, head: number): void;
  note(at: number, head: number): void;
  read(): ChainProgress | undefined;
  /** Ends it; answers with how many blocks that were, in how many seconds. */
  end(): { blocks: number; seconds: number } | undefined;
}

/** The pace is that of the last so many milliseconds. */
const WINDOW_MS = 15_000;
const SAMPLE_MS = 250;

interface Sample {
  atMs: number;
  block: number;
  head: number;
}

/** @param now milliseconds of a clock that never jumps; given in tests */
export function createProgress(now: () => number = () => performance.now()): Progress {
  /** Oldest first; the first is where it began until that is longer ago than the window. */
  let samples: Sample[] = [];
  let started: Sample | undefined;
  let latest: Sample | undefined;

  return {
    begin(block, head) {
      if (started !== undefined) return;
      started = latest = { atMs: now(), block, head };
      samples = [started];
    },
    note(block, head) {
      if (started === undefined) return;
      latest = { atMs: now(), block, head };
      if (latest.atMs - samples.at(-1)!.atMs < SAMPLE_MS) return;
      samples.push(latest);
      while (samples.length > 2 && latest.atMs - samples[0]!.atMs > WINDOW_MS) samples.shift();
    },
    read() {
      if (started === undefined || latest === undefined) return undefined;
      const first = samples[0]!;
      const seconds = (latest.atMs - first.atMs) / 1_000;
      const perSecond = seconds > 0 ? Math.max(0, latest.block - first.block) / seconds : 0;
      const headPerSecond = seconds > 0 ? Math.max(0, latest.head - first.head) / seconds : 0;
      const gain = perSecond - headPerSecond;
      return {
        from: started.block,
        to: latest.head,
        perSecond: Math.round(perSecond * 10) / 10,
        secondsLeft: gain > 0 ? Math.ceil(Math.max(0, latest.head - latest.block) / gain) : null,
      };
    },
    end() {
      if (started === undefined || latest === undefined) return undefined;
      const done = {
        blocks: latest.block - started.block,
        seconds: Math.round((now() - started.atMs) / 100) / 10,
      };
      started = latest = undefined;
      samples = [];
      return done;
    },
  };
}
