import { encodeAbiParameters, encodeEventTopics, parseAbi, toHex } from 'viem';
import { expect, test } from 'vitest';
import { createNotes } from './jsonNotes.ts';

const FROM = '0x28C6c06298d514Db089934071355E5743bf21d60';
const TO = '0x5a52E96BAcdaBb82fd05763E25335261B270Efcb';
const abi = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Swap(address indexed sender, address indexed to, int256 amount0, int24 indexed tick, bool open)',
]);

function logOf(topics: unknown, data: string, logIndex = '7') {
  const [topic0, topic1 = null, topic2 = null, topic3 = null] = topics as string[];
  return { logIndex, transactionHash: '0xaa', address: TO, data, topic0, topic1, topic2, topic3 };
}
const transfer = logOf(
  encodeEventTopics({ abi, eventName: 'Transfer', args: { from: FROM, to: TO } }),
  toHex(1_200_500_000n, { size: 32 }),
);
const erc20 = {
  transactionHash: '0xaa',
  logIndex: '7',
  contract: TO,
  from: FROM.toLowerCase(),
  to: TO.toLowerCase(),
  value: '1200500000',
  tokenSymbol: 'USDT',
  tokenDecimals: '6',
};

const notesOf = (body: object, record: object): Record<string, string> => {
  const noteOf = createNotes(body);
  return Object.fromEntries([
    ['', noteOf('0', record, [])],
    ...Object.entries(record).map(([key, value]) => [key, noteOf(key, value, record)]),
  ]) as Record<string, string>;
};

test.each([
  ['from the ABI of the stream', { abi }],
  ['from the decoded transfer', { abi: [] }],
])('a log has notes on its event, topics and data, %s', (_, { abi: known }) => {
  const notes = notesOf({ logs: [transfer], erc20Transfers: [erc20], abi: known }, transfer);
  expect(notes).toMatchObject({
    '': 'Transfer 1,200.5 USDT',
    topic0: 'Transfer(address,address,uint256)',
    data: 'value 1,200.5 USDT',
    address: '',
    topic3: '',
  });
  expect(notes['topic1']).toMatch(/^from 0x28c6…1d60$/i);
  expect(notes['topic2']).toMatch(/^to 0x5a52…efcb$/i);
});

test('an address that occurs twice is explained in the order of the event', () => {
  const own = logOf(
    encodeEventTopics({ abi, eventName: 'Transfer', args: { from: FROM, to: FROM } }),
    toHex(1n, { size: 32 }),
  );
  const log = { ...own, triggered_by: [FROM], triggers: [{ name: 'name', value: FROM }] };
  const { topic1, topic2, data } = notesOf({ logs: [log], abi }, log);
  expect([topic1, topic2, data]).toEqual(['from 0x28C6…1d60', 'to 0x28C6…1d60', 'value 1']);
});

test('negative numbers and booleans are found in topics', () => {
  const swap = logOf(
    encodeEventTopics({ abi, eventName: 'Swap', args: { sender: FROM, to: TO, tick: -887272 } }),
    encodeAbiParameters([{ type: 'int256' }, { type: 'bool' }], [-5n, true]),
  );
  expect(notesOf({ logs: [swap], abi }, swap)).toMatchObject({
    '': 'Swap',
    topic0: 'Swap',
    topic3: 'tick -887272',
    data: 'amount0 -5, open true',
  });
});

test('unknown events and logs that do not fit their ABI have no notes', () => {
  const unknown = { ...transfer, topic0: `0x${'ab'.repeat(32)}` };
  const broken = { ...transfer, data: '0x', topic2: null };
  for (const log of [unknown, broken]) {
    const { topic0: _, ...notes } = notesOf({ logs: [log], abi }, log);
    expect(Object.values(notes).filter((note) => note !== '')).toEqual(
      log === broken ? ['Transfer'] : [],
    );
  }
});

test('amounts of both families and times are explained', () => {
  expect(notesOf({}, erc20)).toMatchObject({ '': '1,200.5 USDT', value: '1,200.5 USDT', from: '' });
  const coin = { value: '150000000', coin: { decimals: 8, symbol: 'APT' } };
  expect(notesOf({}, coin)).toMatchObject({ '': '1.5 APT', value: '1.5 APT' });
  expect(notesOf({}, { timestamp: '1795269396' })['timestamp']).toMatch(/^2026-11-2/);
});

test('a token with invalid decimals has no notes', () => {
  for (const tokenDecimals of ['', '-1', 'six', '1e3', null, {}]) {
    const notes = notesOf({}, { value: '1', tokenDecimals, tokenSymbol: 'X' });
    expect(Object.values(notes).filter((note) => note !== '')).toEqual([]);
  }
});
