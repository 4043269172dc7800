import type { Stream } from '@sluice/kit';
import { createEvmStreamSchema } from '@sluice/kit/calls';
import { parseFunctionSignature } from '@sluice/kit/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeChanges } from '../../../routes/streamForm/draft/changeWords.ts';
import { NEW_DRAFT, type StreamDraft } from '../../../routes/streamForm/draft/draft.ts';
import { toDraft, toFields } from '../../../routes/streamForm/draft/fields.ts';
import { draftProblems } from '../../../routes/streamForm/draft/problems.ts';
import { canRun } from '../../../routes/streamForm/dryRun/dryRunQuestion.ts';
import type { ReadDraft } from '../draft.ts';
import {
  decimalsOf,
  functionOf,
  functionTexts,
  NEW_READ,
  outputsOf,
  readProblems,
  toRead,
} from './reads.ts';

const ADDRESS = '0x5fbdb2315678afecb367f032d93f642f64180aa3';
const SUPPLY = 'totalSupply() returns (uint256)';
const PRICE =
  'getPrice(string name, bool live) returns ((uint256 value, address by) price, bool ok)';
const call: ReadDraft = { ...NEW_READ, contract: ADDRESS, function: SUPPLY };
const balance: ReadDraft = {
  ...NEW_READ,
  source: 'native',
  of: ADDRESS,
  when: { kind: 'below', limit: '1,000.5' },
};
const withReads = (...reads: ReadDraft[]): StreamDraft => ({
  ...NEW_DRAFT,
  chains: ['0x1'],
  webhookUrl: 'https://example.com/hook',
  tag: 'values',
  reads,
});
const itemOf = (text: string) => parseFunctionSignature(text)!.item!;

test('property: the form keeps each read', () => {
  const threshold = fc.tuple(fc.integer(), fc.nat()).map(([whole, part]) => `${whole}.${part}`);
  const when = fc.oneof(
    fc.constant('changes'),
    fc.record({ every: fc.integer({ min: 1, max: 1000 }) }),
    fc.record({ every: fc.integer({ min: 1, max: 1000 }), unit: fc.constant('seconds') }),
    fc
      .tuple(fc.constantFrom('below', 'above', 'crosses'), threshold)
      .map(([kind, limit]) => ({ [kind]: limit })),
  );
  const called = fc.record(
    {
      contract: fc.constant(ADDRESS),
      function: fc.constantFrom('a(string x, uint256[] y) returns (bytes z)', 'unknownName'),
      arguments: fc.tuple(
        fc.string({ minLength: 1 }).map((text) => text.trim() || 'x'),
        fc.array(fc.nat().map(String)),
      ),
      output: fc.constantFrom('z', '0'),
      decimals: fc.nat(77),
      when,
    },
    { requiredKeys: ['contract', 'function', 'arguments', 'when'] },
  );
  const held = fc.record(
    {
      balance: fc.constantFrom('native', ADDRESS),
      of: fc.array(fc.constant(ADDRESS), { minLength: 1, maxLength: 3 }),
      decimals: fc.nat(77),
      when,
    },
    { requiredKeys: ['balance', 'when'] },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(called, held), { maxLength: 4 }), (reads) => {
      const stream = { ...toFields(withReads()), reads } as unknown as Stream;
      expect(toFields(toDraft(stream))).toHaveProperty('reads', reads);
    }),
  );
});

test('a stream of values needs no addresses, unless it reads their balances', () => {
  const draft = withReads(call, balance);
  expect(draftProblems(draft, 0)).toEqual({});
  expect(createEvmStreamSchema.safeParse(toFields(draft)).error).toBeUndefined();
  expect(toRead(balance, []).when).toEqual({ below: '1000.5' });
  expect(Object.keys(draftProblems(withReads({ ...balance, of: '' }), 0))).toEqual(['addresses']);
  expect(draftProblems(withReads({ ...balance, of: '' }), 1)).toEqual({});
  expect(canRun(draft, [])).toBe(false);
});

