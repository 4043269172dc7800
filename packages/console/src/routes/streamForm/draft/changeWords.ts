/** Describes the changes to a stream in words. */
import type { Factory, OAuth2Credentials, StreamRead } from '@sluice/kit/contract';
import { formatQuantity } from '../../../ui/text/format.ts';
import {
  describeFactory,
  describeRead,
  inputsOfCall,
  inputsOfEvent,
} from '../../../families/draft.ts';
import { type StreamDraft } from './draft.ts';
import { changesOf } from './fields.ts';
import { FIELDS } from './plainFields.ts';
import type { KnownTokens } from './knownTokens.ts';
import { describeOAuth2 } from '../oauth2/oauth2Draft.ts';
import { describeRule, nameOfRule, shorten } from './ruleWords.ts';

/** A change to a stream, with the old and the new value in words. */
export interface WordedChange {
  label: string;
  before: string;
  after: string;
}

/** API fields that together define the events and the filters of a stream. */
const RULE_FIELDS: readonly string[] = ['topic0', 'advancedOptions', 'abi'];

/** Describes the changes between two drafts. The result is empty only if nothing would be saved. */
export function describeChanges(
  before: StreamDraft,
  after: StreamDraft,
  known: KnownTokens,
): WordedChange[] {
  const changes = changesOf(before, after);
  const others = changes.filter(({ field }) => !RULE_FIELDS.includes(field));
  const worded = others.map((change): WordedChange => {
    const words = [change.before, change.after].map((json) => describeValue(json, change.field));
    // Two secrets have the same words, and their JSON must not be shown.
    const isSecret = change.field === 'oauth2';
    const [from = '', to = ''] =
      words[0] === words[1] && !isSecret ? [change.before, change.after] : words;
    return { label: FIELDS[change.field]?.label ?? change.field, before: from, after: to };
  });
  return others.length === changes.length
    ? worded
    : [...describeRules(before, after, known), ...worded];
}

function describeRules(
  before: StreamDraft,
  after: StreamDraft,
  known: KnownTokens,
): WordedChange[] {
  const drafts = [before, after];
  const changes = [
    ...changesOfRules(drafts, 'not selected', ({ rules, abi }) =>
      rules.map((rule) => ({
        signature: rule.signature,
        words: describeRule(rule, inputsOfEvent(abi, rule.signature), known),
      })),
    ),
    ...changesOfRules(drafts, 'no filter', ({ callRules, abi }) =>
      callRules.map((rule) => ({
        signature: rule.signature,
        words: [
          describeRule(rule, inputsOfCall(abi, rule.signature), known),
          ...(rule.transactionStatus === '' ? [] : [`(${rule.transactionStatus})`]),
        ].join(' '),
      })),
    ),
  ];
  if (changes.length > 0) return changes;
  // Only the ABI or the order of the rules differs.
  const [from = '', to = ''] = [before, after].map(({ abi, rules: listed }) =>
    before.abi.length === after.abi.length
      ? listed.map(({ signature }) => nameOfRule(signature)).join(', ')
      : formatQuantity(abi.length, 'item'),
  );
  return [
    { label: before.abi.length === after.abi.length ? 'Events' : 'ABI', before: from, after: to },
  ];
}

/** Describes how the rules of each event or function differ. A function can have several. */
function changesOfRules(
  drafts: readonly StreamDraft[],
  absent: string,
  rulesOf: (draft: StreamDraft) => readonly { signature: string; words: string }[],
): WordedChange[] {
  const lists = drafts.map(rulesOf);
  const signatures = [...new Set(lists.flat().map(({ signature }) => signature))];
  return signatures.flatMap((signature): WordedChange[] => {
    const [before = '', after = ''] = lists.map(
      (rules) =>
        rules
          .filter((rule) => rule.signature === signature)
          .map(({ words }) => words)
          .join(' or ') || absent,
    );
    return before === after ? [] : [{ label: nameOfRule(signature), before, after }];
  });
}

/**
 * Describes the value of a field in words.
 * @param json an empty string if the field is absent.
 */
function describeValue(json: string, field: string): string {
  const value: unknown = json === '' ? null : JSON.parse(json);
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return json;
  if (!Array.isArray(value)) {
    const shown = field === 'oauth2' ? describeOAuth2(value as OAuth2Credentials) : value;
    const lines = Object.entries(shown).map(([name, text]) => `${name}: ${text}`);
    return lines.join(', ') || 'none';
  }
  const describe = DESCRIPTIONS[field] ?? describeItem;
  return value.map((each: unknown) => describe(each)).join(', ') || 'none';
}

/** Descriptions of the entries of lists, by field. */
const DESCRIPTIONS: Readonly<Record<string, (entry: unknown) => string>> = {
  factories: (entry) => describeFactory(entry as Factory),
  reads: (entry) => describeRead(entry as StreamRead),
};

/**
 * Describes an item of a list: a trigger, the native balances of a record kind, or a simple value.
 */
function describeItem(item: unknown): string {
  if (typeof item !== 'object' || item === null) return String(item);
  const { type, functionAbi, contractAddress, selectors } = item as Partial<{
    type: string;
    functionAbi: { name?: string };
    contractAddress: string;
    selectors: string[];
  }>;
  return functionAbi === undefined
    ? `${type} ${selectors?.join(' ')}`
    : `${type} ${functionAbi.name ?? ''}() at ${shorten(contractAddress ?? '')}`;
}
