/**
 * Preload for `sluice serve` (`node --import`) that divides the waits of the standard schedule by
 * 240: a minute becomes 250 ms, and the complete schedule takes 11 minutes. The fast retry after 5
 * s, the 15 s deadline and the 40 s leases are unchanged.
 */
import { CONTRACT_SCHEDULE_MS } from '../../packages/kit/src/contract/rules/schedule.ts';

const SCALE = 240;

const schedule = CONTRACT_SCHEDULE_MS as number[];
for (const [n, waitMs] of schedule.entries()) schedule[n] = waitMs / SCALE;
