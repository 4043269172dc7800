/** Measures the progress of a chain that is catching up. The rates cover only recent commits. */
import type { ChainProgress } from '@sluice/kit/contract';

export interface Progress {
  /** Starts a measurement at the last committed block, unless one is running. */
  begin(at: number, head: number): void;
  note(at: number, head: number): void;
  read(): ChainProgress | undefined;
  /**
   * Ends the measurement. Returns the number of blocks and seconds that it covers; undefined if no
   * measurement is running.
   */
  end(): { blocks: number; seconds: number } | undefined;
}

/** Maximum age of the commits that the rates are measured from. */
const WINDOW_MS = 15_000;
const SAMPLE_MS = 250;

interface Sample {
  atMs: number;
  block: number;
  head: number;
}

/** @param now monotonic clock in milliseconds; tests pass their own */
export function createProgress(now: () => number = () => performance.now()): Progress {
  /**
   * Sampled commits, oldest first. The first one is the start of catching up, until it leaves the
   * window.
   */
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
