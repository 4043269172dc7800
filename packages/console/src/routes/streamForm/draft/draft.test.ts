import type { AptosStream, Stream } from '@sluice/kit';
import { createAptosStreamSchema, createEvmStreamSchema } from '@sluice/kit/calls';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changesOf, toChanges, toDraft, toFields } from './fields.ts';
import {
  conditionProblem,
  filterProblem,
  validConditions,
} from '../../../families/evm/problems.ts';
import { movePathProblems } from '../../../families/aptos/problems.ts';
import { draftProblems, headerProblems } from './problems.ts';
import {
  type CallRule,
  type EventRule,
  inputsOfCall,
  inputsOfEvent,
  withEvents,
  withoutRule,
  withRule,
} from '../../../families/evm/draft.ts';
import { NEW_DRAFT, type StreamDraft } from './draft.ts';
import { createSnippets } from '../../newStream/createSnippets.ts';
import { describeChanges } from './changeWords.ts';
import { NEW_OAUTH2 } from '../oauth2/oauth2Draft.ts';
import { NEW_TRIGGER } from '../../../families/evm/routes/triggers.ts';

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

const OAUTH2 = {
  ...NEW_OAUTH2,
  tokenUrl: 'https://a.example/token',
  clientId: 'a',
  clientSecret: 'b',
};

const asStream = (draft: StreamDraft) => ({ ...toFields(draft) }) as unknown as Stream;

test('the fields of the form match the schema of the contract', () => {
  expect(createEvmStreamSchema.safeParse(toFields(good)).error).toBeUndefined();
  expect(createAptosStreamSchema.safeParse(toFields(aptos)).error).toBeUndefined();
  expect(toFields(aptos).headers).toEqual({ Authorization: 'Bearer a:b' });
});

test('an unedited stream keeps its fields', () => {
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
    deliver: 'confirmed',
    maxInFlight: '8',
    maxPerSecond: '0.5',
    maxWebhookBytes: '100000',
    strictOrder: true,
    unverified: 'hold',
    headers: 'a: b\nc: d',
  };
  expect(changesOf(filtered, { ...toDraft(asStream(filtered)), addresses: '' })).toEqual([]);
  expect(toDraft({ ...toFields(aptos) } as unknown as AptosStream)).toEqual({
    ...aptos,
    functions: '0x1::coin::transfer',
    description: 'coins',
  });
});

test('a filter that conditions cannot express is kept as JSON', () => {
  const filter = { or: [{ in: ['from', ['0x1']] }, { gt: ['value', 1] }] };
  const stream = { ...asStream(good), advancedOptions: [{ topic0: TRANSFER, filter }] };
  const draft = toDraft(stream);
  expect(draft.rules[0]?.conditions).toEqual([]);
  expect(toFields(draft)).toMatchObject({ advancedOptions: [{ topic0: TRANSFER, filter }] });
});

test('a hash is shown as its event of the ABI', () => {
  const topic0 = ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'];
  const draft = toDraft({ ...asStream(good), topic0 });
  expect(draft.rules.map(({ signature }) => signature)).toEqual([TRANSFER]);
});

