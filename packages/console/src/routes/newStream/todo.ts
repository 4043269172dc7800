/** Lists what the form of a new stream still needs, by step. */
import type { DraftField, DraftProblems } from '../streamForm/draft/draftField.ts';
import type { StepName } from './step.ts';

/** A problem that prevents the creation of the stream. */
export interface Todo {
  step: StepName;
  /** The problem in a sentence. */
  text: string;
  /** The field; undefined for problems of address lists, which are always shown. */
  field?: DraftField;
}

/** Fields of the first two steps; the others are of the third. */
const FIELDS_OF_STEPS: Partial<Record<DraftField, StepName>> = {
  chains: 'watch',
  addresses: 'watch',
  factories: 'match',
  reads: 'match',
  rules: 'match',
  triggers: 'match',
  balances: 'match',
  functions: 'match',
  moveEvents: 'match',
};

/** @param addresses state of the address field and of the address file */
export function listTodo(
  problems: DraftProblems,
  addresses: { areInvalid: boolean; isReading: boolean },
): Todo[] {
  const fields = Object.entries(problems) as [DraftField, string][];
  return [
    ...fields.map(([field, text]) => ({ step: FIELDS_OF_STEPS[field] ?? 'deliver', text, field })),
    ...(addresses.areInvalid
      ? [{ step: 'watch' as const, text: 'Fix the invalid address lines.' }]
      : []),
    ...(addresses.isReading
      ? [{ step: 'watch' as const, text: 'The file is still being read.' }]
      : []),
  ];
}
