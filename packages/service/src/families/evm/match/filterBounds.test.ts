import type { AbiItem, ExplainReason } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { stopped } from '../../../match/reasons.ts';
import { compileFilter } from './filter.ts';
import { DEFAULT_OPTIONS } from '../../../store/streams/contract.ts';
import { checkRules } from './rules.ts';
import { createSelection } from './selection.ts';

const TOPIC = 'Paid(uint256)';
const inputs = [{ name: 'value', type: 'uint256' }];
const abi: AbiItem[] = [{ type: 'event', name: 'Paid', inputs }];
const optionsOf = (filters: readonly object[]) => ({
  topic0: null,
  abi,
  advancedOptions: filters.map((filter) => ({ topic0: TOPIC, filter: { ...filter } })),
});
const gt = (n: number) => ({ gt: ['value', n] });
const many = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

test('the inputs of an event are read once for any number of options', () => {
  let reads = 0;
  const event = {
    type: 'event',
    name: 'Paid',
    get inputs() {
      reads++;
      return inputs;
    },
  };
  const readsOf = (count: number): number => {
    reads = 0;
    createSelection({ ...optionsOf(many(count, gt)), abi: [event] });
    return reads;
  };
  expect(readsOf(1)).toBeGreaterThan(0);
  expect(readsOf(1_000)).toBe(readsOf(1));
});

test('comparisons are counted by their cost for a log', () => {
  const countOf = (...filters: object[]): number => createSelection(optionsOf(filters)).comparisons;
  expect(countOf({ or: many(700, gt) })).toBe(700);
  expect(countOf(gt(1), { and: [gt(1), { or: [gt(2), gt(3)] }] })).toBe(4);
  expect(countOf({ in: ['value', many(10_000, String)] })).toBe(1);
  expect(countOf({ or: many(10_000, (n) => ({ eq: ['value', n] })) })).toBe(1);
  expect(countOf({}, {})).toBe(2);
});

test('a stream may have at most 1,000 comparisons, and an invalid filter is named', () => {
  const pathsOf = (...filters: object[]) =>
    checkRules({ ...DEFAULT_OPTIONS, ...optionsOf(filters) }).map(({ path }) => path.join('.'));
  expect(pathsOf({ or: many(1_000, gt) })).toEqual([]);
  expect(pathsOf({ or: many(1_000, gt) }, gt(1))).toEqual(['advancedOptions']);
  expect(pathsOf(gt(1), { gt: ['nothing', 1] })).toEqual([
    expect.stringMatching(/^advancedOptions\.1\.filter/),
  ]);
});

test('errors and explanations name only a few of many inputs', () => {
  const wide: AbiItem = {
    type: 'event',
    name: 'Wide',
    inputs: many(5_000, (n) => ({ name: `input${n}`, type: 'string' })),
  };
  expect(() => compileFilter({ eq: ['x', 1] }, wide)).toThrow(
    /^should be an input, or one of input4983, .*, moralis_streams_possibleSpam$/,
  );
  const filter = compileFilter({ eq: ['input0', 'a'.repeat(100_000)] }, wide);
  const args = { input0: 'b'.repeat(100_000) };
  const subject = { args, contract: '', chain: '', possibleSpam: false };
  expect(filter.explain(subject).length).toBeLessThan(300);
});

test('explanations have words for special names, and conditions the names', () => {
  const token = `0x${'1'.repeat(40)}`;
  const filter = compileFilter(
    {
      and: [
        { eq: ['moralis_streams_contract_address', token] },
        { ne: ['moralis_streams_possibleSpam', true] },
      ],
    },
    abi[0]!,
  );
  const subject = { args: {}, contract: token, chain: '0x1', possibleSpam: false };
  expect(filter.explain(subject)).toBe(
    `contract ${token} is = ${token}; possible spam false is != true`,
  );
  expect([...filter.conditions(subject)].map(({ name }) => name)).toEqual([
    'moralis_streams_contract_address',
    'moralis_streams_possibleSpam',
  ]);
});

test('the conditions of a filter are in its order, cut to 20, and do not read the rest', () => {
  let reads = 0;
  const subjectOf = (value: bigint) => ({
    args: {
      get value() {
        reads++;
        return value;
      },
    },
    contract: '',
    chain: '',
    possibleSpam: false,
  });
  const reasonOf = (filter: object, value: bigint): ExplainReason => {
    const compiled = compileFilter(filter, abi[0]!);
    return stopped('filter', '', compiled.conditions(subjectOf(value)));
  };
  const textOf = ({ conditions = [] }: ExplainReason): string =>
    conditions
      .map(({ alternative, name, rule, value, holds }) =>
        [alternative ? 'or ' : '', `${name} ${rule}: ${value}`, holds ? '' : ' ✗'].join(''),
      )
      .join(', ');
  const filter = {
    or: [{ in: ['value', [1, 2]] }, { and: [gt(3), { lte: ['value', 9] }] }, { ne: ['value', 7] }],
  };
  expect(textOf(reasonOf(filter, 7n))).toBe(
    'value of 1, 2: 7 ✗, or value > 3: 7, value ≤ 9: 7, or value != 7: 7 ✗',
  );

  reads = 0;
  expect(reasonOf({ or: many(1_000, gt) }, 0n).conditions).toHaveLength(20);
  expect(reads).toBeLessThan(100);
});
