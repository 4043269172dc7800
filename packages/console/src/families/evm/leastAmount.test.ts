import { expect, test } from 'vitest';
import { NEW_DRAFT } from '../../routes/streamForm/draft/draft.ts';
import { withRule } from './draft.ts';
import { leastAmountOf, withLeastAmount } from './leastAmount.ts';

test('a least amount is one rule, which is replaced and removed', () => {
  expect(leastAmountOf(NEW_DRAFT)).toBeNull();
  const large = withLeastAmount(NEW_DRAFT, '1000');
  expect(large.rules).toEqual([
    {
      signature: 'Transfer(address,address,uint256)',
      conditions: [{ name: 'value', operator: 'gte', value: '1000' }],
      filterJson: null,
    },
  ]);
  expect(leastAmountOf(large)).toBe('1000');
  const larger = withLeastAmount(large, '2000');
  expect([larger.rules.length, leastAmountOf(larger)]).toEqual([1, '2000']);
  expect(withLeastAmount(larger, null).rules).toEqual([]);
});

test('other rules have no least amount', () => {
  const large = withLeastAmount(NEW_DRAFT, '1000');
  const rule = large.rules.at(0)!;
  const condition = rule.conditions.at(0)!;
  for (const rules of [
    withRule(large, 'Approval(address,address,uint256)').rules,
    [{ ...rule, conditions: [] }],
    [{ ...rule, conditions: [condition, condition] }],
    [{ ...rule, conditions: [{ ...condition, operator: 'lt' as const }] }],
    [{ ...rule, filterJson: '{}' }],
  ]) {
    expect(leastAmountOf({ rules })).toBeUndefined();
  }
});
