import { describe, expect, test } from 'vitest';
import type { ConfigError } from './configError.ts';
import { type GivenValue, readSetting } from './readSetting.ts';
import type { Field } from './settings.ts';

const read = <F extends Field>(field: F, given: GivenValue) => {
  const errors: ConfigError[] = [];
  const value = readSetting(field, given, (error) => errors.push(error));
  return { value, errors: errors.map(({ message }) => message) };
};

test('the texts of flags become values', () => {
  expect(read('port', '80').value).toBe(80);
  expect(read('settle', '0.5').value).toBe(0.5);
  expect(read('maxPerHost', undefined).value).toBeUndefined();
  expect(read('fastRetry', false).value).toBe(false);
  expect(read('trustProxy', ['1']).value).toEqual(['1']);
  expect(read('roles', ['api', 'ingest']).value).toEqual(['ingest', 'api']);
});

test.each<[Field, GivenValue, string[]]>([
  ['port', '1.5', ['--port 1.5: should be a whole number from 0 to 65535']],
  ['rateLimit', '1e9', ['--rate-limit 1e9: should be a number of at least 0']],
  ['logFormat', 'xml', ['--log-format xml: should be one of text, json']],
  ['apiKey', 'short', ['--api-key: should have at least 16 characters; this one has 5']],
  [
    'allowHosts',
    ['a.example', 'b:1', 'c:2'],
    [expect.stringMatching(/^--allow-host b:1: should/), expect.stringMatching(/ c:2: should/)],
  ],
])('%s %j: each invalid text is reported', (field, given, errors) => {
  expect(read(field, given).errors).toEqual(errors);
});

test('a text may need a later one', () => {
  const stream = 'testnet=grpcs://:KEY@stream.example:443';
  const other = 'testnet=grpcs://:KEY@other.example:443';
  const node = 'testnet=https://node.example/v1';
  expect(read('aptos', [stream, other, node])).toMatchObject({
    errors: [],
    value: [{ pollMs: 500 }],
  });
  expect(read('aptos', [stream]).errors).toEqual([
    expect.stringMatching(/^--aptos testnet=grpcs:\/\/…: a transaction stream contains only/),
  ]);
});

describe('explorers', () => {
  test('have a chain of any family and a URL', () => {
    expect(
      read('explorers', [
        '1=https://eth.blockscout.com',
        'aptos:local=http://127.0.0.1:3000/?network=local',
      ]),
    ).toEqual({
      value: {
        '0x1': 'https://eth.blockscout.com',
        'aptos:local': 'http://127.0.0.1:3000/?network=local',
      },
      errors: [],
    });
  });

  test.each(['eth=https://a.example', '0x1=javascript:alert(1)', 'aptos:x=https://a', '0x1'])(
    '%s is rejected',
    (wrong) => {
      expect(read('explorers', [wrong]).errors).toEqual([
        expect.stringMatching(/^--explorer .*=…: should be <hexId>=<http or https/),
      ]);
    },
  );

  test('are given once per chain', () => {
    expect(read('explorers', ['0x1=https://a', '1=https://b']).errors).toEqual([
      '--explorer 0x1=…: is given twice',
    ]);
  });
});