test('a saved client secret is kept until the credentials change', () => {
  const oauth2 = { tokenUrl: 'https://a.example/token', clientId: 'a', scope: 'b' };
  const saved = toDraft({ ...asStream(good), oauth2 });
  const edit = (change: object) => ({ ...saved, oauth2: { ...saved.oauth2!, ...change } });
  expect(draftProblems(saved, 1)).toEqual({});
  expect(toChanges(saved, saved)).toEqual({});
  expect(draftProblems(edit({ scope: 'c' }), 1).oauth2).toMatch(/^Enter the client secret again/);
  const changed = edit({ scope: '', clientSecret: 'hidden-secret' });
  expect(draftProblems(changed, 1)).toEqual({});
  const { scope: _, ...others } = oauth2;
  expect(toChanges(saved, changed)).toEqual({
    oauth2: { ...others, clientSecret: 'hidden-secret' },
  });
  expect(toChanges(saved, { ...saved, oauth2: null })).toEqual({ oauth2: null });
  expect(createEvmStreamSchema.safeParse(toFields(changed)).error).toBeUndefined();
  // The secret is shown neither in changes nor in snippets.
  const known = { tokens: [], only: null };
  const words = [saved, edit({ clientSecret: 'former-hidden-secret' })].map((before) =>
    describeChanges(before, edit({ clientSecret: 'hidden-secret' }), known),
  );
  expect(words[0]).toMatchObject([{ label: 'OAuth 2.0', after: expect.stringContaining('new') }]);
  const snippets = createSnippets(changed, 'https://sluice.example');
  expect(JSON.stringify(snippets)).toContain('YOUR_CLIENT_SECRET');
  expect(JSON.stringify([words, snippets])).not.toContain('hidden-secret');
});

test('only changed fields are sent', () => {
  expect(toChanges(good, { ...good, tag: 'x', description: 'whales' })).toEqual({ tag: 'x' });
  expect(toChanges(good, withoutRule(good, TRANSFER))).toEqual({ topic0: [] });
  expect(withRule(good, TRANSFER)).toBe(good);
});

test.each<[Partial<StreamDraft>, string]>([
  [{ chains: [] }, 'chains'],
  [{ webhookUrl: '' }, 'webhookUrl'],
  [{ webhookUrl: 'ftp://x' }, 'webhookUrl'],
  [{ webhookUrl: 'nats://broker' }, 'webhookUrl'],
  [{ webhookUrl: 'postgres://host/db' }, 'webhookUrl'],
  [{ tag: '--' }, 'tag'],
  [{ allAddresses: true, rules: [] }, 'rules'],
  [{ headers: 'nonsense' }, 'headers'],
  [{ oauth2: NEW_OAUTH2 }, 'oauth2'],
  [{ oauth2: { ...OAUTH2, clientSecret: '' } }, 'oauth2'],
  [{ oauth2: OAUTH2, headers: 'Authorization: a' }, 'oauth2'],
  [{ maxInFlight: '0.5' }, 'maxInFlight'],
  [{ maxPerSecond: 'fast' }, 'maxPerSecond'],
  [{ maxWebhookBytes: '1000' }, 'maxWebhookBytes'],
  [{ rules: [{ signature: TRANSFER, conditions: [], filterJson: '{' }] }, 'rules'],
  [{ rules: [{ signature: TRANSFER, conditions: [], filterJson: '[1]' }] }, 'rules'],
  [{ family: 'aptos', functions: 'coin::transfer' }, 'functions'],
])('%j is a problem in %s', (change, field) => {
  expect(Object.keys(draftProblems({ ...good, ...change }, 1))).toEqual([field]);
});

test('the problem of a trigger names the trigger and its field', () => {
  const triggers = [NEW_TRIGGER, { ...NEW_TRIGGER, callFrom: '0x12' }];
  expect(draftProblems({ ...good, triggers }, 1).triggers).toBe(
    'Trigger 2: msg.sender should be an address, or a selector of one.',
  );
});

test('a valid draft has no problems; without addresses it has one', () => {
  expect(draftProblems(good, 1)).toEqual({});
  expect(draftProblems(aptos, 0)).toEqual({});
  expect(Object.keys(draftProblems(good, 0))).toEqual(['addresses']);
});

test.each([
  [
    'coin::transfer',
    '“coin::transfer” does not start with an address such as 0x1. Use address::module::name.',
  ],
  ['0x1::coin', '“0x1::coin” has 2 parts instead of three: address::module::name.'],
  ['0x1::coin::a b', '“0x1::coin::a b” is not a Move path such as 0x1::coin::WithdrawEvent.'],
])('%s is not a Move path', (path, message) => {
  expect(movePathProblems(`0x1::coin::transfer<0x1::a::B>\n\n  ${path}`)).toEqual([
    { line: 3, column: 3, message },
  ]);
});