test('a function is a signature with outputs, or one of the ABI', () => {
  const abi = [itemOf(SUPPLY), itemOf('a() returns (bool)'), itemOf('a(bool) returns (bool)')];
  expect(functionOf(SUPPLY, [])).toMatchObject({ name: 'totalSupply' });
  expect(functionOf('totalSupply', abi)).toBe(abi[0]);
  expect(functionOf('a(bool)', abi)).toBe(abi[2]);
  expect(functionOf('a', abi)).toBeUndefined();
  expect(functionOf('totalSupply()', [])).toBeUndefined();
  expect(functionOf('burn() returns ()', [])).toBeUndefined();
  const views = abi.map((item, n) => ({ ...item, stateMutability: n === 0 ? 'view' : 'payable' }));
  expect(functionTexts(views)).toEqual([SUPPLY]);
});

test('an output is chosen if there are several, also inside a struct', () => {
  expect(outputsOf(itemOf(SUPPLY))).toEqual([]);
  expect(outputsOf(itemOf(PRICE)).map(({ path }) => path)).toEqual([
    'price',
    'price.value',
    'price.by',
    'ok',
  ]);
});

test.each<[Partial<ReadDraft>, string, string]>([
  [{ contract: '' }, 'contract', 'Enter the address of the contract'],
  [{ source: 'token', contract: 'USDC' }, 'contract', 'Enter the address of the token'],
  [{ function: 'totalSupply()' }, 'function', 'Enter a view function with its result'],
  [{ function: PRICE, arguments: ['', 'maybe'] }, 'arguments.1', 'Enter true or false.'],
  [{ function: PRICE, arguments: ['ETH'] }, 'arguments.1', 'Enter a value.'],
  [{ function: 'a(uint256[] x) returns (bool)', arguments: ['1'] }, 'arguments.0', 'Enter a JSON'],
  [{ output: 'rate' }, 'output', 'Choose an output of the function.'],
  [{ source: 'native', of: 'vitalik.eth' }, 'of', '“vitalik.eth” is not an address'],
  [{ decimals: '78' }, 'decimals', 'Enter a number from 0 to 77'],
  [{ when: { kind: 'blocks', limit: '0' } }, 'when', 'Enter a whole number from 1'],
  [{ when: { kind: 'crosses', limit: 'lots' } }, 'when', 'Enter a number, such as'],
  [{ when: { kind: 'crosses', limit: '1,00' } }, 'when', 'Enter a number, such as'],
])('%j is a problem in %s', (change, field, message) => {
  const wrong = { ...call, ...change };
  expect(readProblems(wrong, [])).toEqual({ [field]: expect.stringContaining(message) });
  expect(draftProblems(withReads(call, wrong), 1).reads).toContain(`Value 2: ${message}`);
});

test('only an integer can be compared', () => {
  const price = { ...call, function: PRICE, arguments: ['ETH', 'true'] };
  const when = { kind: 'above', limit: '1' } as const;
  const problemOf = (output: string) => readProblems({ ...price, output, when }, [])['output'];
  expect(problemOf('')).toBe('Choose the output to compare.');
  expect(problemOf('ok')).toMatch(/^Only integers can be compared, not bool/);
  expect(problemOf('price.value')).toBeUndefined();
  expect(readProblems(price, [])).toEqual({});
  expect(toRead({ ...price, arguments: [' [1] ', 'true', 'more'] }, []).arguments).toEqual([
    ' [1] ',
    'true',
  ]);
});

test('the unit of a threshold has the decimals of the value, unless others are given', () => {
  expect(decimalsOf(balance, undefined)).toBe(18);
  expect(decimalsOf(call, undefined)).toBe(0);
  expect(decimalsOf({ ...balance, source: 'token' }, 6)).toBe(6);
  expect(decimalsOf({ ...balance, source: 'token' }, undefined)).toBeNull();
  expect(decimalsOf({ ...balance, source: 'token', decimals: '8' }, 6)).toBe(8);
});

test('changes of values are sentences', () => {
  const [change] = describeChanges(withReads(call), withReads(call, balance), {
    tokens: [],
    only: null,
  });
  expect(change).toEqual({
    label: 'Reads',
    before: 'totalSupply() of 0x5fbd…0aa3 when it changes',
    after:
      'totalSupply() of 0x5fbd…0aa3 when it changes, native balance of 0x5fbd…0aa3 when it falls below 1,000.5',
  });
});
