/** Validates drafts of streams. */
import {
  FEED_URL,
  MAX_RETRIES,
  RETRY_PRESETS,
  type StreamFieldView,
  parseRetries,
  QUEUE_SCHEMES,
  isTablesUrl,
  queueBrokerOf,
  queueUrlProblem,
  readInboxName,
  tablesUrlProblem,
} from '@sluice/kit/contract';
import { DRAFT_FAMILIES } from '../../../families/draftFamilies.ts';
import type { LineProblem } from '../../../ui/form/lineProblem.ts';
import { isExample } from '../destination/kinds.ts';
import { oauth2Problems } from '../oauth2/oauth2Draft.ts';
import { FIELDS, listNumberFields } from './plainFields.ts';
import type { StreamDraft } from './draft.ts';
import type { DraftProblems } from './draftField.ts';
import { problemsOfLines } from './lineProblems.ts';

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

/**
 * Returns one problem per invalid field; empty if the draft can be sent.
 * @param addressCount number of addresses that the stream has or will have.
 */
export function draftProblems(draft: StreamDraft, addressCount: number): DraftProblems {
  const problems: DraftProblems = {};
  if (draft.chains.length === 0) problems.chains = 'Choose at least one chain.';
  if (
    !draft.allAddresses &&
    addressCount === 0 &&
    DRAFT_FAMILIES[draft.family].needsAddresses(draft)
  ) {
    problems.addresses = 'Paste an address, or watch all addresses.';
  }
  Object.assign(problems, DRAFT_FAMILIES[draft.family].findProblems(draft));
  const urlProblem = problemOfUrl(draft.webhookUrl);
  if (urlProblem !== undefined) problems.webhookUrl = urlProblem;
  if (!/[\p{L}\p{N}]/u.test(draft.tag)) problems.tag = 'Enter at least one letter or digit.';
  for (const name of listNumberFields(draft.family, 'deliver')) {
    const problem = numberProblem(FIELDS[name]!, draft[name]);
    if (problem !== undefined) problems[name] = problem;
  }
  if (parseRetries(draft.retries) === undefined) {
    problems.retries = `Enter ${RETRY_PRESETS.join(', ')}, or up to ${MAX_RETRIES} waits such as 30s, 5m, 1h.`;
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

/** Returns the problem of a number as typed; undefined if it is empty or within its bounds. */
function numberProblem({ kind, input }: StreamFieldView, text: string): string | undefined {
  if (text.trim() === '') return undefined;
  const { least = -Infinity, most = Infinity } = input ?? {};
  const value = Number(text);
  if (value >= least && value <= most && (kind !== 'integer' || Number.isInteger(value))) {
    return undefined;
  }
  const a = kind === 'integer' ? 'a whole number' : 'a number';
  return `Enter ${a} from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}, or leave the field empty.`;
}

/** Returns the problem of a webhook URL; undefined if it is valid. */
export function problemOfUrl(url: string): string | undefined {
  if (url === '') return 'Enter a webhook URL.';
  if (isExample(url)) return 'Replace the names in this example with your own.';
  if (url.startsWith('sluice:')) {
    return readInboxName(url) === undefined && url !== FEED_URL
      ? 'Enter sluice://feed, or sluice://inbox/ and a name: 1 to 63 lowercase letters, digits and dashes, not starting with a dash.'
      : undefined;
  }
  if (queueBrokerOf(url) !== undefined) {
    const problem = queueUrlProblem(url);
    return problem && `The webhook URL ${problem}.`;
  }
  if (isTablesUrl(url)) {
    const problem = tablesUrlProblem(url);
    return problem && `The webhook URL ${problem}.`;
  }
  return /^https?:\/\//i.test(url) && URL.canParse(url)
    ? undefined
    : `Enter a valid URL that starts with http://, https://, ${QUEUE_SCHEMES.join(', ')} or postgres://.`;
}