test('problems of headers are reported by line', () => {
  expect(headerProblems('authorization: Bearer a:b\n\nx-team: chain')).toEqual([]);
  const text = 'nonsense\nmy name: value\nx-team:\n  x-a: 1\n  X-A: 2';
  expect(headerProblems(text)).toEqual([
    { line: 1, column: 1, message: 'A colon is missing. Write headers as name: value.' },
    { line: 2, column: 1, message: '“my name” is not a valid header name.' },
    { line: 3, column: 1, message: 'The value of “x-team” is missing.' },
    { line: 5, column: 3, message: 'Duplicate header “X-A”.' },
  ]);
});

test('a filter is an object; problems have a position', () => {
  expect(filterProblem('{"gt": ["value", "1"]}')).toBeUndefined();
  expect(filterProblem('[]')).toEqual({
    line: 1,
    column: 1,
    message: 'The filter must be a JSON object, such as {"gt": ["value", "1000"]}.',
  });
  expect(filterProblem('{\n"gt" 1}')).toEqual({
    line: 2,
    column: 6,
    message: 'Expected a colon.',
  });
});

test('the value of a condition fits the type of its parameter', () => {
  const inputs = [
    { name: 'value', type: 'uint256' },
    { name: 'to', type: 'address' },
    { name: 'id', type: 'bytes32' },
    { name: 'ok', type: 'bool' },
    { name: 'note', type: 'string' },
  ];
  const problemOf = (name: string, value: string) =>
    conditionProblem({ name, operator: 'eq', value }, inputs);
  for (const [name, right, wrong] of [
    ['value', '1000', 'abc'],
    ['value', '0xff', '1.5'],
    ['to', `0x${'Ab'.repeat(20)}`, 'vitalik.eth'],
    ['id', '0xab', '0xabc'],
    ['ok', 'true', 'yes'],
  ] as const) {
    expect(problemOf(name, right)).toBeUndefined();
    expect(problemOf(name, wrong)).toMatch(/^Enter/);
  }
  expect(problemOf('note', 'anything')).toBeUndefined();
  expect(problemOf('value', '')).toBeUndefined();
  expect(problemOf('unknown', 'abc')).toBeUndefined();

  const rule: EventRule = {
    signature: TRANSFER,
    conditions: [{ name: 'value', operator: 'gte', value: 'abc' }],
    filterJson: null,
  };
  const draft = { ...withEvents(NEW_DRAFT, [transfer]), rules: [rule] };
  expect(draftProblems(draft, 1).rules).toContain('The condition on value has an invalid value');
  expect(validConditions(rule, inputsOfEvent(draft.abi, TRANSFER))).toEqual([]);
});

const PAY = 'pay(address to, uint256 amount)';
const condition = fc.record({
  operator: fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte'),
  name: fc.constantFrom('to', 'amount', 'sluice_sender', 'sluice_value'),
  value: fc.nat().map(String),
});
const comparison = condition.map(({ operator, name, value }) => ({ [operator]: [name, value] }));
const filters = fc.oneof(
  comparison,
  fc.array(comparison, { minLength: 2, maxLength: 3 }).map((and) => ({ and })),
  fc.array(comparison, { minLength: 2, maxLength: 3 }).map((or) => ({ or })),
  fc.array(fc.nat().map(String), { minLength: 1 }).map((values) => ({ in: ['amount', values] })),
);
const callOption = fc.record(
  {
    function: fc.constantFrom(PAY, '0xa9059cbb', '*'),
    filter: filters,
    transactionStatus: fc.constantFrom('success', 'failed', 'any'),
  },
  { requiredKeys: ['function'] },
);

