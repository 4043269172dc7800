import { describe, expect, test } from 'vitest';
import { InvalidValue } from '../../../config/setting.ts';
import { readChains } from './chains.ts';

describe('chains', () => {
  test('have an id, a URL and options; a second URL for an id adds a provider', () => {
    expect(
      readChains([
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
    ['eth=https://a.example', /should be <hexId>=<rpcUrl>/],
    ['0x1', /should be <hexId>=<rpcUrl>/],
    ['0x1=ftp://a.example', /"ftp:\/\/a.example" should be an http/],
    ['0x1=https://a.example,confirmations=-1', /confirmations=-1 should be a whole number/],
    ['0x1=https://a.example,confirmations=safe', /=safe should be a whole number, or finalized/],
    ['0x1=https://a.example,poll=1', /poll=1 should be at least/],
  ])('rejects %s with the expected form', (text, message) => {
    expect(() => readChains([text])).toThrow(InvalidValue);
    expect(() => readChains([text])).toThrow(message);
  });
});

test('chains accept `finalized`, and reject a repeated URL', () => {
  expect(readChains(['0x1=https://a.example,confirmations=finalized'])).toMatchObject([
    { urls: ['https://a.example'], confirmations: 'finalized' },
  ]);
  expect(() => readChains(['0x1=https://a.example', '1=https://a.example'])).toThrow(
    /this URL is given twice for 0x1; each provider should be a different node/,
  );
});

test('chains accept trust, operator and ranges, for its chain or node only', () => {
  const [one, two] = readChains([
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
  expect(() => readChains(['0x1=https://a.example,trust=all'])).toThrow(
    /trust=all should be trust=evidence, trust=strict or trust=node/,
  );
  expect(() => readChains(['0x1=https://a.example,operator='])).toThrow(/should name the operator/);
  expect(() => readChains(['0x1=https://a.example,ranges=all'])).toThrow(/ranges=verified/);
});

test.each([
  ['accept=unverified', { trust: 'evidence' }, 'trust=evidence'],
  ['proof=on', { trust: 'strict' }, 'trust=strict'],
  ['proof=off', { trust: 'node' }, 'trust=node'],
  ['verify=headers', { verifyHeaders: true }, 'ranges=verified'],
])('chains read the old option %s with a warning', (option, read, replacement) => {
  const [chain] = readChains([`0x1=https://a.example,${option}`]);
  expect(chain).toMatchObject(read);
  expect(chain!.warnings).toEqual([
    `0x1: ${option} is now ${replacement}; the old option will be removed in the next release`,
  ]);
  const [name] = option.split('=');
  expect(() => readChains([`0x1=https://a.example,${name}=x`])).toThrow(
    new RegExp(`${name}=x should be ${name}=`),
  );
});
