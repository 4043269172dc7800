import type { ExplainOutcome, ExplainVerdict } from '@sluice/kit/sluice';
import { condition } from '../../words/condition.ts';
import type { Condition } from '../../ui/status.tsx';

export const OUTCOME_CONDITIONS: Record<ExplainOutcome, Condition> = {
  passed: condition('disc', 'passed', 'ok'),
  stopped: condition('cross', 'stopped here', 'bad'),
  waiting: condition('dashed', 'pending', 'warn'),
  unknown: condition('ring', 'unknown', 'faint'),
};

export const VERDICT_CONDITIONS: Record<ExplainVerdict, Condition> = {
  delivered: condition('disc', 'delivered', 'ok'),
  held: condition('bars', 'held', 'warn'),
  waiting: condition('dashed', 'waiting', 'warn'),
  failed: condition('triangle', 'failed', 'bad'),
  cancelled: condition('cross', 'canceled', 'faint'),
  'not-matched': condition('ring', 'no match', 'muted'),
  'not-evaluated': condition('exclamation', 'not evaluated', 'warn'),
  watched: condition('disc', 'watched', 'ok'),
  'not-watched': condition('ring', 'not watched', 'muted'),
};
