import { expect, test } from 'vitest';
import type { Stream } from '@sluice/kit';
import { toDecodedRecords, toMatchedAddresses } from './body.ts';
import { nameMatchedRule } from './draft.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const word = (hex: string): string => `0x${hex.padStart(64, '0')}`;
const log = {
  logIndex: '7',
  transactionHash: '0xaa',
  address: '0xdac17f958d2ee523a2206206994597c13d831ec7',
  data: word('f4240'),
  topic0: TRANSFER,
  topic1: word('28c6c06298d514db089934071355e5743bf21d60'),
  topic2: word('5a52e96bacdabb82fd05763e25335261b270efcb'),
  topic3: null,
};
const erc20 = {
  transactionHash: '0xaa',
  logIndex: '7',
  contract: log.address,
  from: '0x28c6c06298d514db089934071355e5743bf21d60',
  to: '0x5a52e96bacdabb82fd05763e25335261b270efcb',
  value: '1000000',
  tokenName: 'Tether',
  tokenSymbol: 'USDT',
  tokenDecimals: '6',
};
const abi = [
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256', indexed: false },
    ],
  },
];
const body = { block: { number: '1' }, logs: [log], erc20Transfers: [erc20], abi };

test('a log and its token transfer are one record with the amount', () => {
  const records = toDecodedRecords(body);
  expect(records).toHaveLength(1);
  expect(records?.[0]).toMatchObject({
    title: 'Transfer',
    about: 'ERC-20 USDT',
    place: 'log 7',
    txHash: '0xaa',
    unknown: false,
  });
  expect(records?.[0]?.fields.map(({ name, value, note }) => [name, value, note])).toEqual([
    ['contract', log.address, ''],
    ['from', '0x28C6c06298d514Db089934071355E5743bf21d60', ''],
    ['to', '0x5a52E96BAcdaBb82fd05763E25335261B270Efcb', ''],
    ['value', '1000000', '1 USDT'],
  ]);
});

test('trigger results and errors belong to their record, balances are separate', () => {
  const results = [{ name: 'symbol', value: 'USDT' }];
  const refused = [{ name: 'error', value: 'execution reverted' }];
  const address = erc20.from;
  const records = toDecodedRecords({
    ...body,
    logs: [{ ...log, triggers: results }],
    erc20Transfers: [{ ...erc20, triggers: refused }],
    nativeBalances: [{ address, balance: '1500000000000000000' }],
  });
  expect(records?.[0]?.fields.slice(-2).map(({ name, value }) => [name, value])).toEqual([
    ['trigger error', 'execution reverted'],
    ['trigger symbol', 'USDT'],
  ]);
  expect(records?.[1]).toMatchObject({
    title: 'Native balance',
    fields: [{ value: address }, { name: 'balance', note: '1.5 native' }],
  });
});

test('watched addresses and the fee are shown with their record', () => {
  const watched = { triggered_by: [erc20.from, erc20.to] };
  const tx = { hash: '0xaa', receiptStatus: '1', transactionFee: '0.000021', ...watched };
  const records = toDecodedRecords({
    ...body,
    logs: [{ ...log, ...watched }],
    erc20Transfers: [{ ...erc20, ...watched }],
    txs: [tx, { ...tx, transactionFee: null, triggered_by: null }],
  });
  const triggeredBy = { name: 'triggered by', value: `${erc20.from}, ${erc20.to}`, note: '' };
  expect(records?.[0]?.fields.slice(4)).toEqual([triggeredBy]);
  expect(records?.[1]?.fields.slice(4)).toEqual([
    { name: 'fee', value: '0.000021 native', note: '' },
    triggeredBy,
  ]);
  expect(records?.[2]?.fields).toHaveLength(4);
});

test('a transfer is named by its record without an ABI, or by its topic without either', () => {
  expect(toDecodedRecords({ ...body, abi: [] })?.[0]).toMatchObject({ title: 'Transfer' });
  const bare = toDecodedRecords({ ...body, abi: [], erc20Transfers: [] })?.[0];
  expect(bare).toMatchObject({ title: 'Transfer', unknown: false });
  const strange = { ...log, topic0: word('17ab') };
  expect(toDecodedRecords({ ...body, logs: [strange], erc20Transfers: [] })?.[0]).toMatchObject({
    title: 'Unknown event',
    unknown: true,
  });
});

test('the log of a native transfer has the native amount, also with an ABI of its topic', () => {
  const word = (digits: string): string => `0x${digits.padStart(64, '0')}`;
  const log = {
    address: '0xfffffffffffffffffffffffffffffffffffffffe',
    logIndex: '3',
    topic0: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    topic1: word('aa'),
    topic2: word('bb'),
    topic3: null,
    data: word('de0b6b3a7640000'),
  };
  const body = { block: {}, logs: [log], erc20Transfers: [{ logIndex: '3', contract: '0x' }] };
  expect(toDecodedRecords(body)).toMatchObject([
    {
      title: 'Native transfer',
      place: 'log 3',
      unknown: false,
      fields: [
        { name: 'from', value: `0x${'aa'.padStart(40, '0')}` },
        { name: 'to', value: `0x${'bb'.padStart(40, '0')}` },
        { name: 'value', value: '1000000000000000000', note: '1 native' },
      ],
    },
  ]);
});

