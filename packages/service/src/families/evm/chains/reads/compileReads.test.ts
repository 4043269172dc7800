import type { StreamRead } from '@sluice/kit/contract';
import { encodeAbiParameters, parseAbiParameters } from 'viem';
import { describe, expect, test } from 'vitest';
import { checkReads, compileReads } from './compileReads.ts';

const CONTRACT = `0x${'11'.repeat(20)}`;
const OTHER = `0x${'22'.repeat(20)}`;
const compile = (read: Partial<StreamRead>) =>
  compileReads({ reads: [{ contract: CONTRACT, when: 'changes', ...read }], abi: null }).fixed[0]!;
const problemOf = (read: Partial<StreamRead>) => {
  const reads: StreamRead[] = [{ contract: CONTRACT, when: 'changes', ...read }];
  return checkReads({ reads, abi: null })[0];
};

const PAIR = 'pair() returns ((uint256 value, bool isNew) price, string name)';
const encoded = encodeAbiParameters(parseAbiParameters('(uint256,bool),string'), [[7n, true], 'x']);

describe('the value of a call', () => {
  test('is the only output, all of them, or the one at a path of names or positions', () => {
    const valueOf = (output?: string): unknown =>
      JSON.parse(compile({ function: PAIR, ...(output && { output }) }).toValue(encoded)!);
    expect(valueOf()).toEqual([['7', true], 'x']);
    expect(valueOf('name')).toBe('x');
    expect(valueOf('price')).toEqual(['7', true]);
    expect(valueOf('price.value')).toBe('7');
    expect(valueOf('0.1')).toBe(true);
    const single = compile({ function: 'f() returns (int8)' });
    expect(single.toValue(encodeAbiParameters([{ type: 'int8' }], [-3]))).toBe('"-3"');
  });

  test('is undefined if the result does not have the outputs', () => {
    expect(compile({ function: PAIR }).toValue('0x1234')).toBeUndefined();
    expect(compile({ function: 'f() returns (string)' }).toValue(`0x${'ff'.repeat(64)}`)).toBe(
      undefined,
    );
  });

  test('of a token is its balance, also if the token returns more', () => {
    const balance = compileReads({
      reads: [{ balance: OTHER, of: [CONTRACT], when: { below: '1' } }],
      abi: null,
    }).fixed[0]!;
    const result = encodeAbiParameters(parseAbiParameters('uint256,uint256'), [9n, 1n]);
    expect(balance.toValue(result)).toBe('"9"');
    expect(balance.toValue('0x01')).toBeUndefined();
    expect(balance.token).toBe(OTHER);
  });
});

test('a value and its condition have a key that depends on nothing else', () => {
  const { key } = compile({ function: 'f(uint8 a) returns (uint256 b)', arguments: ['1'] });
  expect(compile({ function: 'f(uint8) returns (uint256)', arguments: [1] }).key).toBe(key);
  const others = [
    compile({ function: 'f(uint8) returns (uint256)', arguments: ['2'] }),
    compile({ function: 'f(uint8) returns (int256)', arguments: ['1'] }),
    compile({ contract: OTHER, function: 'f(uint8) returns (uint256)', arguments: ['1'] }),
    compile({ function: 'f(uint8) returns (uint256)', arguments: ['1'], when: { every: 2 } }),
    compile({ function: 'f(uint8) returns (uint256)', arguments: ['1'], decimals: 2 }),
  ];
  expect(new Set([key, ...others.map((each) => each.key)]).size).toBe(6);
});

test('a function can be named by the ABI', () => {
  const item = {
    type: 'function',
    name: 'cap',
    inputs: [],
    outputs: [{ name: '', type: 'uint256' }],
  };
  const reads: StreamRead[] = [{ contract: CONTRACT, function: 'cap', when: { above: '1' } }];
  expect(checkReads({ reads, abi: [item] })).toEqual([]);
  expect(checkReads({ reads, abi: [] })[0]?.path).toEqual(['reads', 0, 'function']);
});

test('reads that cannot be made are rejected with their path', () => {
  expect(problemOf({ function: PAIR, output: 'price.unknown' })).toMatchObject({
    path: ['reads', 0, 'output'],
    message: 'should be one of value, isNew',
  });
  expect(problemOf({ function: PAIR, output: 'name.more' })?.message).toBe(
    'should end before more',
  );
  expect(problemOf({ function: PAIR, when: { below: '1' } })).toMatchObject({
    path: ['reads', 0, 'output'],
    message: 'should name the output to compare: price, name',
  });
  expect(problemOf({ function: 'f(uint8) returns (bool)', arguments: ['256'] })).toMatchObject({
    path: ['reads', 0, 'arguments', 0],
  });
  expect(
    problemOf({ function: 'f(fixed128x18 a) returns (bool)', arguments: ['1'] })?.path,
  ).toEqual(['reads', 0, 'function']);
  const many: StreamRead[] = [1, 2].map(() => ({
    balance: 'native',
    of: Array.from({ length: 501 }, () => CONTRACT),
    when: 'changes',
  }));
  expect(checkReads({ reads: many, abi: null })[0]?.path).toEqual(['reads']);
});
