import type { AttemptResult } from '@sluice/kit/sluice';

/** Words for the results of attempts. */
export const RESULT_WORDS: Readonly<Record<AttemptResult, string>> = {
  succeeded: 'succeeded',
  '3xx': '3xx',
  '4xx': '4xx',
  '5xx': '5xx',
  timeout: 'timeout',
  none: 'no response',
};