test('a body that is not a webhook is null, and an invalid one is decoded as far as possible', () => {
  expect(toDecodedRecords('text')).toBeNull();
  expect(toDecodedRecords({ a: 1 })).toBeNull();
  const lies = { block: {}, logs: [null, 3, { logIndex: {} }], abi: [{}], txs: 'no' };
  expect(toDecodedRecords(lies)).toHaveLength(1);
});

test('Aptos coins have their amount', () => {
  const coin = { name: 'Aptos Coin', symbol: 'APT', decimals: 8, type: '' };
  const records = toDecodedRecords({
    block: { number: '1' },
    coinTransfers: [{ coin, from: '0x1', to: '0x2', value: '150000000', txHash: '0xbb' }],
    coinDeposits: [],
    coinWithdrawals: [{ coin, address: '0x1', value: '1', txHash: '0xbb' }],
    transactions: [{ hash: '0xbb', sender: '0x1', success: true, type: 'user_transaction' }],
  });
  expect(records?.map(({ title }) => title)).toEqual([
    'Coin transfer',
    'Withdrawal',
    'Transaction',
  ]);
  expect(records?.[0]?.fields[2]).toEqual({ name: 'value', value: '150000000', note: '1.5 APT' });
});

test('a call is a record with its arguments and the reason of its failure', () => {
  const call = {
    transactionHash: '0xaa',
    transactionIndex: '3',
    traceAddress: [0],
    type: 'delegatecall',
    from: erc20.from,
    to: erc20.to,
    value: '0',
    function: 'pay(address,uint256[])',
    arguments: [{ name: 'amounts', type: 'uint256[]', value: ['1', '2'] }],
    status: 'failed',
    reason: { kind: 'error', message: 'not today', data: null },
  };
  const [record] = toDecodedRecords({ ...body, logs: [], erc20Transfers: [], calls: [call] }) ?? [];
  expect(record).toMatchObject({ title: 'pay', about: 'delegatecall', place: 'call 3' });
  const fields = Object.fromEntries((record?.fields ?? []).map(({ name, value }) => [name, value]));
  expect(fields).toMatchObject({ amounts: '["1","2"]', status: 'failed', reason: 'not today' });
});

test('values on chain are shown in their unit, with their blocks', () => {
  const token = '0xdac17f958d2ee523a2206206994597c13d831ec7';
  const [balance, price, first, invalid] = toDecodedRecords({
    block: {},
    reads: [
      {
        balance: token,
        of: erc20.from,
        when: { below: '1000' },
        decimals: 6,
        before: { block: '16225661', value: '1250000000' },
        after: { block: '16225662', value: '750000000' },
      },
      {
        contract: token,
        function: 'getPrice(string)',
        arguments: ['ETH'],
        output: 'price',
        when: 'changes',
        decimals: null,
        before: { block: '1', value: ['1', true] },
        after: { block: '2', value: ['2', true] },
      },
      { balance: 'native', of: erc20.from, when: 'changes', decimals: 18, before: null },
      { when: { below: 5 }, after: 'nonsense' },
    ],
  })!;
  expect(balance).toMatchObject({ title: 'Token balance', about: 'when it falls below 1,000' });
  const shown = (record: typeof balance) =>
    record?.fields.flatMap(({ name, value, note }) => (value === '' ? [] : [[name, value, note]]));
  expect(shown(balance)).toEqual([
    ['token', token, ''],
    ['account', erc20.from, ''],
    ['before', '1250000000', '1,250 in block 16,225,661'],
    ['after', '750000000', '750 in block 16,225,662'],
  ]);
  expect(price).toMatchObject({ title: 'getPrice', about: 'when it changes' });
  expect(shown(price)?.slice(1)).toEqual([
    ['argument 1', 'ETH', ''],
    ['output', 'price', ''],
    ['before', '["1",true]', 'in block 1'],
    ['after', '["2",true]', 'in block 2'],
  ]);
  expect(shown(first)?.at(1)).toEqual(['before', 'none', '']);
  expect(invalid).toMatchObject({ title: '', about: '' });
});

test('matched addresses have their label, factory and rules by name', () => {
  const [matched, others] = toMatchedAddresses({
    matched: [
      {
        address: erc20.from,
        label: 'treasury',
        factory: 1,
        rules: [
          { field: 'topic0', index: 0 },
          { field: 'advancedOptions', index: 1 },
          { field: 'includeNativeTxs', index: null },
        ],
      },
      { address: null, label: null, factory: null, rules: 'nonsense' },
    ],
  });
  expect(matched).toMatchObject({ address: erc20.from, label: 'treasury', factory: 1 });
  expect(others).toEqual({ address: null, label: null, factory: null, rules: [] });
  const stream = {
    topic0: ['Transfer(address,address,uint256)'],
    advancedOptions: [{}, { function: 'claim()' }],
  } as unknown as Stream;
  const namesOf = (of?: Stream) => matched?.rules.map((rule) => nameMatchedRule(rule, of));
  expect(namesOf(stream)).toEqual(['event Transfer', 'filter of claim', 'Transactions']);
  expect(namesOf()).toEqual(['event 1', 'filter 2', 'Transactions']);
  expect(toMatchedAddresses(body)).toEqual([]);
});
