/**
 * Preloaded into `sluice serve` (`node --import`), and by Node into its threads: `Date.now` is off by as
 * many seconds as the file that `FAULT_CLOCK` names says, from one moment to the next. What counts time
 * from the start of the process goes on, as when a machine's clock is set. (`libfaketime` shifts the clock
 * that libuv's timers go by as well, and so stops them.)
 */
import { readFileSync } from 'node:fs';

const file = process.env['FAULT_CLOCK']!;
const LOOK_MS = 20;
const trueNow = Date.now.bind(Date);

let offsetMs = 0;
let lookedAt = -Infinity;

Date.now = () => {
  if (performance.now() - lookedAt > LOOK_MS) {
    lookedAt = performance.now();
    offsetMs = Number(readFileSync(file, 'utf8')) * 1_000;
  }
  return trueNow() + offsetMs;
};
