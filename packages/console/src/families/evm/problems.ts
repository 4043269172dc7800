/** Validates the part of a draft that only EVM streams have. */
import {
  ANY_FUNCTION,
  CONFIRMATIONS_FORM,
  parseConfirmations,
  parseFunctionSignature,
} from '@sluice/kit/contract';
import { parseJson } from '../../body/json.ts';
import { problemsOfLines } from '../../routes/streamForm/draft/lineProblems.ts';
import type { DraftProblems } from '../../routes/streamForm/draft/draftField.ts';
import type { StreamDraft } from '../../routes/streamForm/draft/draft.ts';
import { jsonProblem } from '../../ui/form/jsonProblem.ts';
import { problemAt, type LineProblem } from '../../ui/form/lineProblem.ts';
import { wordOfFilterName } from '../../words/names.ts';
import {
  EMITTER,
  type Condition,
  type FilterRule,
  type Inputs,
  inputsOfCall,
  inputsOfEvent,
  selectsFunctions,
} from './draft.ts';
import { readProblems } from './routes/reads.ts';
import { factoryProblems } from './routes/factories.ts';
import {
  balanceProblem,
  toTriggerSentence,
  triggerProblems,
  type TriggerField,
} from './routes/triggers.ts';
import { valueProblem } from './values.ts';

/** Checks only that a filter is a JSON object. The service checks its operators and parameters. */
export function filterProblem(text: string): LineProblem | undefined {
  const value = parseJson(text)?.value;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? undefined
    : (jsonProblem(text) ??
        problemAt(text, 0, 'The filter must be a JSON object, such as {"gt": ["value", "1000"]}.'));
}

/** Returns the problem of a condition's value; undefined if the value is valid or empty. */
export function conditionProblem({ name, value }: Condition, inputs: Inputs): string | undefined {
  const text = value.trim();
  const type =
    name === EMITTER ? 'address' : (inputs.find((input) => input.name === name)?.type ?? '');
  return text === '' ? undefined : valueProblem(type, text);
}

/**
 * Returns the conditions of a rule that are complete and valid, so that the service accepts them.
 */
export const validConditions = (rule: FilterRule, inputs: Inputs): Condition[] =>
  rule.conditions.filter(
    (condition) =>
      condition.name !== '' &&
      condition.value.trim() !== '' &&
      conditionProblem(condition, inputs) === undefined,
  );

/** Returns the problems of lines that are neither functions nor `*`. */
export const functionProblems = (text: string): LineProblem[] =>
  problemsOfLines(text, (line) =>
    line === ANY_FUNCTION || parseFunctionSignature(line) !== undefined
      ? undefined
      : `“${line}” is not a function. Write it as transfer(address to, uint256 amount).`,
  );

/** Returns the problem of the first rule that has one. */
function ruleProblem(
  rules: readonly FilterRule[],
  inputsOf: (signature: string) => Inputs,
): string | undefined {
  for (const { signature, conditions, filterJson } of rules) {
    if (filterJson !== null && filterProblem(filterJson) !== undefined) {
      return `The filter of ${signature} is not valid.`;
    }
    if (conditions.some(({ name, value }) => name === '' || value.trim() === '')) {
      return `A condition of ${signature} is incomplete.`;
    }
    const inputs = inputsOf(signature);
    const wrong = conditions.find((each) => conditionProblem(each, inputs) !== undefined);
    if (wrong !== undefined) {
      return `The condition on ${wordOfFilterName(wrong.name)} has an invalid value.`;
    }
  }
  return undefined;
}

export function findEvmProblems(draft: StreamDraft): DraftProblems {
  const problems: DraftProblems = {};
  if (draft.allAddresses && draft.rules.length === 0 && !selectsFunctions(draft)) {
    problems.rules =
      'Choose an event or a function. Otherwise, the stream would match the entire chain.';
  }
  const factory = draft.factories.findIndex(
    (each) => Object.keys(factoryProblems(each, draft.abi)).length > 0,
  );
  if (draft.allAddresses && draft.factories.length > 0) {
    problems.factories = 'Remove the factories: a stream of all addresses matches children, too.';
  } else if (factory !== -1) {
    const [first] = Object.values(factoryProblems(draft.factories[factory]!, draft.abi));
    problems.factories = `Factory ${factory + 1}: ${first}`;
  }
  for (const [index, read] of draft.reads.entries()) {
    const [first] = Object.values(readProblems(read, draft.abi));
    if (first !== undefined) problems.reads ??= `Value ${index + 1}: ${first}`;
  }
  const [badFunction] = functionProblems(draft.calledFunctions);
  const called =
    badFunction?.message ??
    ruleProblem(draft.callRules, (signature) => inputsOfCall(draft.abi, signature));
  if (called !== undefined) problems.functions = called;
  const ruled = ruleProblem(draft.rules, (signature) => inputsOfEvent(draft.abi, signature));
  if (ruled !== undefined) problems.rules = ruled;
  for (const [index, trigger] of draft.triggers.entries()) {
    const [first] = Object.entries(triggerProblems(trigger, draft.abi));
    if (first === undefined) continue;
    const sentence = toTriggerSentence(first[0] as TriggerField, first[1]);
    problems.triggers ??= `Trigger ${index + 1}: ${sentence}`;
  }
  if (draft.confirmations.trim() !== '' && parseConfirmations(draft.confirmations) === undefined) {
    problems.confirmations = `Enter ${CONFIRMATIONS_FORM}, or leave the field empty.`;
  }
  const balance = draft.balances.find((each) => balanceProblem(each) !== undefined);
  if (balance !== undefined) problems.balances = balanceProblem(balance) ?? '';
  return problems;
}
