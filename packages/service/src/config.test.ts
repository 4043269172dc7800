import { CallerError } from './base/errors.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  checkConfig,
  parseAptos,
  parseChains,
  parseExplorers,
  readSpamLists,
  type ServiceConfig,
} from './config.ts';

describe('--chain', () => {
  test('accepts an id, a URL and options; a second URL for an id adds a provider', () => {
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
    ['0x1=https://a.example,confirmations=safe', /=safe should be a whole number, or finalized/],
    ['0x1=https://a.example,poll=1', /poll=1 should be at least/],
  ])('rejects %s with the expected form', (text, message) => {
    expect(() => parseChains([text])).toThrow(CallerError);
    expect(() => parseChains([text])).toThrow(message);
  });
});

test('--chain accepts `finalized`, and rejects a repeated URL', () => {
  expect(parseChains(['0x1=https://a.example,confirmations=finalized'])).toMatchObject([
    { urls: ['https://a.example'], confirmations: 'finalized' },
  ]);
  expect(() => parseChains(['0x1=https://a.example', '1=https://a.example'])).toThrow(
    /this URL is given twice for 0x1; each provider should be a different node/,
  );
});

test('--chain accepts trust, operator and ranges, for its chain or node only', () => {
  const [one, two] = parseChains([
    '0x19=https://a.example/,k,trust=strict,poll=500',
    '0x19=https://b.example,operator=A',
    '0x1=https://b.example,ranges=verified',
  ]);
  expect(one).toMatchObject({
    urls: ['https://a.example/,k', 'https://b.example'],
    operators: { 'https://b.example': 'A' },
    trust: 'strict',
    pollMs: 500,
  });
  expect(two).toMatchObject({ verifyHeaders: true });
  expect([one!.verifyHeaders, two!.trust]).toEqual([undefined, undefined]);
  expect(() => parseChains(['0x1=https://a.example,trust=all'])).toThrow(
    /trust=all should be trust=evidence, trust=strict or trust=node/,
  );
  expect(() => parseChains(['0x1=https://a.example,operator='])).toThrow(
    /should name the operator/,
  );
  expect(() => parseChains(['0x1=https://a.example,ranges=all'])).toThrow(/ranges=verified/);
});

test.each([
  ['accept=unverified', { trust: 'evidence' }, 'trust=evidence'],
  ['proof=on', { trust: 'strict' }, 'trust=strict'],
  ['proof=off', { trust: 'node' }, 'trust=node'],
  ['verify=headers', { verifyHeaders: true }, 'ranges=verified'],
])('--chain reads the old option %s with a warning', (option, read, replacement) => {
  const [chain] = parseChains([`0x1=https://a.example,${option}`]);
  expect(chain).toMatchObject(read);
  expect(chain!.warnings).toEqual([
    `--chain 0x1: ${option} is now ${replacement}; the old option will be removed in the next release`,
  ]);
  const [name] = option.split('=');
  expect(() => parseChains([`0x1=https://a.example,${name}=x`])).toThrow(
    new RegExp(`${name}=x should be ${name}=`),
  );
});

test('--aptos accepts a network and URLs', () => {
  expect(
    parseAptos([
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
  expect(() => parseAptos(['testnet'])).toThrow(/<network>=<url>/);
  expect(() => parseAptos(['mainet=https://node.example/v1'])).toThrow(
    /a network of mainnet, testnet, devnet, local/,
  );
  expect(() => parseAptos(['local=http://a/v1', 'local=http://a/v1'])).toThrow(/given twice/);
  expect(() => parseAptos(['local=grpc://a:1', 'local=grpc://a:1'])).toThrow(/given twice/);
  expect(() => parseAptos(['testnet=grpcs://:KEY@a:443'])).toThrow(
    /^--aptos testnet=grpcs:\/\/…: a transaction stream contains only transactions\. Add a fullnode's REST API/,
  );
  expect(() => parseAptos(['local=http://a/v1,poll=1'])).toThrow(/at least 20/);
  expect(() => parseAptos(['local=http://a/v1,confirmations=3'])).toThrow(
    /does not apply to Aptos/,
  );
});

test('--explorer accepts a chain of either family and a URL', () => {
  expect(
    parseExplorers([
      '1=https://eth.blockscout.com',
      'aptos:local=http://127.0.0.1:3000/?network=local',
    ]),
  ).toEqual({
    '0x1': 'https://eth.blockscout.com',
    'aptos:local': 'http://127.0.0.1:3000/?network=local',
  });
  for (const wrong of [
    'eth=https://a.example',
    '0x1=javascript:alert(1)',
    'aptos:x=https://a',
    '0x1',
  ]) {
    expect(() => parseExplorers([wrong])).toThrow(/^--explorer .*should be <hexId>=<http or https/);
  }
  expect(() => parseExplorers(['0x1=https://a', '1=https://b'])).toThrow(/given twice/);
});

describe('--spam-list', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-spam-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (text: string): string => {
    const path = join(folder, 'list.txt');
    writeFileSync(path, text);
    return path;
  };
  const address = `0x${'Ab'.repeat(20)}`;

  test('reads addresses, comments and blank lines, and merges the lists of a chain', () => {
    const first = file(`# fakes\n\n ${address} # a fake\r\n`);
    const lists = readSpamLists([`0x01=${first}`]);
    expect(lists).toEqual({ '0x1': new Set([address.toLowerCase()]) });
    expect(Object.keys(readSpamLists([`1=${first}`, `0x1=${first}`, `0x89=${first}`]))).toEqual([
      '0x1',
      '0x89',
    ]);
  });

  test('reports a line that is not an address, and a missing file', () => {
    expect(() => readSpamLists([`0x1=${file(`${address}\n0x12`)}`])).toThrow(
      /line 2, "0x12", should be an address/,
    );
    expect(() => readSpamLists([`0x1=${join(folder, 'none')}`])).toThrow(
      /cannot be read: .*ENOENT|no such file/,
    );
    expect(() => readSpamLists(['eth=x'])).toThrow(/should be <hexId>=<file>/);
  });
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
    [{ apiKey: 'short' }, /--api-key: should have at least 16 characters; this one has 5/],
    [{ secret: '' }, /--secret/],
    [{ databaseUrl: 'mysql://x' }, /--database-url/],
    [{ notifyUrl: 'ops.example' }, /--notify-url ops.example: should be an absolute http/],
    [{ notifyUrl: 'ftp://ops.example/x' }, /--notify-url ftp:.*should be an absolute http/],
    [{ roles: ['deliver', 'api'] as const }, /--role deliver --role api: needs --database-url/],
    [
      { roles: ['ingest'] as const, databaseUrl: 'postgres://x' },
      /--role ingest: needs a chain to read/,
    ],
  ])('%j is rejected with the name of the setting', (change, message) => {
    expect(() => checkConfig({ ...good, ...change })).toThrow(message);
  });
  test('the defaults are valid', () => {
    expect(() => checkConfig(good)).not.toThrow();
  });
  test('alerts may be sent to a private address', () => {
    expect(() => checkConfig({ ...good, notifyUrl: 'http://10.0.0.1/x' })).not.toThrow();
  });
});
