import { expect, test } from 'vitest';
import { readNetworks } from './networks.ts';

test('networks have a name and URLs', () => {
  expect(
    readNetworks([
      'testnet=https://node.example/v1',
      'mainnet=https://a.example/v1,poll=200',
      'testnet=https://other.example/v1?key=a,b',
      'testnet=grpcs://:KEY@stream.example:443',
    ]),
  ).toEqual([
    {
      network: 'testnet',
      urls: ['https://node.example/v1', 'https://other.example/v1?key=a,b'],
      streams: ['grpcs://:KEY@stream.example:443'],
      pollMs: 500,
    },
    { network: 'mainnet', urls: ['https://a.example/v1'], streams: [], pollMs: 200 },
  ]);
  expect(() => readNetworks(['testnet'])).toThrow(/<network>=<url>/);
  expect(() => readNetworks(['mainet=https://node.example/v1'])).toThrow(
    /a network of mainnet, testnet, devnet, local/,
  );
  expect(() => readNetworks(['local=http://a/v1', 'local=http://a/v1'])).toThrow(/given twice/);
  expect(() => readNetworks(['local=grpc://a:1', 'local=grpc://a:1'])).toThrow(/given twice/);
  expect(() => readNetworks(['testnet=grpcs://:KEY@a:443'])).toThrow(
    /^a transaction stream contains only transactions\. Add a fullnode's REST API/,
  );
  expect(() => readNetworks(['local=http://a/v1,poll=1'])).toThrow(/at least 20/);
  expect(() => readNetworks(['local=http://a/v1,confirmations=3'])).toThrow(
    /does not apply to Aptos/,
  );
});
