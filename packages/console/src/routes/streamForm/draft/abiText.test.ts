import { expect, test } from 'vitest';
import { parseEvents } from './abiText.ts';
import { indexOf } from '../../../ui/form/lineProblem.ts';

test('Solidity, canonical text and hashes, one to a line', () => {
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

test('an event as it stands in a source, over several lines', () => {
  const { items, problems } = parseEvents(
    'event Filled(\n  address indexed maker, // who offered\n  uint256 value\n);\n\nPing()',
  );
  expect(problems).toEqual([]);
  expect(items).toMatchObject([{ name: 'Filled', inputs: [{ name: 'maker' }, { name: 'value' }] }]);
});

test('the events of an ABI, of an artifact, and one alone', () => {
  const event = { type: 'event', name: 'Ping', inputs: [] };
  const abi = [event, { type: 'function', name: 'ping', inputs: [] }];
  expect(parseEvents(JSON.stringify(abi)).items).toEqual([event]);
  expect(parseEvents(JSON.stringify({ abi })).items).toEqual([event]);
  expect(parseEvents(JSON.stringify(event)).items).toEqual([event]);
});

test('every line that is no event is named, and the others are taken', () => {
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
  ['Transfer(address,adress,uint256)', '“adress” is no type; did you mean address?'],
  ['Transfer(uint265)', '“uint265” is no type: integers have 8 to 256 bits, in steps of 8.'],
  ['Transfer(bytes33)', '“bytes33” is no type: it goes from bytes1 to bytes32, or is bytes.'],
  [
    'Sold(IERC20)',
    '“IERC20” is no type of an ABI: write address for a contract, uint8 for an enum, a struct as its types in parentheses.',
  ],
  ['Sold(price)', '“price” is no type such as address, uint256 or bytes32.'],
  ['Sold(address,)', 'A type is missing here.'],
  [
    'Transfer',
    'The types of its parameters are missing in parentheses, such as Transfer(address,uint256).',
  ],
  ['Transfer(address', 'A closing parenthesis is missing at its end.'],
  ['Transfer(address from to)', 'A comma or a closing parenthesis is missing before “to”.'],
  ['Transfer(address))', 'There is a closing parenthesis too many.'],
  ['Ping() Pong()', '“Pong” stands behind the event: each has a line of its own.'],
  ['9a()', '“9a” is no name of an event.'],
  ['function transfer(address to)', 'This is a function: name the event that the contract emits.'],
  ['0xabc', 'The hash of an event has 64 digits; this has 3.'],
  [`0x${'12'.repeat(20)}`, 'An address stands alone: then the events of its contract are read.'],
  ['[', 'Expected a ].'],
  ['[]', 'This is JSON, but there is no event in it.'],
  [`A(${'a'.repeat(5_000)})`, 'It is longer than 4,096 characters.'],
])('%j: %s', (text, message) => {
  const { items, signatures, problems, rest } = parseEvents(text);
  expect(problems.map((each) => each.message)).toEqual([message]);
  expect([...items, ...signatures]).toEqual([]);
  expect(rest).toBe(text);
});

test('an ABI of signatures, as ethers and viem take it', () => {
  const given = JSON.stringify([
    'function transfer(address to, uint256 value) returns (bool)',
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    'event Paused(address account)',
  ]);
  const { items, signatures, problems, rest } = parseEvents(given);
  expect(items.map(({ name }) => name)).toEqual(['Transfer']);
  expect(signatures).toEqual(['Paused(address)']);
  expect([problems, rest]).toEqual([[], '']);

  const wrong = given.replace('Paused(address', 'Paused(adress');
  const parsed = parseEvents(wrong);
  expect(parsed.items).toHaveLength(1);
  expect(parsed.problems).toMatchObject([
    { message: expect.stringContaining('did you mean address') },
  ]);
  expect(parsed.problems.map(({ column }) => wrong.slice(column - 1, column + 5))).toEqual([
    'adress',
  ]);
  expect(parsed.rest).toBe(wrong);
  expect(parseEvents('["function f()"]').problems).toMatchObject([
    { message: 'This is JSON, but there is no event in it.' },
  ]);
});
