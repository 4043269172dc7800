/** Reasons why a record matches or not, for explanations. */
import type { ExplainReason, ExplainStage } from '@sluice/kit/contract';

/** Receives each reason as the matcher evaluates a record. */
export type AddReason = (reason: ExplainReason) => void;

export const passed = (stage: ExplainStage, message: string): ExplainReason => ({
  stage,
  outcome: 'passed',
  message,
});

export const stopped = (stage: ExplainStage, message: string): ExplainReason => ({
  stage,
  outcome: 'stopped',
  message,
});
