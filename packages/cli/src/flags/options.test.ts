import { Command } from 'commander';
import { afterEach, expect, test, vi } from 'vitest';
import { addServiceOptions, resolveSettings } from './options.ts';

afterEach(() => vi.unstubAllEnvs());

const parse = (args: string[]) => {
  const command = addServiceOptions(new Command('serve'), 'folder').exitOverride();
  command.parse(args, { from: 'user' });
  return resolveSettings(command).config;
};

test('every flag has its default', () => {
  expect(parse([])).toMatchObject({
    port: 4400,
    host: '127.0.0.1',
    data: 'folder',
    databaseUrl: undefined,
    apiKey: undefined,
    chains: [],
    aptos: [],
    allowPrivateEndpoints: false,
    roles: ['ingest', 'deliver', 'api'],
  });
});

test('roles are parsed; a variable may contain several', () => {
  const shared = ['--database-url', 'postgres://db/sluice'];
  expect(parse([...shared, '--role', 'api', '--role', 'ingest']).roles).toEqual(['ingest', 'api']);
  expect(parse(['--role', 'all']).roles).toEqual(['ingest', 'deliver', 'api']);
  vi.stubEnv('SLUICE_ROLE', 'deliver api');
  expect(parse(shared).roles).toEqual(['deliver', 'api']);
  vi.stubEnv('SLUICE_ROLE', 'watch');
  expect(() => parse(shared)).toThrow('SLUICE_ROLE watch: should be one of');
  expect(() => parse(['--role', 'watch'])).toThrow(
    '--role watch: should be one of ingest, deliver, api, all',
  );
});

test('the alert URL is a flag or a variable; default: none', () => {
  expect(parse([]).notifyUrl).toBeUndefined();
  vi.stubEnv('SLUICE_NOTIFY_URL', 'https://ops.example/variable');
  expect(parse([]).notifyUrl).toBe('https://ops.example/variable');
  expect(parse(['--notify-url', 'https://ops.example/flag']).notifyUrl).toBe(
    'https://ops.example/flag',
  );
});

test('flags repeat, and a flag takes precedence over its variable', () => {
  vi.stubEnv('SLUICE_PORT', '5000');
  vi.stubEnv('SLUICE_HOST', '0.0.0.0');
  const config = parse([
    '--port',
    '0',
    '--chain',
    '0x1=http://a',
    '--chain',
    '0x89=http://b,poll=50',
  ]);
  expect(config).toMatchObject({ port: 0, host: '0.0.0.0' });
  expect(config.chains.map(({ id, urls, pollMs }) => [id, urls[0], pollMs])).toEqual([
    ['0x1', 'http://a', undefined],
    ['0x89', 'http://b', 50],
  ]);
});

test('the variable of a repeatable flag holds values separated by spaces', () => {
  vi.stubEnv('SLUICE_CHAIN', ' 0x1=http://a  0x89=http://b ');
  vi.stubEnv('SLUICE_APTOS', 'testnet=https://node.example/v1');
  const config = parse([]);
  expect(config.chains.map(({ id }) => id)).toEqual(['0x1', '0x89']);
  expect(config.aptos).toEqual([
    { network: 'testnet', urls: ['https://node.example/v1'], streams: [], pollMs: 500 },
  ]);
});

test.each([
  ['1', true],
  ['true', true],
  ['false', false],
  ['0', false],
  ['', false],
])('SLUICE_ALLOW_PRIVATE_ENDPOINTS=%j means %j', (value, expected) => {
  vi.stubEnv('SLUICE_ALLOW_PRIVATE_ENDPOINTS', value);
  expect(parse([]).allowPrivateEndpoints).toBe(expected);
});

test.each([
  ['1', false],
  ['false', true],
  ['', true],
])('SLUICE_NO_TEST_WEBHOOK=%j sets testWebhook to %j', (value, expected) => {
  vi.stubEnv('SLUICE_NO_TEST_WEBHOOK', value);
  expect(parse([]).testWebhook).toBe(expected);
});

test('retention settings are parsed', () => {
  expect(parse([])).toMatchObject({
    keepDelivered: 7,
    keepUndelivered: 30,
    minFreeMib: 512,
    terminateAfter: undefined,
  });
  expect(
    parse(['--keep-delivered', '0.5', '--terminate-after', '24', '--min-free-mib', '0']),
  ).toMatchObject({
    keepDelivered: 0.5,
    minFreeMib: 0,
    terminateAfter: 24,
  });
});

test.each([
  ['--keep-delivered', '0'],
  ['--keep-undelivered', 'x'],
  ['--terminate-after', '-1'],
  ['--min-free-mib', '1e9'],
])('%s %s is rejected; the error names the flag', (flag, value) => {
  expect(() => parse([flag, value])).toThrow(`${flag} ${value}: should be a number`);
});

test.each([
  ['--port', 'x'],
  ['--port', '-1'],
  ['--port', '65536'],
])('%s %s is rejected; the error names the flag', (...args) => {
  expect(() => parse(args)).toThrow(`--port ${args[1]}: should be a whole number from 0 to 65535`);
});
