/** Titles of the parts of the form. */
export const STEPS = {
  watch: 'Watch',
  match: 'Match',
  deliver: 'Deliver',
  review: 'Review',
} as const;
export type StepName = keyof typeof STEPS;
