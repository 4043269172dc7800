/**
 * Starts measuring, and returns a function that returns the milliseconds since then. Uses the clock
 * that advanced more, because the monotonic clock stops while the machine is suspended.
 */
export function startStopwatch(): () => number {
  const beganAt = performance.now();
  const wallBeganAt = Date.now();
  return () => Math.max(performance.now() - beganAt, Date.now() - wallBeganAt);
}
