/**
 * Measures how long the event loop of the service is blocked; the service loads this file with
 * `--import`. On SIGUSR2, it prints the longest time to standard error and starts over.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

export const HEARTBEAT = 'longest block of the event loop in ms:';

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on('SIGUSR2', () => {
    process.stderr.write(`${HEARTBEAT} ${delay.max / 1e6}\n`);
    delay.reset();
  });
}
