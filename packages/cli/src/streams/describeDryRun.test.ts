import { sampleWebhook } from '@sluice/kit/testing';
import { expect, test } from 'vitest';
import { describeBlock, describeCloseMatches, describeObserved } from './describeDryRun.ts';

const UINT256_MAX = String(2n ** 256n - 1n);

test('a block shows its first record, trigger results and balances', () => {
  const sample = sampleWebhook('erc20-transfer');
  const [transfer] = sample.erc20Transfers;
  const triggers = [
    { name: 'tokens', value: '750' },
    { name: 'pair', value: { a: '1', b: ['2'] } },
  ];
  const balance = { address: `0x${'ab'.repeat(20)}`, balance: '1500000000000000000' };
  const webhook = {
    ...sample,
    erc20Transfers: [{ ...transfer!, triggers }],
    nativeBalances: [balance],
  };
  expect(describeBlock(7, 1, webhook, 80)).toEqual([
    expect.stringMatching(/^#7 {2}1 record {2}Transfer /),
    '    trigger  tokens  750',
    '    trigger  pair  {"a":"1","b":["2"]}',
    '    balance  0xabab…abab  1.5 native',
  ]);
  const busy = { ...webhook, nativeBalances: Array.from({ length: 1_200 }, () => balance) };
  expect(describeBlock(7, 1, busy, 80)).toHaveLength(7);
  expect(describeBlock(7, 1, busy, 80).at(-1)).toBe('    and 1,197 more (use --json to see all)');
});

test('close matches show the actual values and fit 80 columns', () => {
  const miss = {
    event: 'Transfer(address,address,uint256)',
    name: 'value',
    operator: 'gte' as const,
    filterValue: '1000',
    count: 3,
    min: '900',
    max: '950',
  };
  expect(describeCloseMatches([], undefined, 80)).toEqual([]);
  expect(describeCloseMatches([miss, { ...miss, min: '-5', max: '-5' }], undefined, 80)).toEqual([
    'Close matches:',
    '  3 × Transfer  value ≥ 1,000',
    '      actual: 900 – 950',
    '  3 × Transfer  value ≥ 1,000',
    '      actual: -5',
  ]);
  const widest = {
    ...miss,
    name: 'argument'.repeat(9),
    filterValue: UINT256_MAX,
    max: UINT256_MAX,
  };
  const error = { name: 'error', value: `execution reverted: ${'no\n'.repeat(90)}` };
  const { txs, ...sample } = sampleWebhook('native-transfer');
  const lines = [
    ...describeCloseMatches([{ ...widest, min: UINT256_MAX.slice(1) }], '0x', 80),
    ...describeBlock(2 ** 40, 99_999, { ...sample, txs: [{ ...txs[0]!, triggers: [error] }] }, 80),
  ];
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines[0]).toBe('Close matches in the complete block:');
});

test('observed events are listed with counts, and by name if known', () => {
  const TRANSFER = 'Transfer(address,address,uint256)';
  const topic0 = `0x${'ab'.repeat(32)}`;
  const transfer = { topic0, signature: TRANSFER, indexed: 2, count: 1_212 };
  const unknown = { topic0: `0x${'cd'.repeat(32)}`, signature: null, indexed: 1, count: 7 };
  expect(describeObserved([], undefined, 80)).toEqual([]);
  expect(describeObserved([transfer, unknown], undefined, 80)).toEqual([
    'Events of the addresses:',
    `  1,212 × ${TRANSFER}`,
    '      7 × 0xcdcd…cdcd  unknown event',
  ]);
  const nft = { ...transfer, indexed: 3, count: 2 };
  expect(describeObserved([transfer, nft], '0x', 80)).toEqual([
    'Events of the addresses in the complete block:',
    `  1,212 × 2 indexed  ${TRANSFER}`,
    `      2 × 3 indexed  ${TRANSFER}`,
  ]);
  const wide = { ...unknown, signature: `Many(${Array(40).fill('uint256').join(',')})` };
  const many = Array.from({ length: 1_010 }, (_, n) => ({ ...wide, topic0: `0x${n}` }));
  const lines = describeObserved(many, undefined, 80);
  expect(lines).toHaveLength(10);
  expect(lines.at(-1)).toBe('  and 1,002 more (use --json to see all)');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

test('Aptos functions and events are listed separately, with shortened paths', () => {
  const long = `0x${'5a09'.repeat(16)}`;
  const play = { kind: 'function' as const, path: `${long}::game::play`, count: 1_212 };
  const pay = { ...play, path: '0x1::aptos_account::transfer', count: 7 };
  const played = { ...play, kind: 'event' as const, path: `${long}::game::Played<${long}::a::B>` };
  expect(describeObserved([play, played, pay], undefined, 80)).toEqual([
    'Functions called in transactions of the addresses:',
    '  1,212 × 0x5a09…5a09::game::play',
    '      7 × 0x1::aptos_account::transfer',
    'Events in transactions of the addresses:',
    '  1,212 × 0x5a09…5a09::game::Played<0x5a09…5a09::a::B>',
  ]);
  expect(describeObserved([pay], '0x', 80)[0]).toBe(
    'Functions called in transactions of the addresses in the complete block:',
  );
  const wide = { ...played, path: `${long}::${'module'.repeat(20)}::Name` };
  const lines = describeObserved(
    Array.from({ length: 9 }, () => wide),
    undefined,
    80,
  );
  expect(lines.at(-1)).toBe('  and 1 more (use --json to see all)');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});
