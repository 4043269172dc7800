/** Decides when to poll the head of a chain. */
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { createPollSchedule } from './pollSchedule.ts';

export interface HeadPolling {
  /**
   * Runs a poll. Without a fixed interval, the times and the result of the poll determine when the
   * next one is due.
   */
  poll(read: () => Promise<BlockHeader>): Promise<BlockHeader>;
  /** Calls back when a poll is due. Returns a function that stops the polls. */
  start(onDue: () => void): () => void;
  /** Milliseconds between two checks of all nodes. */
  readonly surveyMs: number;
}

/** Interval of evenly spaced polls if `pollMs` is not set. */
const EVEN_POLL_MS = 1_000;
/** Number of polls per check of all nodes. The checks are at most `SURVEY_MAX_MS` apart. */
const POLLS_PER_SURVEY = 10;
const SURVEY_MAX_MS = 15_000;

const toSurveyMs = (pollMs: number): number => Math.min(pollMs * POLLS_PER_SURVEY, SURVEY_MAX_MS);

/** @param pollMs fixed interval of the polls. Default: adapts to the chain's block time */
export function createHeadPolling(pollMs: number | undefined): HeadPolling {
  return pollMs === undefined ? createLearnedPolling() : createEvenPolling(pollMs);
}

const createEvenPolling = (pollMs: number): HeadPolling => ({
  surveyMs: toSurveyMs(pollMs),
  poll: (read) => read(),
  start(onDue) {
    const timer = setInterval(onDue, pollMs);
    return () => clearInterval(timer);
  },
});

function createLearnedPolling(): HeadPolling {
  const schedule = createPollSchedule(EVEN_POLL_MS);
  /** Function that sets the timer of the next poll; undefined while stopped. */
  let plan: ((waitMs: number) => void) | undefined;
  return {
    surveyMs: toSurveyMs(EVEN_POLL_MS),
    async poll(read) {
      const sentMs = performance.now();
      const head = await read();
      const answeredMs = performance.now();
      schedule.record({ sentMs, answeredMs, head });
      plan?.(schedule.nextAt() - answeredMs);
      return head;
    },
    start(onDue) {
      let timer: NodeJS.Timeout | undefined;
      plan = (waitMs) => {
        clearTimeout(timer);
        timer = setTimeout(
          () => {
            // Plans another poll in case this one fails or waits for other work.
            plan?.(EVEN_POLL_MS);
            onDue();
          },
          Math.max(0, waitMs),
        );
      };
      plan(EVEN_POLL_MS);
      return () => {
        clearTimeout(timer);
        plan = undefined;
      };
    },
  };
}
