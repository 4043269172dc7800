import { expect, test } from 'vitest';
import { EACH, matchesPath, readBodyQuery, type BodyQuery } from './bodyQuery.ts';

test.each<[string, BodyQuery]>([
  ['  0xAbc ', { text: '0xAbc' }],
  ['price is $5', { text: 'price is $5' }],
  ['$.block.number', { path: ['block', 'number'] }],
  ['$.logs[*].address = 0xAbc', { path: ['logs', EACH, 'address'], value: '0xAbc' }],
  ['$.logs[12].topic0=0x1', { path: ['logs', 12, 'topic0'], value: '0x1' }],
  ['$.abi.*[0]', { path: ['abi', EACH, 0] }],
  ['$.tag = a = b', { path: ['tag'], value: 'a = b' }],
  ['$.tag = " a\\"b "', { path: ['tag'], value: ' a"b ' }],
])('%s is a search', (text, query) => {
  expect(readBodyQuery(text)).toEqual(query);
});

test.each([
  '',
  ' ',
  '$',
  '$.',
  '$logs',
  '$.logs[',
  '$.logs[-1]',
  '$..address',
  '$.a >= 1',
  '$.tag =',
  '$.tag = "a',
])('%j is invalid', (text) => {
  expect(readBodyQuery(text)).toBeUndefined();
});

const BODY = {
  confirmed: true,
  block: { number: '42', hash: '' },
  logs: [
    { address: '0xAb', n: 7 },
    { address: '0xcd', parent: null },
  ],
  abi: [],
};

test.each([
  ['$.confirmed = true', true],
  ['$.confirmed = "true"', true],
  ['$.confirmed = false', false],
  ['$.block.number = 42', true],
  ['$.block.number = 4', false],
  ['$.block.hash', true],
  ['$.block = [object Object]', false],
  ['$.logs[*].address = 0xAB', true],
  ['$.logs[1].address = 0xAB', false],
  ['$.logs[*].n = 7', true],
  ['$.logs[1].parent = null', true],
  ['$.logs[2]', false],
  ['$.logs.length', false],
  ['$.logs.0', false],
  ['$.block[0]', false],
  ['$.*[*].address = 0xcd', true],
  ['$.abi[*]', false],
  ['$.abi', true],
  ['$.toString', false],
  ['$.confirmed.valueOf', false],
])('%s is %s', (text, expected) => {
  const query = readBodyQuery(text) as Extract<BodyQuery, { path: unknown }>;
  expect(matchesPath(BODY, query)).toBe(expected);
});
