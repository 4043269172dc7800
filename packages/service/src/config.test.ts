import { describe, expect, test } from 'vitest';
import { ConfigError, checkConfig, parseAptos, parseChains, type ServiceConfig } from './config.ts';

describe('--chain', () => {
  test('reads id, URL and options; a second URL of one id is a second provider', () => {
    expect(
      parseChains([
        '0X1=https://a.example/v3/key?x=1,2,confirmations=5,poll=100',
        '1=https://b.example',
        '0x7a69=ws://127.0.0.1:8545',
      ]),
    ).toEqual([
      {
        id: '0x1',
        urls: ['https://a.example/v3/key?x=1,2', 'https://b.example'],
        pollMs: 100,
        confirmations: 5,
      },
      { id: '0x7a69', urls: ['ws://127.0.0.1:8545'], pollMs: 5000 },
    ]);
  });

  test.each([
    ['eth=https://a.example', /--chain eth=.*<hexId>=<rpcUrl>/],
    ['0x1', /should be <hexId>=<rpcUrl>/],
    ['0x1=ftp://a.example', /"ftp:\/\/a.example" should be an http/],
    ['0x1=https://a.example,confirmations=-1', /confirmations=-1 should be a whole number/],
    ['0x1=https://a.example,poll=1', /poll=1 should be at least/],
  ])('refuses %s, saying what it should be', (text, message) => {
    expect(() => parseChains([text])).toThrow(ConfigError);
    expect(() => parseChains([text])).toThrow(message);
  });
});

test('--aptos reads network and URL', () => {
  expect(parseAptos(['testnet=https://node.example/v1'])).toEqual([
    { network: 'testnet', url: 'https://node.example/v1' },
  ]);
  expect(() => parseAptos(['testnet'])).toThrow(/<network>=<url>/);
});

describe('settings', () => {
  const good: ServiceConfig = {
    port: 0,
    host: '127.0.0.1',
    dataFolder: 'x',
    chains: [],
    aptos: [],
    allowPrivateEndpoints: false,
  };
  test.each([
    [{ port: 70_000 }, /--port 70000/],
    [{ port: Number.NaN }, /--port/],
    [{ apiKey: 'short' }, /--api-key: should have at least 16 characters, this one has 5/],
    [{ secret: '' }, /--secret/],
    [{ databaseUrl: 'mysql://x' }, /--database-url/],
  ])('%j is refused by name', (change, message) => {
    expect(() => checkConfig({ ...good, ...change })).toThrow(message);
  });
  test('the defaults pass', () => {
    expect(() => checkConfig(good)).not.toThrow();
  });
});
