/** Describes the changes to a stream in words. */
import type { Factory, OAuth2Credentials, StreamRead } from '@sluice/kit/contract';
import { wordOfFilterName } from '../../../words/names.ts';
import { formatCount, formatHash, formatQuantity } from '../../../ui/text/format.ts';
import {
  describeFactory,
  describeRead,
  EMITTER,
  inputsOfCall,
  inputsOfEvent,
  OPERATOR_WORDS,
  type Condition,
  type FilterRule,
  type Inputs,
} from '../../../families/draft.ts';
import { type StreamDraft } from './draft.ts';
import { changesOf } from './fields.ts';
import { FIELDS } from './plainFields.ts';
import { tokenOf, type KnownTokens } from './knownTokens.ts';
import { describeOAuth2 } from '../oauth2/oauth2Draft.ts';
import { isAmount, toAmount, type TokenUnit } from './tokenAmount.ts';

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

const nameOfRule = (signature: string): string =>
  signature.startsWith('0x') ? formatHash(signature, 6) : (signature.split('(')[0] ?? signature);

/** Maximum length of a filter's JSON, in characters; longer JSON is truncated. */
const MAX_FILTER_LENGTH = 200;

/**
 * Describes which logs of an event or calls of a function are sent, such as `where value at least 1,000,000 USDT`.
 */
export function describeRule(
  { conditions, filterJson }: FilterRule,
  inputs: Inputs,
  known: KnownTokens,
): string {
  if (filterJson !== null) {
    return `where ${filterJson.replaceAll(/\s+/g, ' ').slice(0, MAX_FILTER_LENGTH)}`;
  }
  if (conditions.length === 0) return 'always';
  const token = tokenOf(conditions, known);
  const words = conditions.map((condition) => {
    const isOfToken = inputs.some((input) => input.name === condition.name && isAmount(input));
    return describeCondition(condition, isOfToken ? token : null, known);
  });
  return `where ${words.join(' and ')}`;
}

function describeCondition(
  { name, operator, value }: Condition,
  unit: TokenUnit | null,
  { tokens }: KnownTokens,
): string {
  const text = value.trim();
  const token =
    name === EMITTER ? tokens.find(({ address }) => address === text.toLowerCase()) : undefined;
  const amount = unit && toAmount(text, unit);
  const words = token?.symbol ?? amount ?? (text === '' ? '…' : shorten(text));
  return `${wordOfFilterName(name)} ${OPERATOR_WORDS[operator]} ${words}`;
}

/** Shortens addresses and hashes, and groups the digits of long numbers. */
const shorten = (text: string): string => {
  if (/^0x[0-9a-f]{40,}$/i.test(text)) return formatHash(text);
  return /^\d{5,78}$/.test(text) ? formatCount(BigInt(text)) : text;
};

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
