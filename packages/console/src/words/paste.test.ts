import { expect, test } from 'vitest';
import { recognize, toAddress } from './paste.ts';

const ADDRESS = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const HASH = `0x${'ab'.repeat(32)}`;

test.each([
  [` ${ADDRESS}\n`, { kind: 'address', family: 'evm', address: ADDRESS }],
  ['0x1', { kind: 'address', family: 'aptos', address: '0x1' }],
  [HASH.toUpperCase().replace('0X', '0x'), { kind: 'hash', hash: HASH }],
  ['0x1::coin::transfer', { kind: 'event', family: 'aptos', event: '0x1::coin::transfer' }],
  ['23,835,201', { kind: 'block', number: 23_835_201 }],
  ['#41', { kind: 'block', number: 41 }],
  ['Vitalik.ETH', { kind: 'name', isResolved: true, name: 'vitalik.eth' }],
  ['🦄.pay_me.eth', { kind: 'name', isResolved: true, name: '🦄.pay_me.eth' }],
  ['pay.greg.apt', { kind: 'name', isResolved: false, name: 'pay.greg.apt' }],
  [
    '0190F3C2-0000-7000-8000-000000000001',
    { kind: 'id', id: '0190f3c2-0000-7000-8000-000000000001' },
  ],
  [
    'Transfer(address,address,uint256)',
    { kind: 'event', family: 'evm', event: 'Transfer(address,address,uint256)' },
  ],
  [
    'event Transfer(address indexed from, address indexed to, uint256 value);',
    {
      kind: 'event',
      family: 'evm',
      event: 'event Transfer(address indexed from, address indexed to, uint256 value);',
    },
  ],
  [`https://etherscan.io/tx/${HASH}?a=1`, { kind: 'hash', hash: HASH }],
  [
    `https://basescan.org/address/${ADDRESS}#code`,
    { kind: 'address', family: 'evm', address: ADDRESS },
  ],
  ['https://etherscan.io/block/19000000', { kind: 'block', number: 19_000_000 }],
  [
    'https://explorer.aptoslabs.com/account/0x1?network=mainnet',
    { kind: 'address', family: 'aptos', address: '0x1' },
  ],
])('%s', (text, expected) => {
  expect(recognize(text)).toMatchObject(expected);
});

test('a pasted ABI is recognized, alone or inside an artifact', () => {
  const items = '[{"type":"event","name":"Ping","inputs":[]}]';
  expect(recognize(items)).toMatchObject({ what: 'ABI', event: items });
  expect(recognize('["function f()", "event Paused(address)"]')).toMatchObject({ what: 'ABI' });
  expect(recognize('["function f()"]')).toBeUndefined();
  expect(recognize(`{"contractName":"A","abi":${items}}`)).toMatchObject({ what: 'ABI' });
  expect(recognize('[1,2]')).toBeUndefined();
});

test('a pasted address is returned with its family', () => {
  expect(toAddress(recognize(`https://etherscan.io/address/${ADDRESS}`))).toEqual({
    family: 'evm',
    address: ADDRESS,
  });
  expect(toAddress(recognize('0x1'))).toEqual({ family: 'aptos', address: '0x1' });
  expect(toAddress(recognize(HASH))).toEqual({ family: 'aptos', address: HASH });
  expect(toAddress(recognize('#41'))).toBeUndefined();
});

test('a pasted list of addresses is recognized', () => {
  expect(recognize(`address,label\n${ADDRESS},tether\n${ADDRESS},again`)).toMatchObject({
    kind: 'addresses',
    count: 2,
  });
});

test.each(['', '   ', 'whale', 'https://example.com/', '0x', '99999999999999999999'])(
  'nothing is recognized in %j',
  (text) => {
    expect(recognize(text)).toBeUndefined();
  },
);