test('property: the form keeps each filter of a function, in order', () => {
  const event = { topic0: TRANSFER, filter: { eq: ['value', '1'] } };
  fc.assert(
    fc.property(fc.array(callOption, { maxLength: 4 }), (options) => {
      const calling = {
        functions: [PAY, '*'],
        transactionStatus: 'failed',
        includeInternalCalls: true,
        advancedOptions: [event, ...options],
      };
      const draft = toDraft({ ...asStream(good), ...calling } as Stream);
      expect(toFields(draft)).toMatchObject(calling);
      expect(toFields(draft)).toHaveProperty('advancedOptions', calling.advancedOptions);
      const isList = ({ filter = {} }: { filter?: object }) => !('or' in filter || 'in' in filter);
      expect(draft.callRules.map(({ filterJson }) => filterJson === null)).toEqual(
        options.map(isList),
      );
    }),
  );
});

test('property: the form keeps each filter of an event', () => {
  const events = [TRANSFER, 'Approval(address,address,uint256)'];
  const option = fc.record(
    { topic0: fc.constantFrom(...events), filter: filters },
    { requiredKeys: ['topic0'] },
  );
  fc.assert(
    fc.property(fc.array(option, { maxLength: 5 }), (options) => {
      const stream = { ...asStream(good), topic0: events, advancedOptions: options } as Stream;
      const fields = toFields(toDraft(stream)) as Partial<Stream>;
      expect(fields.topic0).toEqual(events);
      for (const event of events) {
        const [kept, given] = [fields.advancedOptions ?? [], options].map((list) =>
          list.filter(({ topic0 }) => topic0 === event),
        );
        // A single option without a filter is the same as none.
        const isNone = given?.length === 1 && given[0]?.filter === undefined;
        expect(kept).toEqual(isNone ? [] : given);
      }
    }),
  );
});

test('conditions on calls compare the sender, the value and the arguments', () => {
  const item = (name: string) => ({
    type: 'function',
    name: 'pay',
    inputs: [
      { name, type: 'address' },
      { name: '', type: 'uint256' },
    ],
  });
  const namesOf = (signature: string, abi = [item('payee')]) =>
    inputsOfCall(abi, signature).map(({ name }) => name);
  const always = ['sluice_sender', 'sluice_value'];
  expect(namesOf(PAY)).toEqual([...always, 'to', 'amount']);
  expect(namesOf('pay(address,uint256)')).toEqual([...always, 'payee']);
  expect(namesOf('0xc4076876')).toEqual([...always, 'payee']);
  expect(namesOf('0xc4076876', [])).toEqual(always);
  expect(namesOf('*')).toEqual(always);
});

test('an invalid condition on calls is a problem of the functions', () => {
  const bySender = { name: 'sluice_sender', operator: 'eq', value: 'alice' } as const;
  const rule: CallRule = {
    signature: PAY,
    conditions: [bySender],
    filterJson: null,
    transactionStatus: '',
  };
  const draft = { ...good, callRules: [rule] };
  expect(draftProblems(draft, 1)).toEqual({
    functions: 'The condition on sender has an invalid value.',
  });
  expect(validConditions(rule, inputsOfCall([], PAY))).toEqual([]);
  const empty = { ...rule, conditions: [{ ...bySender, value: ' ' }] };
  expect(draftProblems({ ...good, callRules: [empty] }, 1).functions).toBe(
    `A condition of ${PAY} is incomplete.`,
  );
  const broken = { ...rule, filterJson: '[]' };
  expect(draftProblems({ ...good, callRules: [broken] }, 1).functions).toBe(
    `The filter of ${PAY} is not valid.`,
  );
  expect(
    draftProblems({ ...good, rules: [], allAddresses: true, callRules: [rule] }, 0).rules,
  ).toBe(undefined);
});

test('functions replace the events that all addresses require, and invalid ones are named', () => {
  const all = { ...good, rules: [], allAddresses: true };
  expect(draftProblems(all, 0).rules).toMatch(/^Choose an event or a function/);
  expect(draftProblems({ ...all, calledFunctions: 'claim()' }, 0)).toEqual({});
  expect(draftProblems({ ...good, calledFunctions: 'claim()\nclaim' }, 1).functions).toMatch(
    /^“claim” is not a function/,
  );
});
