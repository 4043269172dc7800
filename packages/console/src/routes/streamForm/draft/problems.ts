/** Validates drafts of streams. */
import { readInboxName } from '@sluice/kit/contract';
import { formatQuantity } from '../../../ui/text/format.ts';
import { parseJson } from '../../../body/json.ts';
import { jsonProblem } from '../../../ui/form/jsonProblem.ts';
import { problemAt, type LineProblem } from '../../../ui/form/lineProblem.ts';
import {
  balanceProblem,
  toTriggerSentence,
  triggerProblems,
  type TriggerField,
} from './triggers.ts';
import { oauth2Problems } from '../oauth2/oauth2Draft.ts';
import { EMITTER, itemOf, type Condition, type EventRule, type StreamDraft } from './draft.ts';

export type DraftField =
  | 'chains'
  | 'addresses'
  | 'rules'
  | 'triggers'
  | 'balances'
  | 'functions'
  | 'moveEvents'
  | 'webhookUrl'
  | 'tag'
  | 'maxInFlight'
  | 'maxPerSecond'
  | 'maxWebhookBytes'
  | 'headers'
  | 'oauth2';

const MOVE_PATH = /^0x[0-9a-fA-F]{1,64}(::\w+){2}(<.+>)?$/;

/**
 * Returns a problem for each invalid line; `wordsFor` describes the problem of a trimmed line, or
 * returns undefined if the line is valid.
 */
function problemsOfLines(
  text: string,
  wordsFor: (line: string) => string | undefined,
): LineProblem[] {
  let from = 0;
  return text.split('\n').flatMap((full) => {
    const at = from + full.length - full.trimStart().length;
    from += full.length + 1;
    const line = full.trim();
    const words = line === '' ? undefined : wordsFor(line);
    return words === undefined ? [] : [problemAt(text, at, words)];
  });
}

export const movePathProblems = (text: string): LineProblem[] =>
  problemsOfLines(text, (path) => (MOVE_PATH.test(path) ? undefined : wordsForPath(path)));

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

export function headerProblems(text: string): LineProblem[] {
  const names = new Set<string>();
  return problemsOfLines(text, (line) => {
    const at = line.indexOf(':');
    if (at === -1) return 'A colon is missing. Write headers as name: value.';
    const name = line.slice(0, at).trim();
    if (!HEADER_NAME.test(name)) return `“${name}” is not a valid header name.`;
    if (line.slice(at + 1).trim() === '') return `The value of “${name}” is missing.`;
    if (names.has(name.toLowerCase())) return `Duplicate header “${name}”.`;
    names.add(name.toLowerCase());
    return undefined;
  });
}

function wordsForPath(path: string): string {
  const parts = path.split('<', 1)[0]!.split('::');
  if (!/^0x[0-9a-f]{1,64}$/i.test(parts[0] ?? '')) {
    return `“${path}” does not start with an address such as 0x1. Use address::module::name.`;
  }
  if (parts.length !== 3) {
    return `“${path}” has ${formatQuantity(parts.length, 'part')} instead of three: address::module::name.`;
  }
  return `“${path}” is not a Move path such as 0x1::coin::WithdrawEvent.`;
}

/** Checks only that a filter is a JSON object. The service checks its operators and parameters. */
export function filterProblem(text: string): LineProblem | undefined {
  const value = parseJson(text)?.value;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? undefined
    : (jsonProblem(text) ??
        problemAt(text, 0, 'The filter must be a JSON object, such as {"gt": ["value", "1000"]}.'));
}

/** Syntax of values by Solidity type. Values of other types can be any text. */
const VALUES: readonly { type: RegExp; form: RegExp; words: string }[] = [
  {
    type: /^u?int\d*$/,
    form: /^(-?\d+|0x[0-9a-f]+)$/i,
    words: 'Enter a whole number. Amounts are in the smallest unit.',
  },
  {
    type: /^address$/,
    form: /^0x[0-9a-f]{40}$/i,
    words: 'Enter an address: 0x and 40 hex digits.',
  },
  { type: /^bool$/, form: /^(true|false)$/, words: 'Enter true or false.' },
  {
    type: /^bytes\d*$/,
    form: /^0x([0-9a-f]{2})*$/i,
    words: 'Enter 0x and an even number of hex digits.',
  },
];

/** Returns the problem of a condition's value; undefined if the value is valid or empty. */
export function conditionProblem(
  { name, value }: Condition,
  inputs: readonly { name: string; type: string }[],
): string | undefined {
  const text = value.trim();
  const type =
    name === EMITTER ? 'address' : (inputs.find((input) => input.name === name)?.type ?? '');
  const kind = VALUES.find((each) => each.type.test(type));
  return text === '' || kind === undefined || kind.form.test(text) ? undefined : kind.words;
}

/**
 * Returns the conditions of a rule that are complete and valid, so that the service accepts them.
 */
