/**
 * Preload for `sluice serve` and its threads (`node --import`) that shifts `Date.now` by the
 * seconds in the file `FAULT_CLOCK`. Monotonic clocks continue, unlike with `libfaketime`, which
 * would stop libuv's timers.
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
