/**
 * A deadline for somebody else's answer. After a stall (SIGSTOP, a frozen machine, a blocked event loop)
 * timers fire before sockets are read, so what was answered in time would be taken for late.
 */

/** A timer that fires this much too late fires after a stall. */
const STALL_MS = 200;
/** After a stall, time to read what has arrived: several turns of the event loop, also for TLS in a tunnel. */
const READ_MS = 3_000;

/**
 * @param onPassed called once after `ms`; `stalled` if this process did not run during part of them, and
 *   so cannot blame the other side.
 * @returns ends the deadline.
 */
export function startDeadline(ms: number, onPassed: (stalled: boolean) => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (afterMs: number, stalled: boolean): void => {
    const due = performance.now() + afterMs;
    timer = setTimeout(() => {
      if (performance.now() - due > STALL_MS) arm(READ_MS, true);
      else onPassed(stalled);
    }, afterMs);
  };
  arm(ms, false);
  return () => clearTimeout(timer);
}
