/** What is wrong with a stream as the form holds it. Pure. */
import { readInboxName } from '@sluice/kit/sluice';
import { formatQuantity } from '../../../ui/text/format.ts';
import { parseJson } from '../../../body/json.ts';
import { jsonProblem } from '../../../ui/form/jsonProblem.ts';
import { problemAt, type LineProblem } from '../../../ui/form/lineProblem.ts';
import { balanceProblem, triggerProblems } from './triggers.ts';
import type { StreamDraft } from './draft.ts';

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

/** Of things one to a line, those that are not right: `wordsFor` says why, of a line without what is around it. */
function problemsOfLines(
  text: string,
  wordsFor: (line: string) => string | undefined,
): LineProblem[] {
  let from = 0;
  return text.split('\n').flatMap((whole) => {
    const at = from + whole.length - whole.trimStart().length;
    from += whole.length + 1;
    const line = whole.trim();
    const words = line === '' ? undefined : wordsFor(line);
    return words === undefined ? [] : [problemAt(text, at, words)];
  });
}

export const movePathProblems = (text: string): LineProblem[] =>
  problemsOfLines(text, (path) => (MOVE_PATH.test(path) ? undefined : wordsForPath(path)));

/** What HTTP takes as the name of a header. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

export function headerProblems(text: string): LineProblem[] {
  const names = new Set<string>();
  return problemsOfLines(text, (line) => {
    const at = line.indexOf(':');
    if (at === -1) return 'A colon is missing: a header is written as name: value.';
    const name = line.slice(0, at).trim();
    if (!HEADER_NAME.test(name)) return `“${name}” is no name of a header.`;
    if (line.slice(at + 1).trim() === '') return `The value of “${name}” is missing.`;
    if (names.has(name.toLowerCase())) return `“${name}” stands above already: one is sent.`;
    names.add(name.toLowerCase());
    return undefined;
  });
}

function wordsForPath(path: string): string {
  const parts = path.split('<', 1)[0]!.split('::');
  if (!/^0x[0-9a-f]{1,64}$/i.test(parts[0] ?? '')) {
    return `“${path}” begins with no address such as 0x1: it is address::module::name.`;
  }
  if (parts.length !== 3) {
    return `“${path}” has ${formatQuantity(parts.length, 'part')} of three: address::module::name.`;
  }
  return `“${path}” is no Move path such as 0x1::coin::WithdrawEvent.`;
}

/** Why a text is no filter; whether its event has what it names, the service says. */
export function filterProblem(text: string): LineProblem | undefined {
  const value = parseJson(text)?.value;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? undefined
    : (jsonProblem(text) ??
        problemAt(text, 0, 'A filter is an object such as {"gt": ["value", "1000"]}.'));
}

/**
 * What keeps it from being sent, by field; empty when nothing does.
 * @param addressCount how many addresses the stream has or will have.
 */
export function draftProblems(
  draft: StreamDraft,
  addressCount: number,
): Partial<Record<DraftField, string>> {
  const problems: Partial<Record<DraftField, string>> = {};
  if (draft.chains.length === 0) problems.chains = 'Choose at least one chain.';
  if (!draft.allAddresses && addressCount === 0) {
    problems.addresses = 'Paste an address, or watch all of them.';
  }
  if (draft.family === 'evm') {
    if (draft.allAddresses && draft.rules.length === 0) {
      problems.rules = 'Choose an event: all addresses without one would be the whole chain.';
    }
    const broken = draft.rules.find(
      ({ filterJson }) => filterJson !== null && filterProblem(filterJson) !== undefined,
    );
    if (broken !== undefined) problems.rules = `The filter of ${broken.signature} is not right.`;
    const empty = draft.rules.find(({ conditions }) =>
      conditions.some(({ name, value }) => name === '' || value.trim() === ''),
    );
    if (empty !== undefined) problems.rules = `A condition of ${empty.signature} has no value.`;
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
      problems.functions = 'Name a function or an event: all addresses would be the whole chain.';
    }
  }
  const urlProblem = problemOfUrl(draft.webhookUrl);
  if (urlProblem !== undefined) problems.webhookUrl = urlProblem;
  if (!/[\p{L}\p{N}]/u.test(draft.tag)) problems.tag = 'Needs a letter or a digit.';
  if (!isWithin(draft.maxInFlight, 1, 64, true)) {
    problems.maxInFlight = 'A whole number from 1 to 64, or nothing.';
  }
  if (!isWithin(draft.maxPerSecond, 0.01, 10_000, false)) {
    problems.maxPerSecond = 'A number from 0.01 to 10,000, or nothing.';
  }
  const [header] = headerProblems(draft.headers);
  if (header !== undefined) problems.headers = header.message;
  return problems;
}

function isWithin(text: string, least: number, most: number, whole: boolean): boolean {
  if (text.trim() === '') return true;
  const value = Number(text);
  return value >= least && value <= most && (!whole || Number.isInteger(value));
}

function problemOfUrl(url: string): string | undefined {
  if (url === '') return 'Say where webhooks shall be POSTed.';
  if (url.startsWith('sluice:')) {
    return readInboxName(url) === undefined
      ? 'The name of an inbox has 1 to 63 small letters, digits and dashes.'
      : undefined;
  }
  return /^https?:\/\//i.test(url) && URL.canParse(url)
    ? undefined
    : 'Needs to begin with http:// or https://.';
}
