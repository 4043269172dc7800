import * as fc from 'fast-check';
import { erc20Abi, erc721Abi, toEventSelector } from 'viem';
import { describe, expect, it } from 'vitest';
import { eventTopic } from '../events.ts';
import { itemSignature } from '../signatures.ts';
import { listAbi, readAbi, readEvents, readFunction } from './readAbi.ts';

const PAUSED = { type: 'event', name: 'Paused', inputs: [], anonymous: false };
const text = JSON.stringify([PAUSED]);

describe('an ABI is found', () => {
  it.each([
    ['in a list', [PAUSED]],
    ['as a single item', PAUSED],
    ['as JSON text', text],
    ['as JSON text of JSON text', JSON.stringify(text)],
    ['in an artifact of Hardhat', { _format: 'hh-sol-artifact-1', abi: [PAUSED], bytecode: '0x' }],
    ['in an artifact of Foundry', { abi: [PAUSED], metadata: { output: { abi: [] } }, id: 3 }],
    ['in the text of an artifact', JSON.stringify({ contractName: 'A', abi: [PAUSED] })],
    ['in combined JSON of old compilers', { abi: text, bin: '' }],
    ['in the output of solc-js before 0.5', { interface: text, bytecode: '' }],
    ['in an artifact of 0x', { schemaVersion: '2.0.0', compilerOutput: { abi: [PAUSED] } }],
    ['in a response of Sourcify', { match: 'exact_match', address: '0x', abi: [PAUSED] }],
    ['in the metadata of a compiler', { compiler: {}, output: { abi: [PAUSED] }, version: 1 }],
    ['in a response of Etherscan', { status: '1', message: 'OK', result: text }],
    ['in a JSON module', { default: { abi: [PAUSED] } }],
  ])('%s', (_, given) => {
    expect(readAbi(given)).toEqual({ items: [PAUSED], uncertain: [] });
  });

  it.each([
    [{ status: '0', message: 'NOTOK', result: 'Contract source code not verified' }],
    [{ match: null, abi: null }],
    [{}],
    [null],
    [7],
    ['abi'],
    ['{"abi":'],
    [JSON.stringify(JSON.stringify(JSON.stringify(null)))],
  ])('not in %j', (given) => {
    expect(listAbi(given)).toBeUndefined();
    expect(readAbi(given)).toBeUndefined();
  });
});

