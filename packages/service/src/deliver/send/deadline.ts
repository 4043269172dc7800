/**
 * A deadline for a remote response that allows for stalls of this process (SIGSTOP, a frozen
 * machine, a blocked event loop). After a stall, timers fire before sockets are read, so a response
 * that arrived in time would seem late.
 */

/** Delay of a timer, in milliseconds, above which this process counts as stalled. */
export const STALL_MS = 200;
/**
 * Milliseconds to read buffered data after a stall. TLS in a tunnel needs several turns of the
 * event loop.
 */
const READ_MS = 3_000;

/**
 * @param onPassed called once after `ms`, or later after a stall; `stalled` is true if this process
 * did not run for part of that time, so that the other side may not be at fault.
 * @returns a function that cancels the deadline.
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

/** Returns the result of `work` or, if there is none within the time, of `onPassed`. */
export async function withDeadline<Result>(
  ms: number,
  work: Promise<Result>,
  onPassed: (stalled: boolean) => Result,
): Promise<Result> {
  let endDeadline = (): void => {};
  const late = new Promise<Result>((resolve) => {
    endDeadline = startDeadline(ms, (stalled) => resolve(onPassed(stalled)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    endDeadline();
  }
}
