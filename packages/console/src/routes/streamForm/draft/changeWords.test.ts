import { expect, test } from 'vitest';
import { parseEvents } from '../../../families/evm/routes/abiText.ts';
import { describeChanges } from './changeWords.ts';
import { describeRule } from './ruleWords.ts';
import { FIELDS } from './plainFields.ts';
import {
  EMITTER,
  ERC20_TRANSFER,
  inputsOfEvent,
  withEvents,
  withRule,
} from '../../../families/evm/draft.ts';
import { NEW_DRAFT, type StreamDraft } from './draft.ts';
import { changesOf, toFields } from './fields.ts';
import { contractsToRead, tokenOf, withToken, type KnownTokens } from './knownTokens.ts';
import { NEW_BALANCE, NEW_TRIGGER } from '../../../families/evm/routes/triggers.ts';

const USDT = { symbol: 'USDT', decimals: 6, address: '0xdac17f958d2ee523a2206206994597c13d831ec7' };
const DAI = { symbol: 'DAI', decimals: 18, address: '0x6b175474e89094c44da98b954eedeac495271d0f' };
const NONE: KnownTokens = { tokens: [], only: null };
const ONE: KnownTokens = { tokens: [USDT], only: USDT };
const TWO: KnownTokens = { tokens: [USDT, DAI], only: null };

const plain = withEvents(NEW_DRAFT, parseEvents(ERC20_TRANSFER).items);
const where = (...conditions: StreamDraft['rules'][number]['conditions']): StreamDraft => ({
  ...plain,
  rules: plain.rules.map((rule) => ({ ...rule, conditions })),
});
const large = { name: 'value', operator: 'gte', value: '1000000000000' } as const;
const ofToken = { name: EMITTER, operator: 'eq', value: USDT.address } as const;

test('a rule is a sentence, with amounts in the unit of its token', () => {
  const wordsOf = (draft: StreamDraft, known: KnownTokens) =>
    draft.rules
      .map((rule) => describeRule(rule, inputsOfEvent(draft.abi, rule.signature), known))
      .join('; ');
  expect(wordsOf(plain, ONE)).toBe('always');
  expect(wordsOf(where(large), ONE)).toBe('where value at least 1,000,000 USDT');
  expect(wordsOf(where(large), NONE)).toBe('where value at least 1,000,000,000,000');
  // With several tokens, the unit is known only if a condition selects the contract.
  expect(wordsOf(where(large), TWO)).toBe('where value at least 1,000,000,000,000');
  expect(wordsOf(where(large, ofToken), TWO)).toBe(
    'where value at least 1,000,000 USDT and contract is USDT',
  );
  const onPolygon = { name: 'moralis_streams_chain_id', operator: 'eq', value: '0x89' } as const;
  expect(wordsOf(where(onPolygon), ONE)).toBe('where chain is 0x89');
  const zero = { name: 'from', operator: 'ne', value: `0x${'0'.repeat(40)}` } as const;
  expect(wordsOf(where(zero), ONE)).toBe('where from is not 0x0000…0000');
});

test('changes of filters are one line per function', () => {
  const rule = {
    signature: 'pay(address to, uint256 amount)',
    conditions: [{ ...large, name: 'amount' }],
    filterJson: null,
    transactionStatus: '',
  } as const;
  const filtered: StreamDraft = {
    ...plain,
    callRules: [{ ...rule, conditions: [...rule.conditions] }],
  };
  expect(describeChanges(plain, filtered, ONE)).toEqual([
    { label: 'pay', before: 'no filter', after: 'where amount at least 1,000,000 USDT' },
  ]);
  const failed: StreamDraft = {
    ...plain,
    callRules: [
      ...filtered.callRules,
      {
        ...rule,
        conditions: [{ name: 'sluice_value', operator: 'gt', value: '10' }],
        transactionStatus: 'failed',
      },
    ],
  };
  expect(describeChanges(filtered, failed, NONE)).toEqual([
    {
      label: 'pay',
      before: 'where amount at least 1,000,000,000,000',
      after: 'where amount at least 1,000,000,000,000 or where value in wei more than 10 (failed)',
    },
  ]);
});