describe('an ABI in normal form', () => {
  const inputsOf = (...types: object[]) =>
    readAbi([{ type: 'event', name: 'E', inputs: types }])?.items[0]?.inputs;

  it('equals the ABI of a compiler, with the same order of keys', () => {
    const components = [{ internalType: 'uint8', name: '', type: 'uint8' }];
    const inputs = [
      { components, indexed: false, internalType: 'struct S', name: 'a', type: 'tuple' },
    ];
    const event = { anonymous: true, inputs, name: 'E', type: 'event' };
    const abi = [...erc20Abi, ...erc721Abi, event].filter(({ type }) => type === 'event');
    expect(JSON.stringify(readAbi(abi)?.items)).toBe(JSON.stringify(abi));
  });

  it('does not change when it is read again', () => {
    const type = fc.constantFrom('uint', 'C.E', 'IERC20[]', '(uint8,(bool)[2])', 'tuple', 'x', '');
    const parameter = fc.record(
      {
        name: fc.constantFrom('a', null, 7),
        type,
        indexed: fc.constantFrom(true, null, 'true'),
        components: fc.constantFrom(null, [], [{ name: 'b', type: 'bool' }]),
        internalType: fc.constantFrom(null, 'enum C.E', 'contract I', 'struct S', 'Price'),
        unit: fc.constant('wei'),
      },
      { requiredKeys: [] },
    );
    const item = fc.record(
      {
        type: fc.constantFrom('event', 'function', 'error', 'impl', null),
        name: fc.constantFrom('E', '', null),
        inputs: fc.oneof(fc.constant(null), fc.array(parameter, { maxLength: 4 })),
        anonymous: fc.constantFrom(true, false, null),
        gas: fc.constantFrom(7, '7'),
        ['__proto__']: fc.constant(null),
        constructor: fc.constant(1),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(item, fc.anything()), { maxLength: 5 }), (given) => {
        const once = readAbi(given);
        expect(readAbi(once?.items)).toEqual({ items: once?.items, uncertain: [] });
        expect(readEvents(given)).toEqual(once?.items.filter((each) => each.type === 'event'));
      }),
    );
  });

  it('has no unknown keys and no null values', () => {
    const given = {
      name: 'TokenPurchase',
      anonymous: null,
      type: 'event',
      signature: 'TokenPurchase()',
      'abi.1.type': 'event',
      inputs: [
        { type: 'address', name: 'buyer', indexed: true, components: null },
        { type: 'uint256', name: null, indexed: null, unit: 'wei' },
      ],
    };
    const other = {
      type: 'function',
      name: 'assignRole',
      inputs: null,
      stateMutability: 'nonpayable',
      signature: '0x88a5bf6e',
      methodNameWithInputs: 'assignRole(uint8,address)',
      gas: '9',
    };
    expect(readAbi([given, other])?.items).toEqual([
      {
        type: 'event',
        name: 'TokenPurchase',
        inputs: [
          { type: 'address', name: 'buyer', indexed: true },
          { type: 'uint256', name: '' },
        ],
      },
      {
        type: 'function',
        name: 'assignRole',
        stateMutability: 'nonpayable',
        signature: '0x88a5bf6e',
      },
    ]);
  });

  it.each([
    [{ type: 'C.Enum' }, 'uint8'],
    [{ type: 'C.D.Enum[2][]' }, 'uint8[2][]'],
    [{ type: 'enum C.Enum' }, 'uint8'],
    [{ type: 'Enum', internalType: 'enum Enum' }, 'uint8'],
    [{ type: 'IERC20' }, 'address'],
    [{ type: 'IERC20[]' }, 'address[]'],
    [{ type: 'contract IERC20' }, 'address'],
    [{ type: 'token', internalType: 'contract token' }, 'address'],
    [{ type: 'address payable' }, 'address'],
    [{ internalType: 'uint256' }, 'uint256'],
    [{ type: ' bytes32 ' }, 'bytes32'],
    [{ type: 'uint' }, 'uint'],
  ])('has the ABI type of %j: %s', (parameter, type) => {
    expect(inputsOf(parameter)).toMatchObject([{ type }]);
  });

  it('has the components of tuples that Vyper and other tools write as text', () => {
    expect(inputsOf({ name: 'pair', type: '(uint256,uint256)', indexed: false })).toEqual([
      {
        name: 'pair',
        type: 'tuple',
        indexed: false,
        components: [
          { name: '', type: 'uint256' },
          { name: '', type: 'uint256' },
        ],
      },
    ]);
    const nested = inputsOf({ type: 'tuple(uint256 a,(bool,address)[2] b)[]' });
    expect(itemSignature({ type: 'event', name: 'E', inputs: nested })).toBe(
      'E((uint256,(bool,address)[2])[])',
    );
    const struct = { type: 'struct S[]', components: [{ name: 'a', type: 'IERC20' }] };
    expect(inputsOf(struct)).toEqual([
      { name: '', type: 'tuple[]', components: [{ name: 'a', type: 'address' }] },
    ]);
  });

  it('contains events without a type, and events in Solidity', () => {
    const [first, second, third] =
      readAbi([
        { name: 'A', inputs: [{ name: 'a', type: 'uint8', indexed: false }] },
        { name: 'B', inputs: [], anonymous: false },
        'event Transfer(address indexed from, address indexed to, uint value)',
        { name: 'transfer', inputs: [{ name: 'to', type: 'address' }], outputs: [] },
        'function transfer(address to)',
      ])?.items ?? [];
    expect([first?.type, second?.type]).toEqual(['event', 'event']);
    expect(third && eventTopic(third)).toBe(toEventSelector('Transfer(address,address,uint256)'));
    expect(third?.inputs?.map(({ indexed }) => indexed)).toEqual([true, true, false]);
    const read = readAbi([{ name: 'transfer', inputs: [{ name: 'to', type: 'address' }] }]);
    expect(read?.items).toEqual([
      { type: 'function', name: 'transfer', inputs: [{ name: 'to', type: 'address' }] },
    ]);
  });

  it.each([
    { type: 'function', name: 'f', inputs: [{ name: 'x', type: 'mycontract.Field' }] },
    { type: 'function', name: 'f', inputs: [{ name: 'x', type: 'Storage.Data storage' }] },
    { type: 'function', name: 'f', inputs: [{ name: 'x', type: 'IPoolManager' }] },
    { type: 'function', name: 'f', inputs: [{ name: 'x', type: '(uint32' }] },
    { type: 'function', name: 'f', inputs: [{ name: 'x', type: '' }], outputs: 7 },
    { type: 'function' },
    { type: 'impl', name: 'C', interface_name: 'I' },
    { type: 7 },
    null,
    5,
    'constructor()',
  ])('leaves out %j, which is not an event, without a problem', (item) => {
    expect(readAbi([item, PAUSED])).toEqual({ items: [PAUSED], uncertain: [] });
  });

  it.each([
    [{ name: 7 }, ['name'], 'should be the name of the event, not number'],
    [{ inputs: 'none' }, ['inputs'], 'should be a list of parameters, not "none"'],
    [{ inputs: [7] }, ['inputs', 0], 'should be a parameter, not number'],
    [
      { inputs: [{ name: 'a', type: 'uint7' }] },
      ['inputs', 0, 'type'],
      'should be a Solidity type, e.g. uint256, address[] or tuple, not "uint7"',
    ],
    [
      { inputs: [{ type: 'Price', internalType: 'Price' }] },
      ['inputs', 0, 'type'],
      'should be a Solidity type, e.g. uint256, address[] or tuple, not "Price"',
    ],
    [
      { inputs: [{ type: 'tuple', components: [{ type: 'Data storage' }] }] },
      ['inputs', 0, 'components', 0, 'type'],
      'should be a Solidity type, e.g. uint256, address[] or tuple, not "Data storage"',
    ],
    [
      { inputs: [{ type: 'tuple[2]', components: [] }] },
      ['inputs', 0, 'components'],
      'should be the components of the tuple',
    ],
    [
      { inputs: [{ type: `uint8${'[]'.repeat(200)}` }] },
      ['inputs', 0, 'type'],
      'should be at most 256 characters',
    ],
    [
      { inputs: Array.from({ length: 4 }, () => ({ type: 'bool', indexed: true })) },
      ['inputs'],
      'should be a list with at most 3 indexed inputs',
    ],
  ])('reports the event with %j', (fields, path, message) => {
    const event = { type: 'event', name: 'Sold', ...fields };
    const name = typeof event.name === 'string' ? 'Sold' : undefined;
    expect(readAbi([PAUSED, event])).toEqual({
      items: [PAUSED],
      uncertain: [{ name, path: [1, ...path], message }],
    });
  });

  it('reports an event in Solidity that it cannot parse, with its name', () => {
    expect(readAbi(['event Sold(price)'])?.uncertain).toEqual([
      {
        name: 'Sold',
        path: [0],
        message: 'should be an event in Solidity, not "event Sold(price)"',
      },
    ]);
  });

  it('limits the nesting of tuples', () => {
    let parameter: object = { type: 'bool' };
    for (let n = 0; n < 5_000; n++) parameter = { type: 'tuple', components: [parameter] };
    const { items, uncertain } = readAbi([{ type: 'event', name: 'E', inputs: [parameter] }])!;
    expect(items).toEqual([]);
    expect(uncertain[0]?.message).toBe('should be nested at most 16 levels deep');
  });
});

it('a function keeps its type, and the reason is returned if it is invalid', () => {
  const given = { type: 'function', name: 'f', inputs: [{ type: 'uint8', unit: 'wei' }] };
  expect(readFunction({ ...given, methodNameWithInputs: 'f(uint8)' })).toEqual({
    type: 'function',
    name: 'f',
    inputs: [{ name: '', type: 'uint8' }],
  });
  expect(readFunction({ ...given, inputs: [{ type: 'IERC20' }] })).toMatchObject({
    path: ['inputs', 0, 'type'],
  });
  expect(readFunction(null)).toEqual({ path: [], message: 'should be an ABI item, not object' });
});
