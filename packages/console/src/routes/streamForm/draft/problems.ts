/** Validates the form's model of a stream. Pure. */
import { readInboxName } from '@sluice/kit/sluice';
import { formatQuantity } from '../../../ui/text/format.ts';
import { parseJson } from '../../../body/json.ts';
import { jsonProblem } from '../../../ui/form/jsonProblem.ts';
import { problemAt, type LineProblem } from '../../../ui/form/lineProblem.ts';
import { balanceProblem, triggerProblems } from './triggers.ts';
import { itemOf, type Condition, type EventRule, type StreamDraft } from './draft.ts';

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
  | 'headers';

const MOVE_PATH = /^0x[0-9a-fA-F]{1,64}(::\w+){2}(<.+>)?$/;

/** Returns the invalid lines; `wordsFor` describes the problem of a trimmed line. */
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

/** Valid names of HTTP headers. */
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

/** Checks the form of a filter. The service checks that its parameters exist in the event. */
export function filterProblem(text: string): LineProblem | undefined {
  const value = parseJson(text)?.value;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? undefined
    : (jsonProblem(text) ??
        problemAt(text, 0, 'A filter is an object such as {"gt": ["value", "1000"]}.'));
}

/** Forms of values by the start of their Solidity type; others are free text. */
const VALUES: readonly { type: RegExp; form: RegExp; words: string }[] = [
  {
    type: /^u?int\d*$/,
    form: /^(-?\d+|0x[0-9a-f]+)$/i,
    words: 'Enter a whole number, in the smallest unit.',
  },
  {
    type: /^address$/,
    form: /^0x[0-9a-f]{40}$/i,
    words: 'Enter an address: 0x and 40 hex digits.',
  },
  { type: /^bool$/, form: /^(true|false)$/, words: 'Enter true or false.' },
  { type: /^bytes\d*$/, form: /^0x([0-9a-f]{2})*$/i, words: 'Enter hex digits after 0x.' },
];

/** Returns what is wrong with the value of a condition; undefined while it is empty. */
export function conditionProblem(
  { name, value }: Condition,
  inputs: readonly { name: string; type: string }[],
): string | undefined {
  const text = value.trim();
  const type = inputs.find((input) => input.name === name)?.type ?? '';
  const kind = VALUES.find((each) => each.type.test(type));
  return text === '' || kind === undefined || kind.form.test(text) ? undefined : kind.words;
}

/** Returns the valid conditions of a rule, which the service accepts. */
export const rightConditions = (rule: EventRule, { abi }: Pick<StreamDraft, 'abi'>): Condition[] =>
  rule.conditions.filter(
    (condition) =>
      condition.name !== '' &&
      condition.value.trim() !== '' &&
      conditionProblem(condition, itemOf(abi, rule.signature)?.inputs ?? []) === undefined,
  );

/**
 * Returns problems by field; empty if the draft can be sent.
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
      problems.rules =
        'Choose an event. All addresses without an event would match the entire chain.';
    }
    const broken = draft.rules.find(
      ({ filterJson }) => filterJson !== null && filterProblem(filterJson) !== undefined,
    );
    if (broken !== undefined) problems.rules = `The filter of ${broken.signature} is not valid.`;
    const empty = draft.rules.find(({ conditions }) =>
      conditions.some(({ name, value }) => name === '' || value.trim() === ''),
    );
    if (empty !== undefined) problems.rules = `A condition of ${empty.signature} has no value.`;
    for (const { signature, conditions } of draft.rules) {
      const inputs = itemOf(draft.abi, signature)?.inputs ?? [];
      const wrong = conditions.find((each) => conditionProblem(each, inputs) !== undefined);
      if (wrong !== undefined) {
        problems.rules = `The value of ${wrong.name} is not valid. ${conditionProblem(wrong, inputs)}`;
      }
    }
    const trigger = draft.triggers.map(
      (each) => Object.values(triggerProblems(each, draft.abi))[0],
    );
    const wrong = trigger.findIndex((each) => each !== undefined);
    if (wrong >= 0) problems.triggers = `Trigger ${wrong + 1}: ${trigger[wrong]}`;
    const balance = draft.balances.find((each) => balanceProblem(each) !== undefined);
    if (balance !== undefined) problems.balances = balanceProblem(balance) ?? '';
  } else {
    for (const field of ['functions', 'moveEvents'] as const) {
      const [bad] = movePathProblems(draft[field]);
      if (bad !== undefined) problems[field] = bad.message;
    }
    if (draft.allAddresses && draft.functions.trim() === '' && draft.moveEvents.trim() === '') {
      problems.functions =
        'Add a function or an event. All addresses alone would match the entire chain.';
    }
  }
  const urlProblem = problemOfUrl(draft.webhookUrl);
  if (urlProblem !== undefined) problems.webhookUrl = urlProblem;
  if (!/[\p{L}\p{N}]/u.test(draft.tag)) problems.tag = 'Enter at least one letter or digit.';
  if (!isWithin(draft.maxInFlight, 1, 64, true)) {
    problems.maxInFlight = 'Enter a whole number from 1 to 64, or leave it empty.';
  }
  if (!isWithin(draft.maxPerSecond, 0.01, 10_000, false)) {
    problems.maxPerSecond = 'Enter a number from 0.01 to 10,000, or leave it empty.';
  }
  const [header] = headerProblems(draft.headers);
  if (header !== undefined) problems.headers = header.message;
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
      ? 'Inbox names have 1 to 63 lowercase letters, digits and dashes.'
      : undefined;
  }
  return /^https?:\/\//i.test(url) && URL.canParse(url)
    ? undefined
    : 'The URL must start with http:// or https://.';
}
