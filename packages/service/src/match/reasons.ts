/** Why a record is taken or not, as the matcher tells it to whoever asks. */
import type { ExplainReason, ExplainStage } from '@sluice/kit/contract';

/** Hears of the questions that are asked of a record, as they are answered. */
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
