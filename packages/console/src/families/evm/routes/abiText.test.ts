import { expect, test } from 'vitest';
import { parseEvents } from './abiText.ts';
import { indexOf } from '../../../ui/form/lineProblem.ts';

test('the ABI field reads Solidity, canonical signatures and hashes, one per line', () => {
  const hash = `0x${'ab'.repeat(32)}`;
  const { items, signatures, problems, rest } = parseEvents(
    `event Transfer(address indexed from, address indexed to, uint256 value);
     // what an owner allows
     Approval(address,address,uint256) // by anybody
     ${hash}`,
  );
  expect(items).toMatchObject([
    { type: 'event', name: 'Transfer', inputs: [{ name: 'from', indexed: true }, {}, {}] },
  ]);
  expect(signatures).toEqual(['Approval(address,address,uint256)', hash]);
  expect({ problems, rest }).toEqual({ problems: [], rest: '' });
});

test('the ABI field reads an event from source code over several lines', () => {
  const { items, problems } = parseEvents(
    'event Filled(\n  address indexed maker, // who offered\n  uint256 value\n);\n\nPing()',
  );
  expect(problems).toEqual([]);
  expect(items).toMatchObject([{ name: 'Filled', inputs: [{ name: 'maker' }, { name: 'value' }] }]);
});

test('the ABI field reads the events of an ABI or artifact, or a single event', () => {
  const event = { type: 'event', name: 'Ping', inputs: [] };
  const abi = [event, { type: 'function', name: 'ping', inputs: [] }];
  expect(parseEvents(JSON.stringify(abi)).items).toEqual([event]);
  expect(parseEvents(JSON.stringify({ abi })).items).toEqual([event]);
  expect(parseEvents(JSON.stringify(event)).items).toEqual([event]);
});

test('the ABI field reports each invalid line, and adds the others', () => {
  const text = `Transfer(address,adress,uint256)
Ping()
event Filled(
  address indexed maker,
  IERC20 token
);
Approval(address,address
what`;
  const { signatures, problems, rest } = parseEvents(text);
  expect(signatures).toEqual(['Ping()']);
  expect(problems.map(({ line, column }) => [line, column])).toEqual([
    [1, 18],
    [5, 3],
    [7, 25],
    [8, 5],
  ]);
  const named = problems.map((each) => text.slice(indexOf(text, each)).split(/\W/)[0]);
  expect(named).toEqual(['adress', 'IERC20', '', '']);
  expect(rest).toBe(text.replace('Ping()\n', ''));
});

test.each([
  ['Transfer(address,adress,uint256)', '“adress” is not a valid type. Did you mean address?'],
  [
    'Transfer(uint265)',
    '“uint265” is not a valid type. Integers have 8 to 256 bits, in steps of 8.',
  ],
  ['Transfer(bytes33)', '“bytes33” is not a valid type. Use bytes, or bytes1 to bytes32.'],
  [
    'Sold(IERC20)',
    '“IERC20” is not a valid type. Use address for a contract, uint8 for an enum, and (type,type) for a struct.',
  ],
  ['Sold(price)', '“price” is not a valid type. Use a type such as address, uint256 or bytes32.'],
  ['Sold(address,)', 'A type is missing here.'],
  ['Transfer', 'Add the parameter types in parentheses, such as Transfer(address,uint256).'],
  ['Transfer(address', 'A closing parenthesis is missing at the end.'],
  ['Transfer(address from to)', 'A comma or a closing parenthesis is missing before “to”.'],
  ['Transfer(address))', 'There is an extra closing parenthesis.'],
  ['Ping() Pong()', '“Pong” follows the event. Put each event on its own line.'],
  ['9a()', '“9a” is not a valid event name.'],
  [
    'function transfer(address to)',
    'Expected an event instead of “function”. Enter an event that the contract emits.',
  ],
  ['0xabc', 'An event hash has 64 digits; this one has 3.'],
  [`0x${'12'.repeat(20)}`, 'To add the events of a contract, enter only its address.'],
  ['[', 'Expected a ].'],
  ['[]', 'This JSON contains no events.'],
  [`A(${'a'.repeat(5_000)})`, 'The event is longer than 4,096 characters.'],
])('the problem of %j is: %s', (text, message) => {
  const { items, signatures, problems, rest } = parseEvents(text);
  expect(problems.map((each) => each.message)).toEqual([message]);
  expect([...items, ...signatures]).toEqual([]);
  expect(rest).toBe(text);
});

test('the ABI field reads the events of old compilers, and reports one with an unknown type', () => {
  const event = { type: 'event', name: 'Sold', inputs: [{ name: 'at', type: 'C.Status' }] };
  const { items } = parseEvents(JSON.stringify(event));
  expect(items).toEqual([{ ...event, inputs: [{ name: 'at', type: 'uint8' }] }]);
  const text = JSON.stringify([event, { ...event, name: 'Left', inputs: [{ type: 'uint7' }] }]);
  const parsed = parseEvents(text);
  expect(parsed.items).toEqual(items);
  expect(
    parsed.problems.map((each) => [each.message, text.slice(indexOf(text, each)).slice(0, 4)]),
  ).toEqual([
    [
      'Left: inputs.0.type should be a Solidity type, e.g. uint256, address[] or tuple, not "uint7".',
      'Left',
    ],
  ]);
  expect(parsed.rest).toBe(text);
});

test('the ABI field reads an ABI of signatures, as ethers and viem accept it', () => {
  const given = JSON.stringify([
    'function transfer(address to, uint256 value) returns (bool)',
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    'event Paused(address account)',
  ]);
  const { items, signatures, problems, rest } = parseEvents(given);
  expect(items.map(({ name }) => name)).toEqual(['Transfer', 'Paused']);
  expect(signatures).toEqual([]);
  expect([problems, rest]).toEqual([[], '']);

  const wrong = given.replace('Paused(address', 'Paused(adress');
  const parsed = parseEvents(wrong);
  expect(parsed.items).toHaveLength(1);
  expect(parsed.problems).toMatchObject([
    { message: expect.stringContaining('Did you mean address') },
  ]);
  expect(parsed.problems.map(({ column }) => wrong.slice(column - 1, column + 5))).toEqual([
    'adress',
  ]);
  expect(parsed.rest).toBe(wrong);
  expect(parseEvents('["function f()"]').problems).toMatchObject([
    { message: 'This JSON contains no events.' },
  ]);
});
