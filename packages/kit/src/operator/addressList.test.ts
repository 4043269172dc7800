import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ADDRESS_HEADER, parseAddressList, toAddressRows, toRejectedList } from './addressList.ts';
import { isAddressLabel } from '../contract/rules/addressLabel.ts';

const A = `0x${'a1'.repeat(20)}`;
const B = `0x${'B2'.repeat(20)}`;

test('a list may have labels, comments and a header line', () => {
  const text = `Address,Label\n${A},"Binance, hot ""14"""\r\n\n# later\n${B}\ttreasury\n`;
  expect(parseAddressList(text, 'evm')).toEqual({
    rows: [
      { address: A, label: 'Binance, hot "14"' },
      { address: B.toLowerCase(), label: 'treasury' },
    ],
    rejects: [],
    doubts: [],
    duplicates: 0,
    header: 'Address,Label',
  });
});

test('explorer pages of addresses are addresses; those of transactions are not', () => {
  const pages = [
    `https://etherscan.io/address/${A}#code`,
    `https://basescan.org/token/${B}?a=1, token`,
    `https://etherscan.io/tx/0x${'cd'.repeat(32)}`,
  ].join('\n');
  const { rows, rejects } = parseAddressList(pages, 'evm');
  expect(rows).toEqual([{ address: A }, { address: B.toLowerCase(), label: 'token' }]);
  expect(rejects.map(({ line }) => line)).toEqual([3]);
  const account = `https://explorer.aptoslabs.com/account/0x1?network=testnet`;
  expect(parseAddressList(account, 'aptos').rows[0]?.address).toMatch(/^0x0{63}1$/);
});

test('a wrong checksum and the zero address are accepted with a warning', () => {
  const good = '0x28C6c06298d514Db089934071355E5743bf21d60';
  const typo = good.replace('0x28C6', '0x28c6');
  const zero = `0x${'0'.repeat(40)}`;
  const { rows, doubts } = parseAddressList(
    [good, typo.replace('21d60', '21d61'), zero, A].join('\n'),
    'evm',
  );
  expect(rows).toHaveLength(4);
  expect(doubts.map(({ line, reason }) => [line, reason.split(/[:,]/)[0]])).toEqual([
    [2, 'The EIP-55 checksum does not match'],
    [3, 'This is the zero address'],
  ]);
  expect(parseAddressList(`${good}\n${good.toLowerCase()}`, 'evm').doubts).toEqual([]);
  expect(parseAddressList('0x0', 'aptos').doubts).toHaveLength(1);
  expect(parseAddressList('0xAb1', 'aptos').doubts).toEqual([]);
});

test('the label may come first, and a plain list needs no commas', () => {
  expect(parseAddressList(`cold wallet;${A}`, 'evm').rows).toEqual([
    { address: A, label: 'cold wallet' },
  ]);
  expect(parseAddressList(`${A} cold wallet`, 'evm').rows).toEqual([
    { address: A, label: 'cold wallet' },
  ]);
});

test('each rejected line has its number and a reason', () => {
  const { rows, rejects, duplicates } = parseAddressList(
    [
      A,
      'hello',
      '0x12',
      `0x${'g'.repeat(40)}`,
      A.toUpperCase().replace('0X', '0x'),
      A.slice(0, -2),
    ].join('\n'),
    'evm',
  );
  expect(rows).toHaveLength(1);
  expect(duplicates).toBe(1);
  expect(rejects.map(({ line, reason }) => [line, reason])).toEqual([
    [2, 'No address found'],
    [3, 'An EVM address has 40 digits, not 2'],
    [4, 'A character is not a hex digit'],
    [6, 'An EVM address has 40 digits, not 38'],
  ]);
});