test('changes of events are one line per event', () => {
  expect(describeChanges(plain, where(large), ONE)).toEqual([
    { label: 'Transfer', before: 'always', after: 'where value at least 1,000,000 USDT' },
  ]);
  const approval = withRule(plain, 'Approval(address,address,uint256)');
  expect(describeChanges(plain, approval, NONE)).toEqual([
    { label: 'Approval', before: 'not selected', after: 'always' },
  ]);
  const swapped = { ...approval, rules: approval.rules.toReversed() };
  expect(describeChanges(approval, swapped, NONE)).toEqual([
    { label: 'Events', before: 'Transfer, Approval', after: 'Approval, Transfer' },
  ]);
  expect(describeChanges(plain, { ...plain, abi: [] }, NONE)).toEqual([
    { label: 'ABI', before: '1 item', after: '0 items' },
  ]);
});

test('other changes have the label of their field', () => {
  const after: StreamDraft = {
    ...plain,
    includeNativeTxs: true,
    deliver: 'confirmed' as const,
    chains: ['0x1', '0x89'],
    headers: 'a: b',
    maxPerSecond: '5',
    description: 'x',
    triggers: [NEW_TRIGGER],
    balances: [NEW_BALANCE],
  };
  const words = describeChanges(plain, after, NONE);
  expect(words.map(({ label, before, after: next }) => `${label}: ${before} → ${next}`)).toEqual([
    'Description: none → x',
    'Chains: none → 0x1, 0x89',
    'Transactions: off → on',
    'Native balances: none → erc20transfer $from',
    'Triggers: none → erc20transfer balanceOf() at $contract',
    'Deliver: both → confirmed',
    'Headers: none → a: b',
    'Max per second: none → 5',
  ]);
  // If both values have the same description, they are shown as JSON.
  const other = { ...after, triggers: [{ ...NEW_TRIGGER, inputs: ['$to'] }] };
  const [change] = describeChanges(after, other, NONE);
  expect(change?.before).not.toBe(change?.after);
});

test('every field of a stream has words', () => {
  for (const fields of [toFields(NEW_DRAFT), toFields({ ...NEW_DRAFT, family: 'aptos' })]) {
    for (const field of Object.keys(fields)) {
      expect(FIELDS[field]?.label, field).toBeDefined();
    }
  }
  expect(changesOf(plain, plain)).toEqual([]);
  expect(describeChanges(plain, plain, NONE)).toEqual([]);
});

test('a token limits a rule to its contract, unless it is the only one', () => {
  expect(tokenOf([large], ONE)).toBe(USDT);
  expect(tokenOf([large], TWO)).toBeNull();
  expect(withToken([large], USDT, TWO)).toEqual([large, ofToken]);
  expect(tokenOf([large, ofToken], TWO)).toBe(USDT);
  expect(withToken([large, ofToken], DAI, TWO)).toEqual([
    large,
    { ...ofToken, value: DAI.address },
  ]);
  expect(withToken([large], USDT, ONE)).toEqual([large]);
  // The amounts of an unknown contract have no unit.
  expect(tokenOf([{ ...ofToken, value: '0x12' }], ONE)).toBeNull();
});

test('contracts are read only for conditions, and up to a limit', () => {
  const many = Array.from({ length: 100 }, (_, n) => `0x${String(n).padStart(40, '0')}`);
  expect(contractsToRead(plain, [USDT.address])).toEqual([USDT.address]);
  expect(contractsToRead(plain, many)).toEqual([]);
  expect(contractsToRead(where(large), many)).toEqual(many.slice(0, 8));
  const named = where(...many.map((value) => ({ ...ofToken, value })));
  expect(contractsToRead(named, [])).toHaveLength(16);
  expect(contractsToRead({ ...where(large), chains: ['0x1'] }, [])).toHaveLength(1);
  expect(contractsToRead({ ...where(large), family: 'aptos' }, many)).toEqual([]);
});
