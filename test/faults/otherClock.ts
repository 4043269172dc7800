/**
 * Preload for `sluice serve` and its threads (`node --import`). Shifts `Date.now` by the number of
 * seconds in the file that the environment variable `FAULT_CLOCK` names. Monotonic clocks are not
 * shifted; `libfaketime` would shift them, which would stop libuv's timers.
 */
import { readFileSync } from 'node:fs';

const file = process.env['FAULT_CLOCK']!;
const CHECK_MS = 20;
const trueNow = Date.now.bind(Date);

let offsetMs = 0;
let lookedAt = -Infinity;

Date.now = () => {
  if (performance.now() - lookedAt > CHECK_MS) {
    lookedAt = performance.now();
    offsetMs = Number(readFileSync(file, 'utf8')) * 1_000;
  }
  return trueNow() + offsetMs;
};
