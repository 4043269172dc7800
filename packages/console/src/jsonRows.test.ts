import { keccak256 } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { KNOWN_EVENTS, toJsonRows } from './jsonRows.ts';

const NONE: ReadonlySet<string> = new Set();
const lines = (value: unknown, toggled = NONE) =>
  toJsonRows(value, toggled).map(({ path, text, size }) => `${path} ${text || size}`);

test('members of the body stand at the left edge, with paths that can be used', () => {
  expect(lines({ a: 1, 'b-c': null, list: [true, 'x'] })).toEqual([
    '$.a 1',
    '$["b-c"] null',
    '$.list 2',
    '$.list[0] true',
    '$.list[1] "x"',
  ]);
});

test('what is toggled is closed or opened', () => {
  expect(lines({ list: [1] }, new Set(['$.list']))).toEqual(['$.list 1']);
  const long = { logs: [{ rows: Array.from({ length: 30 }, (_, index) => index) }] };
  expect(lines(long)).toHaveLength(3);
  expect(lines(long, new Set(['$.logs[0].rows']))).toHaveLength(33);
});

test('nothing is left of an empty container but its line', () => {
  expect(toJsonRows({ a: [], b: {} }, NONE).map(({ open, size }) => [open, size])).toEqual([
    [false, 0],
    [false, 0],
  ]);
});

test('a body that is no object is one line', () => {
  expect(lines('text')).toEqual(['$ "text"']);
});

test('text of the chain stays text', () => {
  const [row] = toJsonRows({ tokenName: '<img src=x onerror=alert(1)>' }, NONE);
  expect(row?.text).toBe('"<img src=x onerror=alert(1)>"');
});

test('amounts, events and times are explained beside the value', () => {
  const rows = toJsonRows(
    {
      block: { timestamp: '1795269396' },
      erc20Transfers: [{ value: '1200500000', tokenDecimals: '6', tokenSymbol: 'USDT' }],
      logs: [{ topic0: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef' }],
    },
    NONE,
  );
  const note = (path: string) => rows.find((row) => row.path === path)?.note;
  expect(note('$.erc20Transfers[0].value')).toBe('1,200.5 USDT');
  expect(note('$.logs[0].topic0')).toBe('Transfer(address,address,uint256)');
  expect(note('$.block.timestamp')).toMatch(/^2026-11-2/);
});

test('a token that lies about its decimals explains nothing', () => {
  const rows = toJsonRows([{ value: '1', tokenDecimals: '', tokenSymbol: 'X' }], NONE);
  expect(rows.every(({ note }) => note === '')).toBe(true);
});

test('the known events hash to their topics', () => {
  for (const [topic, signature] of Object.entries(KNOWN_EVENTS)) {
    expect(keccak256(signature)).toBe(topic);
  }
});

test('a large body is flattened quickly', () => {
  const logs = Array.from({ length: 10_000 }, (_, index) => ({
    logIndex: String(index),
    data: '0x',
  }));
  expect(toJsonRows({ logs }, NONE).length).toBe(30_001);
});
