/**
 * Preloaded into `sluice serve` (`node --import`): the contract's waits between attempts at a scale of
 * 1:240, so that a minute is 250 ms and the whole schedule 11 minutes. Nothing else is shortened: the
 * quick retry after 5 s, the deadline of 15 s and the leases of 40 s are the real ones.
 */
import { CONTRACT_SCHEDULE_MS } from '../../packages/kit/src/contract/rules/schedule.ts';

const SCALE = 240;

const schedule = CONTRACT_SCHEDULE_MS as number[];
for (const [n, waitMs] of schedule.entries()) schedule[n] = waitMs / SCALE;