export const validConditions = (rule: EventRule, { abi }: Pick<StreamDraft, 'abi'>): Condition[] =>
  rule.conditions.filter(
    (condition) =>
      condition.name !== '' &&
      condition.value.trim() !== '' &&
      conditionProblem(condition, itemOf(abi, rule.signature)?.inputs ?? []) === undefined,
  );

/**
 * Returns one problem per invalid field; empty if the draft can be sent.
 * @param addressCount number of addresses that the stream has or will have.
 */
export function draftProblems(
  draft: StreamDraft,
  addressCount: number,
): Partial<Record<DraftField, string>> {
  const problems: Partial<Record<DraftField, string>> = {};
  if (draft.chains.length === 0) problems.chains = 'Choose at least one chain.';
  if (!draft.allAddresses && addressCount === 0) {
    problems.addresses = 'Paste an address, or watch all addresses.';
  }
  if (draft.family === 'evm') {
    if (draft.allAddresses && draft.rules.length === 0) {
      problems.rules = 'Choose an event. Otherwise, the stream would match the entire chain.';
    }
    const broken = draft.rules.find(
      ({ filterJson }) => filterJson !== null && filterProblem(filterJson) !== undefined,
    );
    if (broken !== undefined) problems.rules = `The filter of ${broken.signature} is not valid.`;
    const empty = draft.rules.find(({ conditions }) =>
      conditions.some(({ name, value }) => name === '' || value.trim() === ''),
    );
    if (empty !== undefined) problems.rules = `A condition of ${empty.signature} is incomplete.`;
    for (const { signature, conditions } of draft.rules) {
      const inputs = itemOf(draft.abi, signature)?.inputs ?? [];
      const wrong = conditions.find((each) => conditionProblem(each, inputs) !== undefined);
      if (wrong !== undefined) {
        problems.rules = `The condition on ${wrong.name} has an invalid value.`;
      }
    }
    for (const [index, trigger] of draft.triggers.entries()) {
      const [first] = Object.entries(triggerProblems(trigger, draft.abi));
      if (first === undefined) continue;
      const sentence = toTriggerSentence(first[0] as TriggerField, first[1]);
      problems.triggers ??= `Trigger ${index + 1}: ${sentence}`;
    }
    const balance = draft.balances.find((each) => balanceProblem(each) !== undefined);
    if (balance !== undefined) problems.balances = balanceProblem(balance) ?? '';
  } else {
    for (const field of ['functions', 'moveEvents'] as const) {
      const [bad] = movePathProblems(draft[field]);
      if (bad !== undefined) problems[field] = bad.message;
    }
    if (draft.allAddresses && draft.functions.trim() === '' && draft.moveEvents.trim() === '') {
      problems.functions =
        'Add a function or an event. Otherwise, the stream would match the entire chain.';
    }
  }
  const urlProblem = problemOfUrl(draft.webhookUrl);
  if (urlProblem !== undefined) problems.webhookUrl = urlProblem;
  if (!/[\p{L}\p{N}]/u.test(draft.tag)) problems.tag = 'Enter at least one letter or digit.';
  if (!isWithin(draft.maxInFlight, 1, 64, true)) {
    problems.maxInFlight = 'Enter a whole number from 1 to 64, or leave the field empty.';
  }
  if (!isWithin(draft.maxPerSecond, 0.01, 10_000, false)) {
    problems.maxPerSecond = 'Enter a number from 0.01 to 10,000, or leave the field empty.';
  }
  if (!isWithin(draft.maxWebhookBytes, 65_536, 2 ** 30, true)) {
    problems.maxWebhookBytes =
      'Enter a whole number from 65,536 to 1,073,741,824, or leave the field empty.';
  }
  const [header] = headerProblems(draft.headers);
  if (header !== undefined) problems.headers = header.message;
  const [oauth2] = Object.values(oauth2Problems(draft.oauth2));
  if (oauth2 !== undefined) problems.oauth2 = oauth2;
  else if (draft.oauth2 !== null && /^[ \t]*authorization[ \t]*:/im.test(draft.headers)) {
    problems.oauth2 = 'Remove the authorization header or OAuth 2.0. Both set the same header.';
  }
  return problems;
}

function isWithin(text: string, least: number, most: number, isInteger: boolean): boolean {
  if (text.trim() === '') return true;
  const value = Number(text);
  return value >= least && value <= most && (!isInteger || Number.isInteger(value));
}

function problemOfUrl(url: string): string | undefined {
  if (url === '') return 'Enter a webhook URL.';
  if (url.startsWith('sluice:')) {
    return readInboxName(url) === undefined
      ? 'Enter sluice://inbox/ and a name: 1 to 63 lowercase letters, digits and dashes, not starting with a dash.'
      : undefined;
  }
  return /^https?:\/\//i.test(url) && URL.canParse(url)
    ? undefined
    : 'Enter a valid URL that starts with http:// or https://.';
}
