import type { AptosStream, Stream } from '@sluice/kit';
import { createAptosStreamSchema, createEvmStreamSchema } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { changesOf, toAptosFields, toChanges, toDraft, toEvmFields } from './fields.ts';
import { draftProblems, filterProblem, headerProblems, movePathProblems } from './problems.ts';
import { NEW_DRAFT, type StreamDraft, withEvents, withoutRule, withRule } from './draft.ts';

const TRANSFER = 'Transfer(address,address,uint256)';
const transfer = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256', indexed: false },
  ],
};
const good: StreamDraft = {
  ...withEvents(NEW_DRAFT, [transfer]),
  chains: ['0x1'],
  webhookUrl: 'https://example.com/hook',
  tag: 'whales',
};
const aptos: StreamDraft = {
  ...NEW_DRAFT,
  family: 'aptos',
  chains: ['local'],
  allAddresses: true,
  functions: '0x1::coin::transfer\n',
  webhookUrl: 'https://example.com/hook',
  tag: 'coins',
  headers: 'Authorization: Bearer a:b',
};

const asStream = (draft: StreamDraft) => ({ ...toEvmFields(draft) }) as unknown as Stream;

test('what the form sends is what the contract takes', () => {
  expect(createEvmStreamSchema.safeParse(toEvmFields(good)).error).toBeUndefined();
  expect(createAptosStreamSchema.safeParse(toAptosFields(aptos)).error).toBeUndefined();
  expect(toAptosFields(aptos).headers).toEqual({ Authorization: 'Bearer a:b' });
});

test('a stream that goes through the form unchanged is unchanged', () => {
  const filtered: StreamDraft = {
    ...good,
    rules: [
      {
        signature: TRANSFER,
        conditions: [
          { name: 'value', operator: 'gte', value: '1000000000000' },
          { name: 'from', operator: 'ne', value: '0x0' },
        ],
        filterJson: null,
      },
    ],
    onlyConfirmed: true,
    maxInFlight: '8',
    maxPerSecond: '0.5',
    strictOrder: true,
    headers: 'a: b\nc: d',
  };
  expect(changesOf(filtered, { ...toDraft(asStream(filtered)), addresses: '' })).toEqual([]);
  expect(toDraft({ ...toAptosFields(aptos) } as unknown as AptosStream)).toEqual({
    ...aptos,
    functions: '0x1::coin::transfer',
    description: 'coins',
  });
});

test('a filter that no conditions can say is kept as JSON', () => {
  const filter = { or: [{ in: ['from', ['0x1']] }, { gt: ['value', 1] }] };
  const stream = { ...asStream(good), advancedOptions: [{ topic0: TRANSFER, filter }] };
  const draft = toDraft(stream);
  expect(draft.rules[0]?.conditions).toEqual([]);
  expect(toEvmFields(draft).advancedOptions).toEqual([{ topic0: TRANSFER, filter }]);
});

test('a hash is shown as the event of the ABI that it stands for', () => {
  const topic0 = ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'];
  const draft = toDraft({ ...asStream(good), topic0 });
  expect(draft.rules.map(({ signature }) => signature)).toEqual([TRANSFER]);
});

test('only what changed is sent', () => {
  expect(toChanges(good, { ...good, tag: 'x', description: 'whales' })).toEqual({ tag: 'x' });
  expect(toChanges(good, withoutRule(good, TRANSFER))).toEqual({ topic0: [] });
  expect(withRule(good, TRANSFER)).toBe(good);
});

test.each<[Partial<StreamDraft>, string]>([
  [{ chains: [] }, 'chains'],
  [{ webhookUrl: '' }, 'webhookUrl'],
  [{ webhookUrl: 'ftp://x' }, 'webhookUrl'],
  [{ tag: '--' }, 'tag'],
  [{ allAddresses: true, rules: [] }, 'rules'],
  [{ headers: 'nonsense' }, 'headers'],
  [{ maxInFlight: '0.5' }, 'maxInFlight'],
  [{ maxPerSecond: 'fast' }, 'maxPerSecond'],
  [{ rules: [{ signature: TRANSFER, conditions: [], filterJson: '{' }] }, 'rules'],
  [{ rules: [{ signature: TRANSFER, conditions: [], filterJson: '[1]' }] }, 'rules'],
  [{ family: 'aptos', functions: 'coin::transfer' }, 'functions'],
])('%j is a problem of %s', (change, field) => {
  expect(Object.keys(draftProblems({ ...good, ...change }, 1))).toEqual([field]);
});

test('nothing is wrong with a good one; without addresses it watches nothing', () => {
  expect(draftProblems(good, 1)).toEqual({});
  expect(draftProblems(aptos, 0)).toEqual({});
  expect(Object.keys(draftProblems(good, 0))).toEqual(['addresses']);
});

test.each([
  [
    'coin::transfer',
    '“coin::transfer” begins with no address such as 0x1: it is address::module::name.',
  ],
  ['0x1::coin', '“0x1::coin” has 2 parts of three: address::module::name.'],
  ['0x1::coin::a b', '“0x1::coin::a b” is no Move path such as 0x1::coin::WithdrawEvent.'],
])('%s is no Move path', (path, message) => {
  expect(movePathProblems(`0x1::coin::transfer<0x1::a::B>\n\n  ${path}`)).toEqual([
    { line: 3, column: 3, message },
  ]);
});

test('headers are told line by line what they lack', () => {
  expect(headerProblems('authorization: Bearer a:b\n\nx-team: chain')).toEqual([]);
  const text = 'nonsense\nmy name: value\nx-team:\n  x-a: 1\n  X-A: 2';
  expect(headerProblems(text)).toEqual([
    { line: 1, column: 1, message: 'A colon is missing: a header is written as name: value.' },
    { line: 2, column: 1, message: '“my name” is no name of a header.' },
    { line: 3, column: 1, message: 'The value of “x-team” is missing.' },
    { line: 5, column: 3, message: '“X-A” stands above already: one is sent.' },
  ]);
});

test('a filter is an object; what is none is told by its place', () => {
  expect(filterProblem('{"gt": ["value", "1"]}')).toBeUndefined();
  expect(filterProblem('[]')).toEqual({
    line: 1,
    column: 1,
    message: 'A filter is an object such as {"gt": ["value", "1000"]}.',
  });
  expect(filterProblem('{\n"gt" 1}')).toEqual({
    line: 2,
    column: 6,
    message: 'Expected a colon.',
  });
});
