import { expect, test } from 'vitest';
import { type AnyStream, compareFields } from './streamFields.ts';

const call = { type: 'function', name: 'f', inputs: [], outputs: [], stateMutability: 'view' };
const stored = {
  tag: 'a',
  description: '',
  abi: [{ type: 'event', name: 'Bought', inputs: [{ name: 'wei', type: 'uint256' }] }],
  triggers: [{ type: 'tx', contractAddress: '$toAddress', functionAbi: call }],
} as unknown as AnyStream;

test('an ABI in another form is not a change', () => {
  const item = {
    type: 'event',
    name: 'Bought',
    anonymous: null,
    inputs: [{ name: 'wei', type: 'uint256', unit: 'wei' }],
  };
  const library = { type: 'function', name: 'f', inputs: [{ type: 'IPoolManager' }] };
  const triggers = [
    {
      type: 'tx',
      contractAddress: '$toAddress',
      functionAbi: { ...call, methodNameWithInputs: 'f()' },
    },
  ];
  for (const abi of [[item, library], JSON.stringify({ abi: [item] })]) {
    expect(compareFields(stored, { tag: 'a', description: '', abi, triggers })).toEqual([]);
  }
  const other = [{ ...item, name: 'Sold' }];
  const changes = compareFields(stored, { tag: 'a', description: '', abi: other, triggers });
  expect(changes.map(({ field }) => field)).toEqual(['abi']);
});

test('an omitted field gets its default: an empty list, because null leaves a list unchanged', () => {
  const changed = { ...stored, topic0: ['a'], functions: ['b'], maxInFlight: 2, strictOrder: true };
  const reset = Object.fromEntries(
    compareFields(changed, { tag: 'a' }).map(({ field, to }) => [field, to]),
  );
  expect(reset).toEqual({
    topic0: [],
    functions: [],
    abi: [],
    triggers: [],
    maxInFlight: null,
    strictOrder: false,
  });
});
