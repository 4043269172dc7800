/** Tracks the back-off of an unresponsive node. */

const PROBE_MIN_MS = 1_000;
const PROBE_MAX_MS = 60_000;

export interface Outage {
  /** Records a failure to respond. Ignored while the node is backed off. */
  note(nowMs: number): void;
  end(): void;
  /**
   * Returns the time at which the node may be queried again, 1 s to 60 s after the last recorded
   * failure; 0 while it responds.
   */
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
