import { expect, test } from 'vitest';
import { sluiceToken } from '@sluice/testkit';
import type { AbiItem } from '@sluice/kit';
import { listCalled, offerFunctions, withFunction, withoutFunction } from './calledFunctions.ts';

const ABI = sluiceToken.abi as unknown as AbiItem[];
const TRANSFER = '0xa9059cbb';

test('the functions of the field have their selector, and a selector its signature', () => {
  const text = 'transfer(address to, uint256 value)\nnot one\n*\n0x095ea7b3\n0x12345678';
  expect(listCalled(text, ABI)).toEqual([
    { signature: 'transfer(address to, uint256 value)', selector: TRANSFER },
    { signature: expect.stringMatching(/^approve\(address/) as string, selector: '0x095ea7b3' },
    { signature: '0x12345678', selector: '0x12345678' },
  ]);
  // Two spellings of a function are one row.
  expect(listCalled(`${TRANSFER}\ntransfer(address,uint256)`, [])).toHaveLength(1);
});

test('the ABI offers functions that change state and are not listed', () => {
  const namesOf = (text: string): string[] =>
    offerFunctions(text, ABI).map(({ signature }) => signature.replace(/\(.*/, ''));
  expect(namesOf('')).toEqual(expect.arrayContaining(['transfer', 'approve']));
  expect(namesOf('')).not.toContain('balanceOf');
  expect(namesOf('transfer(address,uint256)')).not.toContain('transfer');
  expect(namesOf(TRANSFER)).not.toContain('transfer');
  expect(namesOf('*')).toEqual([]);
});

test('functions are added and removed', () => {
  const offered = offerFunctions('', ABI).at(0)!;
  const added = withFunction('burn(uint256)\n', offered);
  expect(added).toBe(`burn(uint256)\n${offered.signature}`);
  expect(withoutFunction(`${added}\n${offered.selector}`, offered)).toBe('burn(uint256)');
});
