/** Validates drafts of streams. */
import { readInboxName } from '@sluice/kit/contract';
import { DRAFT_FAMILIES } from '../../../families/draftFamilies.ts';
import type { LineProblem } from '../../../ui/form/lineProblem.ts';
import { oauth2Problems } from '../oauth2/oauth2Draft.ts';
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
  if (!draft.allAddresses && addressCount === 0) {
    problems.addresses = 'Paste an address, or watch all addresses.';
  }
  Object.assign(problems, DRAFT_FAMILIES[draft.family].findProblems(draft));
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
