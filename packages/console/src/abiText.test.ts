import { expect, test } from 'vitest';
import { parseEvents } from './abiText.ts';

test('Solidity, canonical text and hashes, one to a line', () => {
  const hash = `0x${'ab'.repeat(32)}`;
  const { items, signatures } = parseEvents(
    `event Transfer(address indexed from, address indexed to, uint256 value);
     Approval(address,address,uint256)
     ${hash}`,
  );
  expect(items).toMatchObject([
    { type: 'event', name: 'Transfer', inputs: [{ name: 'from', indexed: true }, {}, {}] },
  ]);
  expect(signatures).toEqual(['Approval(address,address,uint256)', hash]);
});

test('the events of an ABI, of an artifact, and one alone', () => {
  const event = { type: 'event', name: 'Ping', inputs: [] };
  const abi = [event, { type: 'function', name: 'ping', inputs: [] }];
  expect(parseEvents(JSON.stringify(abi)).items).toEqual([event]);
  expect(parseEvents(JSON.stringify({ abi })).items).toEqual([event]);
  expect(parseEvents(JSON.stringify(event)).items).toEqual([event]);
});

test.each([
  ['[', /no JSON/],
  ['[]', /no events/],
  ['Transfer(', /no event such as/],
  ['Transfer(address)\nwhat', /“what”/],
])('%j is refused', (text, message) => {
  expect(() => parseEvents(text)).toThrow(message);
});
