import { isAddressLabel, toCsvRow } from '@sluice/kit/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ADDRESS_HEADER,
  namesIn,
  parseAddressList,
  SAMPLE_LISTS,
  toAddressRows,
  toRejectsCsv,
  withAddressOf,
} from './addressList.ts';

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
  });
});

test('explorer pages of addresses are addresses; those of transactions are not', () => {
  const pages = [
    `https://etherscan.io/address/${A}#code`,
    `https://basescan.org/token/${B}?a=1, token`,
    `https://etherscan.io/tx/0x${'cd'.repeat(32)}`,
  ].join('\n');
  const { rows, rejects } = parseAddressList(pages, 'evm');
  expect(rows).toEqual([
    { address: A, label: '' },
    { address: B.toLowerCase(), label: 'token' },
  ]);
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
  expect(toRejectsCsv(rejects).split('\r\n')[1]).toBe('hello,,2,No address found');
});

test('rejected lines can be fixed in their file, and keep their labels', () => {
  const { rejects } = parseAddressList(
    `label,address\n"Binance, hot",${A}ff\n,${B}0\n${'x'.repeat(65)},${A}`,
    'evm',
  );
  expect(rejects.map(({ line, label }) => [line, label])).toEqual([
    [2, 'Binance, hot'],
    [3, ''],
    [4, 'x'.repeat(65)],
  ]);
  const repaired = toRejectsCsv(rejects).replace(`${A}ff`, A).replace(`${B}0`, B);
  expect(parseAddressList(repaired, 'evm').rows).toEqual([
    { address: A, label: 'Binance, hot' },
    { address: B.toLowerCase(), label: '' },
  ]);
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
        label: each,
      }));
      const about = { addedAt: 0, addedBy: '=key' };
      const file = ADDRESS_HEADER + toAddressRows(rows.map((row) => ({ ...row, ...about })));
      const read = parseAddressList(file, 'evm');
      expect(read.rows).toEqual(rows);
      expect(read.rejects).toEqual([]);
    }),
  );
});

test('rejected lines are escaped, and keep their labels', () => {
  fc.assert(
    fc.property(label, (each) => {
      const row = { address: `${A}ff`, label: each, addedAt: 0, addedBy: '' };
      const { rejects } = parseAddressList(ADDRESS_HEADER + toAddressRows([row]), 'evm');
      const file = toRejectsCsv(rejects);
      expect(file).toContain(toCsvRow([row.address, each]));
      expect(parseAddressList(file.replace(row.address, A), 'evm').rows).toEqual([
        { address: A, label: each },
      ]);
    }),
  );
});

test('the header line decides which column the label is in', () => {
  const text = `\u{feff}address,chain,name\n${A},ethereum,treasury\n${B},base,\n`;
  expect(parseAddressList(text, 'evm').rows).toEqual([
    { address: A, label: 'treasury' },
    { address: B.toLowerCase(), label: '' },
  ]);
  expect(parseAddressList(`label,address\n0x Labs,${A}`, 'evm').rows).toEqual([
    { address: A, label: '0x Labs' },
  ]);
});

test.each(['evm', 'aptos'] as const)('the sample of %s is a valid list', (family) => {
  const { rows, rejects } = parseAddressList(SAMPLE_LISTS[family], family);
  expect(rejects).toEqual([]);
  expect(rows).toHaveLength(3);
  expect(rows.map(({ label }) => label === '')).toEqual([false, false, true]);
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
