/** The rule of a token's transfers with a least amount, which the form offers for a pasted token. */
import type { StreamDraft } from '../../routes/streamForm/draft/draft.ts';
import { type Condition, ERC20_TRANSFER, withEvents, withoutRule } from './draft.ts';
import { parseEvents } from './routes/abiText.ts';

const TRANSFER = 'Transfer(address,address,uint256)';

/** Adds the events of an ABI to a draft without rules, each with the same condition. */
export function withConditions(
  draft: StreamDraft,
  abi: string[],
  condition: Condition,
): StreamDraft {
  const next = withEvents(draft, parseEvents(abi.join('\n')).items);
  return { ...next, rules: next.rules.map((rule) => ({ ...rule, conditions: [condition] })) };
}

/**
 * Sends only transfers of at least this amount.
 *
 * @param value amount in the smallest unit; null for all transfers.
 */
export function withLeastAmount(draft: StreamDraft, value: string | null): StreamDraft {
  if (value === null) return withoutRule(draft, TRANSFER);
  return withConditions(draft, [ERC20_TRANSFER], { name: 'value', operator: 'gte', value });
}

/**
 * Returns the least amount in the smallest unit; null without rules, and undefined for other rules.
 */
export function leastAmountOf({ rules }: Pick<StreamDraft, 'rules'>): string | null | undefined {
  const [rule, ...others] = rules;
  if (rule === undefined) return null;
  const [condition, ...more] = rule.conditions;
  const isLeast =
    rule.signature === TRANSFER && condition?.name === 'value' && condition.operator === 'gte';
  return isLeast && rule.filterJson === null && others.length + more.length === 0
    ? condition.value
    : undefined;
}
