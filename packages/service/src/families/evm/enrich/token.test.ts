import fc from 'fast-check';
import { type Hex, encodeAbiParameters, stringToHex, toFunctionSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import type { StateAnswer } from './state.ts';
import { MAX_TEXT_CHARACTERS } from '../../../enrich/tokenText.ts';
import { readText, readToken, tokenCalls } from './token.ts';

const ADDRESS = `0x${'c0'.repeat(20)}`;
const text = (value: string): Hex => encodeAbiParameters([{ type: 'string' }], [value]);
const bytes32 = (value: string): Hex => stringToHex(value, { size: 32 });
const number = (value: bigint): Hex => encodeAbiParameters([{ type: 'uint256' }], [value]);
const NO = number(0n);
const YES = number(1n);

const read = (value: string): StateAnswer => ({ outcome: 'read', value });
const failed: StateAnswer = { outcome: 'failed', message: 'execution reverted' };

test('calls the functions of the standards', () => {
  const supports = toFunctionSelector('supportsInterface(bytes4)');
  const wanted = [
    toFunctionSelector('name()'),
    toFunctionSelector('symbol()'),
    toFunctionSelector('decimals()'),
    supports + '80ac58cd'.padEnd(64, '0'),
    supports + 'd9b67a26'.padEnd(64, '0'),
  ];
  expect(tokenCalls(ADDRESS)).toEqual(
    wanted.map((data) => ({ to: ADDRESS, data, maxBytes: 4096 })),
  );
});

describe('a contract', () => {
  const unknown = { name: '', symbol: '', decimals: null, standard: '' };

  test.each<[string, StateAnswer[], object]>([
    [
      'of ERC-20',
      [read(text('USD Coin')), read(text('USDC')), read(number(6n)), failed, failed],
      { ...unknown, name: 'USD Coin', symbol: 'USDC', decimals: 6 },
    ],
    [
      'with bytes32 texts',
      [read(bytes32('Maker')), read(bytes32('MKR')), read(number(18n)), read(NO), read(NO)],
      { ...unknown, name: 'Maker', symbol: 'MKR', decimals: 18 },
    ],
    [
      'of ERC-721',
      [read(text('Apes')), read(text('APE')), failed, read(YES), read(NO)],
      { ...unknown, name: 'Apes', symbol: 'APE', standard: 'ERC721' },
    ],
    [
      'of ERC-1155 without names',
      [failed, failed, failed, read(NO), read(YES)],
      { ...unknown, standard: 'ERC1155' },
    ],
    [
      'that returns true for everything',
      [read(YES), read(YES), read(YES), read(YES), read(YES)],
      {},
    ],
    ['without code', [read('0x'), read('0x'), read('0x'), read('0x'), read('0x')], unknown],
    ['that reverts', [failed, failed, failed, failed, failed], unknown],
    [
      'with decimals over one byte',
      [failed, failed, read(number(256n)), failed, failed],
      { decimals: null },
    ],
    ['with 255 decimals', [failed, failed, read(number(255n)), failed, failed], { decimals: 255 }],
    [
      'with more than one word of decimals',
      [failed, failed, read(number(6n) + number(1n).slice(2)), failed, failed],
      { decimals: 6 },
    ],
    [
      'with decimals that are not a full word',
      [failed, failed, read('0x12'), failed, failed],
      unknown,
    ],
    ['with zero decimals', [failed, failed, read(NO), failed, failed], { decimals: 0 }],
  ])('%s', (_, answers, expected) => {
    expect(readToken(ADDRESS, 7, answers)).toMatchObject({
      address: ADDRESS,
      blockNumber: 7,
      ...expected,
    });
  });

  test('that claims both standards has neither', () => {
    const token = readToken(ADDRESS, 7, [failed, failed, failed, read(YES), read(YES)]);
    expect(token?.standard).toBe('');
  });

  test('that nodes refuse to read stays unknown', () => {
    const refused: StateAnswer = { outcome: 'refused', message: 'no state' };
    expect(readToken(ADDRESS, 7, [read(text('A')), refused, failed, failed, failed])).toBe(
      undefined,
    );
  });
});

describe('text', () => {
  test.each<[string, string, string]>([
    ['plain', text('Chain Link'), 'Chain Link'],
    ['empty', text(''), ''],
    ['in another script', text('測試 🚀 é'), '測試 🚀 é'],
    ['of 32 bytes', text('x'.repeat(32)), 'x'.repeat(32)],
    ['of bytes32, full', bytes32('y'.repeat(32)), 'y'.repeat(32)],
    ['of bytes32, zeros', `0x${'0'.repeat(64)}`, ''],
    ['nothing', '0x', ''],
    ['with control characters', text('a\u0000b\nc\u0007\u2028d'), 'abcd'],
    ['with direction marks', text('safe\u202ecoin\u2066'), 'safecoin'],
    ['between spaces', text('  Dai '), 'Dai'],
    [
      'that is not UTF-8',
      `0x${'20'.padStart(64, '0')}${'3'.padStart(64, '0')}61ff62${'0'.repeat(58)}`,
      'ab',
    ],
    ['cut off', text('Wrapped Ether').slice(0, 140), ''],
    ['with an offset beyond its data', `0x${'f'.repeat(64)}${'0'.repeat(64)}`, ''],
    ['with a length beyond its data', `0x${'20'.padStart(64, '0')}${'f'.repeat(64)}`, ''],
    ['with a length of 4 GiB', `0x${'20'.padStart(64, '0')}${'ffffffff'.padStart(64, '0')}`, ''],
    ['without padding', text('Dai').slice(0, 2 + 128 + 6), 'Dai'],
  ])('%s', (_, data, expected) => {
    expect(readText(data)).toBe(expected);
  });

  test('is cut at the maximum length, never within a character', () => {
    expect(readText(text('🚀'.repeat(500)))).toBe('🚀'.repeat(MAX_TEXT_CHARACTERS));
    expect(readText(text('x'.repeat(100_000)))).toBe('x'.repeat(MAX_TEXT_CHARACTERS));
  });

  test('property: whatever a contract returns, the text is short, clean and survives JSON', () => {
    const anyData = fc
      .uint8Array({ maxLength: 300 })
      .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
    const wrapped = fc
      .uint8Array({ maxLength: 300 })
      .map((bytes) =>
        encodeAbiParameters([{ type: 'bytes' }], [`0x${Buffer.from(bytes).toString('hex')}`]),
      );
    fc.assert(
      fc.property(fc.oneof(anyData, wrapped), (data) => {
        const found = readText(data);
        expect(Array.from(found).length).toBeLessThanOrEqual(MAX_TEXT_CHARACTERS);
        expect(found).not.toMatch(/\p{Cc}|\ufffd/u);
        expect(found.isWellFormed()).toBe(true);
      }),
    );
  });
});
