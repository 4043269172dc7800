/** Builds the reasons why a record matches or does not, for explanations. */
import type { ExplainReason, ExplainStage, ExplainedCondition } from '@sluice/kit/contract';
import { previewText } from '../base/preview.ts';

/** Receives each reason as the matcher evaluates a record. */
export type AddReason = (reason: ExplainReason) => void;

/**
 * Maximum number of conditions of a reason, and maximum length of each text in a condition, in
 * characters.
 */
const CONDITIONS = 20;
const SHOWN = 300;

const reason =
  (outcome: 'passed' | 'stopped') =>
  (
    stage: ExplainStage,
    message: string,
    conditions?: Iterable<ExplainedCondition>,
  ): ExplainReason => ({
    stage,
    outcome,
    message,
    ...(conditions && { conditions: [...firstOf(conditions, CONDITIONS)].map(cut) }),
  });

export const passed = reason('passed');

export const stopped = reason('stopped');

/** Returns a list of one condition, which holds because the stream watches this address. */
export const watched = (name: string, address: string): ExplainedCondition[] => [
  { name, rule: 'watched', value: address, holds: true, alternative: false },
];

/** Maximum number of values that a message lists; the remaining values are only counted. */
export const MAX_NAMED = 5;

/**
 * Joins the first {@link MAX_NAMED} values with `or`, and appends the number of remaining values: `…
 * and 3 more`.
 */
export function joinNamed(
  values: { keys(): Iterable<string>; readonly size: number },
  describe: (value: string) => string,
): string {
  const named = [...firstOf(values.keys(), MAX_NAMED)].map(describe).join(' or ');
  return values.size > MAX_NAMED ? `${named} and ${values.size - MAX_NAMED} more` : named;
}

/** Yields the first `count` values without iterating over all of them. */
export function* firstOf<T>(values: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const value of values) {
    if (left-- <= 0) return;
    yield value;
  }
}

const cut = ({ name, rule, value, ...rest }: ExplainedCondition): ExplainedCondition => ({
  name: previewText(name, SHOWN),
  rule: previewText(rule, SHOWN),
  value: value === null ? null : previewText(value, SHOWN),
  ...rest,
});
