/** Reasons why the matcher takes a record or not, for explanations. */
import type { ExplainReason, ExplainStage } from '@sluice/kit/contract';

/** Receives each reason as the matcher evaluates a record. */
export type Tell = (reason: ExplainReason) => void;

export const passed = (stage: ExplainStage, what: string): ExplainReason => ({
  stage,
  outcome: 'passed',
  what,
});

export const stopped = (stage: ExplainStage, what: string): ExplainReason => ({
  stage,
  outcome: 'stopped',
  what,
});
