/** Determines the tokens whose units a form uses for amounts. */
import { EMITTER, type Condition } from '../../../families/draft.ts';
import { type StreamDraft } from './draft.ts';
import { DRAFT_FAMILIES } from '../../../families/draftFamilies.ts';
import type { Token } from './tokenAmount.ts';

export interface KnownTokens {
  /** Tokens whose units the user can choose. */
  tokens: readonly Token[];
  /** The token, if it is the only contract that the stream watches; otherwise null. */
  only: Token | null;
}

/**
 * Maximum number of watched addresses that are checked for tokens. In total, at most twice as many
 * contracts are checked.
 */
const MAX_READ = 8;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/**
 * Returns the lowercase addresses of the contracts that may be tokens whose amounts the draft's
 * conditions compare: the first watched addresses, the addresses in conditions, and the example
 * contract of the first chain. Without conditions, returns the watched address if there is only
 * one. The list is empty for families whose streams watch no contracts.
 *
 * @param watched addresses of the stream.
 */
export function contractsToRead(draft: StreamDraft, watched: readonly string[]): string[] {
  const { hasContracts, findExample } = DRAFT_FAMILIES[draft.family];
  if (!hasContracts) return [];
  const first = watched.slice(0, MAX_READ);
  const conditions = [...draft.rules, ...draft.callRules].flatMap((rule) => rule.conditions);
  if (conditions.length === 0)
    return watched.length === 1 ? first.map((text) => text.toLowerCase()) : [];
  const named = conditions.filter(({ name }) => name === EMITTER).map(({ value }) => value.trim());
  const example = findExample(draft.chains[0] ?? '')?.address;
  return [...new Set([...first, ...named, example ?? ''].map((text) => text.toLowerCase()))]
    .filter((address) => ADDRESS.test(address))
    .slice(0, 2 * MAX_READ);
}

/** Returns the token in whose unit a rule's amounts are given; null if the token is unknown. */
export function tokenOf(conditions: readonly Condition[], { tokens, only }: KnownTokens) {
  const named = conditions.find(({ name, operator }) => name === EMITTER && operator === 'eq');
  if (named === undefined) return only;
  const wanted = named.value.trim().toLowerCase();
  return tokens.find(({ address }) => address === wanted) ?? null;
}

/**
 * Returns the conditions with one that limits the rule to the token's contract, or without such a
 * condition if the stream watches only that contract.
 */
export function withToken(
  conditions: readonly Condition[],
  token: Token,
  { only }: KnownTokens,
): Condition[] {
  const others = conditions.filter(({ name, operator }) => name !== EMITTER || operator !== 'eq');
  return token.address === only?.address
    ? others
    : [...others, { name: EMITTER, operator: 'eq', value: token.address }];
}
