import fc from 'fast-check';
import { type AbiFunction, parseAbiItem, toFunctionSelector } from 'viem';
import { expect, it } from 'vitest';
import type { AbiItem } from '../shapes.generated.ts';
import { parseFunctionSignature, selectorOf, writeFunction } from './functions.ts';

it.each([
  'transfer(address,uint256)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function swap((address token, uint24 fee)[] path, bytes calldata data) external payable',
  'function pay(address payable to) public view returns (uint256 paid, (bool, string)[2] memory)',
  'nothing()',
])('%s has the selector and the inputs that viem reads', (text) => {
  const item = parseAbiItem([text.startsWith('function') ? text : `function ${text}`] as never);
  const read = parseFunctionSignature(text);
  expect(read?.selector).toBe(toFunctionSelector(item as AbiFunction));
  const named = read?.item?.inputs?.map(({ name }) => name);
  expect(named).toEqual((item as AbiFunction).inputs.map(({ name = '' }) => name));
});

it('a selector is read in lowercase, and other text is refused', () => {
  expect(parseFunctionSignature('0xA9059CBB')).toEqual({ selector: '0xa9059cbb' });
  for (const text of [
    '',
    '*',
    'transfer',
    'transfer(',
    '0xa9059c',
    'transfer(adress)',
    'f(uint256) event',
    'f(uint256 indexed a)',
  ]) {
    expect(parseFunctionSignature(text)).toBeUndefined();
  }
  expect(selectorOf('0xA9059CBB00')).toBe('0xa9059cbb');
  expect(selectorOf('0xa9059c')).toBeUndefined();
});

it('property: an ABI item written as text is read as the same function', () => {
  const name = fc.stringMatching(/^[a-z][a-zA-Z0-9_]{0,8}$/).filter((it) => !RESERVED.has(it));
  const { parameter } = fc.letrec<{ parameter: NonNullable<AbiItem['inputs']>[number] }>((tie) => ({
    parameter: fc.oneof(
      { maxDepth: 2 },
      fc.record({
        name: fc.oneof(fc.constant(''), name),
        type: fc.constantFrom('uint256', 'address', 'bytes', 'bool[2]', 'string[]', 'int8[][3]'),
      }),
      fc.record({
        name: fc.oneof(fc.constant(''), name),
        type: fc.constantFrom('tuple', 'tuple[]', 'tuple[4]'),
        components: fc.array(tie('parameter'), { minLength: 1, maxLength: 3 }),
      }),
    ),
  }));
  fc.assert(
    fc.property(name, fc.array(parameter, { maxLength: 3 }), (called, inputs) => {
      const item: AbiItem = { type: 'function', name: called, inputs };
      const read = parseFunctionSignature(writeFunction(item));
      expect(read?.item).toEqual(item);
      expect(read?.selector).toBe(toFunctionSelector(item as never));
    }),
  );
});

/** Words that have a meaning of their own in a signature. */
const RESERVED = new Set([
  'payable',
  'memory',
  'calldata',
  'storage',
  'function',
  'tuple',
  'indexed',
]);