test('rejected lines can be corrected in their list, and keep their other columns', () => {
  const list = parseAddressList(
    `label,address\n"Binance, hot",${A}ff\n=1,${B}0\n${'x'.repeat(65)},${A}`,
    'evm',
  );
  expect(toRejectedList(list)).toBe(
    [
      'label,address',
      '# Line 2: An EVM address has 40 digits, not 42',
      `"Binance, hot",${A}ff`,
      '# Line 3: An EVM address has 40 digits, not 41',
      `=1,${B}0`,
      '# Line 4: The label is longer than 64 characters or has control characters',
      `${'x'.repeat(65)},${A}`,
      '',
    ].join('\n'),
  );
  const repaired = toRejectedList(list).replace(`${A}ff`, A).replace(`${B}0`, B);
  expect(parseAddressList(repaired, 'evm').rows).toEqual([
    { address: A, label: 'Binance, hot' },
    { address: B.toLowerCase(), label: '=1' },
  ]);
  expect(toRejectedList({ rejects: [], header: undefined })).toBe('');
});

test('the column `address` wins over other columns with addresses', () => {
  const text = `# Exported today\nowner,address,note\n${A},${B},cold\n${A},,cold`;
  const { rows, rejects } = parseAddressList(text, 'evm');
  expect(rows).toEqual([{ address: B.toLowerCase() }]);
  expect(rejects.map(({ line, reason }) => [line, reason])).toEqual([[4, 'No address found']]);
});

test('the column of the labels can be chosen by name or number', () => {
  const text = `address,label,Team\n${A},one,red`;
  for (const column of ['team', '3']) {
    expect(parseAddressList(text, 'evm', column).rows).toEqual([{ address: A, label: 'red' }]);
  }
  expect(parseAddressList(`${A},one,red`, 'evm', '3').rows[0]?.label).toBe('red');
  expect(() => parseAddressList(text, 'evm', 'none')).toThrow(
    'The list has no column none. Its columns are address, label, Team.',
  );
  expect(() => parseAddressList(text, 'evm', '0')).toThrow(RangeError);
});

const label = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 64 }),
    fc.string({ unit: 'binary', maxLength: 64 }),
    fc.string({
      unit: fc.constantFrom(...'=+-@\uff1d\uff20;,\'"# \u{a0}a'.split(''), '🙂'),
      maxLength: 64,
    }),
    fc.constantFrom(A, `https://a.io/address/${A}`, '#', 'vitalik.eth', '🙂'.repeat(64)),
  )
  .filter(isAddressLabel);

test('an export reads as the same addresses with the same labels', () => {
  fc.assert(
    fc.property(fc.array(label), (labels) => {
      const rows = labels.map((each, n) => ({
        address: `0x${n.toString(16).padStart(40, '0')}`,
        ...(each !== '' && { label: each }),
      }));
      const about = { addedAt: 0, addedBy: '=key' };
      const file = ADDRESS_HEADER + toAddressRows(rows.map((row) => ({ ...row, ...about })));
      const read = parseAddressList(file, 'evm');
      expect(read.rows).toEqual(rows);
      expect(read.rejects).toEqual([]);
    }),
  );
});

test('a label may look like an address', () => {
  expect(parseAddressList(`label,wallet\n0x Labs,${A}`, 'evm').rows).toEqual([
    { address: A, label: '0x Labs' },
  ]);
});

test('the header line decides which column the label is in', () => {
  const text = `\u{feff}address,chain,name\n${A},ethereum,treasury\n${B},base,\n`;
  expect(parseAddressList(text, 'evm').rows).toEqual([
    { address: A, label: 'treasury' },
    { address: B.toLowerCase() },
  ]);
});

test('Aptos addresses get their leading zeros', () => {
  expect(parseAddressList('0x1', 'aptos').rows[0]?.address).toBe(`0x${'1'.padStart(64, '0')}`);
});

test('100,000 lines keep their order and number', () => {
  const text = Array.from(
    { length: 100_000 },
    (_, index) => `0x${index.toString(16).padStart(40, '0')},label ${index}`,
  ).join('\n');
  const { rows, rejects } = parseAddressList(text, 'evm');
  expect(rows).toHaveLength(100_000);
  expect(rows[99_999]?.label).toBe('label 99999');
  expect(rejects).toEqual([]);
});
