import { expect, test } from 'vitest';
import { withRule } from '../../../families/evm/draft.ts';
import { NEW_DRAFT } from '../draft/draft.ts';
import { canRun, toDryRunFields } from './dryRunQuestion.ts';

const TRANSFER = 'Transfer(address,address,uint256)';

test('a draft runs with addresses, or with events of all addresses', () => {
  expect(canRun(NEW_DRAFT, [])).toBe(false);
  expect(canRun(NEW_DRAFT, null)).toBe(false);
  expect(canRun(NEW_DRAFT, ['0x1'])).toBe(true);
  const all = { ...NEW_DRAFT, allAddresses: true };
  expect(canRun(all, [])).toBe(false);
  expect(canRun(withRule(all, TRANSFER), [])).toBe(true);
  const aptos = { ...all, family: 'aptos' as const };
  expect(canRun({ ...aptos, functions: ' \n' }, [])).toBe(false);
  expect(canRun({ ...aptos, moveEvents: '0x1::coin::Deposit' }, [])).toBe(true);
});

test('neither an incomplete condition nor the tag changes the request', () => {
  const draft = withRule(NEW_DRAFT, TRANSFER);
  const withCondition = (value: string) => ({
    ...draft,
    rules: draft.rules.map((rule) => ({
      ...rule,
      conditions: [{ name: 'value', operator: 'gte' as const, value }],
    })),
  });
  expect(toDryRunFields(withCondition(' '))).toEqual(toDryRunFields(draft));
  expect(toDryRunFields(withCondition('5'))).toMatchObject({
    advancedOptions: [{ topic0: TRANSFER, filter: { gte: ['value', '5'] } }],
  });
  expect(toDryRunFields({ ...draft, tag: 'other' })).toEqual(toDryRunFields(draft));
});
