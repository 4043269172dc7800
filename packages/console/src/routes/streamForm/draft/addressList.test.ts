import { parseAddressList } from '@sluice/kit/operator';
import { expect, test } from 'vitest';
import { FORM_WORDS } from '../../../families/formWords.ts';
import { namesIn, withAddressOf } from './addressList.ts';

const A = `0x${'a1'.repeat(20)}`;
const B = `0x${'B2'.repeat(20)}`;

test('ENS names are found in rejected lines, and replaced by their addresses', () => {
  const text = `${A}\nPay.Treasury.eth\nvitalik.eth, "Vitalik, the man"\nhello\nvitalik.eth`;
  expect(namesIn(parseAddressList(text, 'evm').rejects)).toEqual([
    'pay.treasury.eth',
    'vitalik.eth',
  ]);
  const resolved = withAddressOf(withAddressOf(text, 'vitalik.eth', B), 'pay.treasury.eth', A);
  expect(resolved.split('\n').slice(1)).toEqual([
    `${A}, pay.treasury.eth`,
    `${B}, "Vitalik, the man"`,
    'hello',
    `${B}, vitalik.eth`,
  ]);
  expect(parseAddressList(resolved, 'evm').rows[1]).toEqual({
    address: B.toLowerCase(),
    label: 'Vitalik, the man',
  });
});

test.each(['evm', 'aptos'] as const)('the sample of %s is a valid list', (family) => {
  const { rows, rejects } = parseAddressList(FORM_WORDS[family].sampleList, family);
  expect(rejects).toEqual([]);
  expect(rows).toHaveLength(3);
  expect(rows.map(({ label }) => label === undefined)).toEqual([false, false, true]);
});
