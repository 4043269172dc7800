/**
 * Loaded into the service by `--import`: measures from inside how long its event loop stands still. On
 * SIGUSR2 it says so on standard error, and begins anew.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** The first characters of each of its lines. */
export const HEARTBEAT = 'longest block of the event loop in ms:';

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on('SIGUSR2', () => {
    process.stderr.write(`${HEARTBEAT} ${delay.max / 1e6}\n`);
    delay.reset();
  });
}
