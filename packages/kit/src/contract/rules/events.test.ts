import * as fc from 'fast-check';
import { toEventSelector } from 'viem';
import { describe, expect, it } from 'vitest';
import { findSignatureProblem, KNOWN_EVENTS, parseEventSignature } from './events.ts';

const TRANSFER = 'Transfer(address,address,uint256)';
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

it.each(Object.entries(KNOWN_EVENTS))('%s is the topic of %s', (topic, signature) => {
  expect(toEventSelector(signature)).toBe(topic);
});

describe('parseEventSignature', () => {
  it.each([
    TRANSFER,
    'Transfer(address, address, uint256)',
    ' Transfer ( address , address , uint ) ',
    'Transfer(address from,address to,uint256 value)',
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    'event Transfer(\n  address indexed from,\n  address indexed to,\n  uint value\n);',
    'Transfer(address indexed, address indexed, uint256)',
  ])('parses %j as Transfer', (text) => {
    expect(parseEventSignature(text)).toEqual({ topic0: TRANSFER_TOPIC, signature: TRANSFER });
  });

  it.each([
    ['Paused()', 'Paused()'],
    ['event Weird() anonymous;', 'Weird()'],
    ['A((uint256 a,int[2][] b)[3] indexed c)', 'A((uint256,int256[2][])[3])'],
    ['A(tuple(uint, (bool, bytes32)) x, string)', 'A((uint256,(bool,bytes32)),string)'],
    ['A(function,fixed,ufixed128x18)', 'A(function,fixed128x18,ufixed128x18)'],
    ['$_9(address[])', '$_9(address[])'],
    ['event(address)', 'event(address)'],
  ])('parses %j as %s', (text, signature) => {
    const topic0 = toEventSelector(signature);
    expect(parseEventSignature(text)).toEqual({ topic0, signature });
  });

  it('accepts a 32-byte hash in uppercase and lowercase', () => {
    expect(parseEventSignature(TRANSFER_TOPIC.toUpperCase())).toEqual({ topic0: TRANSFER_TOPIC });
  });

  it.each([
    '',
    'Transfer',
    'Transfer(',
    'Transfer)',
    'Transfer(address',
    'Transfer(address))',
    'Transfer(address,)',
    'Transfer(,address)',
    'Transfer(adress)',
    'Transfer(uint7)',
    'Transfer(uint264)',
    'Transfer(uint08)',
    'Transfer(bytes33)',
    'Transfer(address40)',
    'Transfer(address from to)',
    'Transfer(tuple)',
    'Transfer(tuple a)',
    'Transfer(address[)',
    'Transfer(address]',
    'Transfer(address[-1])',
    '9a(address)',
    'Transfer(address) extra',
    'Trans fer(address)',
    'Transfer(address);;',
    'Tränsfer(address)',
    TRANSFER_TOPIC.slice(0, -1),
    `${TRANSFER_TOPIC}0`,
    'A'.repeat(5000),
    `A${'('.repeat(2000)}${')'.repeat(2000)}`,
  ])('rejects %j', (text) => {
    expect(parseEventSignature(text)).toBeUndefined();
  });

  it('never throws, whatever the input', () => {
    const pieces = [
      '(',
      ')',
      ',',
      '[',
      ']',
      ' ',
      'tuple',
      'uint',
      'a',
      'indexed',
      '9',
      'event',
      'é',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), (parts) => {
        const text = parts.join('');
        const event = parseEventSignature(text);
        if (event?.signature) expect(parseEventSignature(event.signature)).toEqual(event);
        // Only rejected signatures have a problem. `found` is the text at the problem's position.
        const problem = findSignatureProblem(text);
        expect(problem === undefined).toBe(event !== undefined);
        if (problem !== undefined) expect(text.startsWith(problem.found, problem.at)).toBe(true);
      }),
    );
  });
});

it.each([
  ['Transfer', 8, '', '('],
  ['Transfer(address,adress,uint256)', 17, 'adress', 'type'],
  ['Transfer(address,)', 17, ')', 'type'],
  ['Transfer(address', 16, '', ')'],
  ['Transfer(address from to)', 22, 'to', ')'],
  ['Transfer(address))', 17, ')', 'end'],
  ['function transfer(address)', 9, 'transfer', '('],
  ['9a(address)', 0, '9a', 'name'],
  ['Transfer(tuple a)', 15, 'a', '('],
  ['  Tränsfer(address)', 4, 'ä', '('],
  ['Transfer(address[)', 16, '[', ')'],
  ['', 0, '', 'name'],
  [`A(${'a'.repeat(5000)})`, 4096, '', 'less'],
])('%j has a problem at position %i: found %j, expected %s', (text, at, found, expected) => {
  expect(findSignatureProblem(text)).toEqual({ at, found, expected });
});
