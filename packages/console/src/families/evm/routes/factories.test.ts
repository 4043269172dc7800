import type { Stream } from '@sluice/kit';
import { createEvmStreamSchema } from '@sluice/kit/calls';
import { parseEvent } from '@sluice/kit/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toDraft, toFields } from '../../../routes/streamForm/draft/fields.ts';
import { NEW_DRAFT, type StreamDraft } from '../../../routes/streamForm/draft/draft.ts';
import { describeChanges } from '../../../routes/streamForm/draft/changeWords.ts';
import { draftProblems } from '../../../routes/streamForm/draft/problems.ts';
import { canRun, toDryRunFields } from '../../../routes/streamForm/dryRun/dryRunQuestion.ts';
import type { FactoryDraft } from '../draft.ts';
import {
  addressParameters,
  describeFactory,
  eventTexts,
  factoryProblems,
  NEW_FACTORY,
  parentsOf,
  withEvent,
  withoutFactory,
} from './factories.ts';

const ADDRESS = '0x1f98431c8ad98523631ae4a59f267346ea31f984';
const CREATED = 'PoolCreated(address indexed token0, address indexed token1, address pool)';
const factory: FactoryDraft = {
  address: ADDRESS,
  childrenOf: null,
  event: CREATED,
  parameter: 'pool',
  from: '',
};
const childOf = (childrenOf: number): FactoryDraft => ({ ...factory, address: '', childrenOf });
const withFactories = (...factories: FactoryDraft[]): StreamDraft => ({
  ...NEW_DRAFT,
  chains: ['0x1'],
  webhookUrl: 'https://example.com/hook',
  tag: 'pools',
  factories,
});

test('property: the form keeps each factory', () => {
  const source = fc.oneof(
    fc.record({ address: fc.constant(ADDRESS) }),
    fc.record({ childrenOf: fc.constant(0) }),
  );
  const rest = fc.record(
    {
      from: fc.constantFrom(0, 12_369_621),
      event: fc.constantFrom(CREATED, 'PoolCreated'),
      parameter: fc.string(),
    },
    { requiredKeys: ['event', 'parameter'] },
  );
  const entry = fc.tuple(source, rest).map(([from, others]) => ({ ...from, ...others }));
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 4 }), (factories) => {
      const stream = { ...toFields(withFactories()), factories } as unknown as Stream;
      expect(toFields(toDraft(stream))).toMatchObject({ factories });
    }),
  );
});

test('a stream of factories needs no addresses, and its draft is valid', () => {
  const draft = withFactories(factory, { ...childOf(0), from: '12' });
  expect(draftProblems(draft, 0)).toEqual({});
  expect(createEvmStreamSchema.safeParse(toFields(draft)).error).toBeUndefined();
  expect(canRun(draft, [])).toBe(true);
  expect(draftProblems({ ...draft, allAddresses: true }, 0).factories).toMatch(/^Remove the fac/);
  expect(Object.keys(draftProblems(withFactories(), 0))).toEqual(['addresses']);
});

test('the parameters of an event that can be children have a path', () => {
  const event = 'A(address indexed, (address token, uint256 x) pool, address[] list, bytes32 id)';
  expect(addressParameters(event, [])).toEqual(['arg0', 'pool.token', 'list']);
  // Logs have only the hash of an indexed list.
  expect(addressParameters('A(address[] indexed list, uint256 x)', [])).toEqual([]);
  const abi = [parseEvent(CREATED)!];
  for (const text of ['PoolCreated', 'PoolCreated(address,address,address)']) {
    expect(addressParameters(text, abi)).toEqual(['token0', 'token1', 'pool']);
  }
  expect(addressParameters('PoolCreated', [])).toEqual([]);
  expect(addressParameters('PoolCreated(address,address,address)', [])).toEqual([
    'arg0',
    'arg1',
    'arg2',
  ]);
  expect(eventTexts([...abi, parseEvent('Paused(uint256 x)')!])).toEqual([CREATED]);
});

test('another event selects its last address, unless it has the selected parameter', () => {
  const made = 'Made(address maker, address pool, uint256 x, address owner)';
  expect(withEvent(NEW_FACTORY, CREATED, []).parameter).toBe('pool');
  expect(withEvent(factory, made, []).parameter).toBe('pool');
  expect(withEvent({ ...factory, parameter: 'token0' }, made, []).parameter).toBe('owner');
  // The parameter stays while the event is typed.
  expect(withEvent(factory, 'Made(addr', []).parameter).toBe('pool');
});

test.each<[Partial<FactoryDraft>, string, string]>([
  [{ address: '0x12' }, 'address', 'Enter the address of the factory'],
  [{ event: 'Pool Created' }, 'event', 'Enter an event with the names'],
  [{ event: 'Paused(uint256 x)' }, 'event', 'Enter an event that has an address.'],
  [{ parameter: 'fee' }, 'parameter', 'Choose the parameter'],
  [{ from: 'genesis' }, 'from', 'Enter a block number'],
])('%j is a problem in %s', (change, field, message) => {
  const wrong = { ...factory, ...change };
  expect(factoryProblems(wrong, [])).toEqual({ [field]: expect.stringContaining(message) });
  expect(draftProblems(withFactories(factory, wrong), 0).factories).toContain(
    `Factory 2: ${message}`,
  );
  // A dry run leaves out invalid factories, and the children of those.
  expect(toDryRunFields(withFactories(wrong, factory, childOf(0), childOf(1)))).toMatchObject({
    factories: [{ address: ADDRESS }, { childrenOf: 0 }],
  });
  expect(canRun(withFactories(wrong), [])).toBe(false);
});

test('children of children have at most three generations', () => {
  const chain = [factory, childOf(0), childOf(1), childOf(2)];
  expect(parentsOf(chain, 0)).toEqual([]);
  expect(parentsOf(chain, 2)).toEqual([0, 1]);
  expect(parentsOf(chain, 3)).toEqual([0, 1]);
});

test('the positions of factories follow the removal of an earlier one', () => {
  const left = withoutFactory([factory, factory, childOf(1), childOf(0)], 0);
  expect(left.map(({ childrenOf }) => childrenOf)).toEqual([null, 0, null]);
});

test('a factory and its changes are sentences', () => {
  expect(describeFactory({ address: ADDRESS, event: CREATED, parameter: 'pool' })).toBe(
    'children of 0x1f98…f984: pool of PoolCreated, new ones only',
  );
  const before = withFactories(factory);
  const after = withFactories({ ...childOf(0), from: '12000' });
  expect(describeChanges(before, after, { tokens: [], only: null })).toEqual([
    {
      label: 'Factories',
      before: 'children of 0x1f98…f984: pool of PoolCreated, new ones only',
      after: 'children of the children of factory 1: pool of PoolCreated, from block 12,000',
    },
  ]);
});
