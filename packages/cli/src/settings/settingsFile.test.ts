import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FIELDS } from '@sluice/service';
import { Command } from 'commander';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { addServiceOptions, resolveSettings } from '../flags/options.ts';
import { CommandError } from '../terminal/errors.ts';
import { sluice } from '../terminal/scripted.test-only.ts';
import { settingsSchema } from './schema.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-settings-'));
const path = join(folder, 'sluice.yaml');
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

const write = (text: string, mode = 0o600): void => {
  writeFileSync(path, text);
  chmodSync(path, mode);
};
const resolve = (text: string, args: string[] = []) => {
  write(text);
  const command = addServiceOptions(new Command('serve'), 'folder').exitOverride();
  return resolveSettings(command.parse(['--config', path, ...args], { from: 'user' })).config;
};
const errorOf = (text: string, mode = 0o600): CommandError => {
  try {
    resolve(text);
    write(text, mode);
    const command = addServiceOptions(new Command('serve'), 'folder');
    resolveSettings(command.parse(['--config', path], { from: 'user' }));
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
  throw new Error('the file is accepted');
};

const KEY = '0123456789abcdef0123456789abcdef';
const ALL = `
port: 8080
host: 0.0.0.0
data: ledger
databaseUrl: postgres://sluice:word@db/sluice
roles: [ingest, api]
apiKey: a-key-of-16-letters
secret: whs_1
masterKeyFile: /keys/master
trustProxy: [1]
allowHosts: [sluice.example]
corsOrigins: [https://app.example]
rateLimit: 20
chains:
  0x1:
    nodes: [https://a.example/v2/${KEY}, wss://b.example]
    confirmations: finalized
    trust: strict
    operator: acme
    ranges: verified
  0x89: { nodes: ['https://c.example'], poll: 50, confirmations: 3 }
settle: 60
spamLists: { 0x1: spam.txt }
abiUrls: { 0x1: 'https://abi.example/{address}?key=word' }
maxChildren: 5000
omitRecentFields: true
aptos:
  testnet: { nodes: ['https://fullnode.example/v1', 'grpcs://:word@stream.example:443'], poll: 90 }
explorers: { 0x1: https://eth.example, aptos:testnet: https://aptos.example }
allowCidrs: [10.0.0.0/8]
allowPrivateEndpoints: true
allowNodeChanges: true
egressProxy: http://me:word@proxy.example:3128
clientCert: tls/cert.pem
clientKey: tls/key.pem
httpsOnly: true
maxPerHost: 0.5
maxTimeoutSeconds: 20
hideSecrets: true
testWebhook: false
fastRetry: false
keepDelivered: 1.5
keepUndelivered: 2
terminateAfter: 24
notifyUrl: https://ops.example
minFreeMib: 10
maxWebhookBytes: 2048
logFormat: json
`;

const FLAGS = `--port=8080 --host=0.0.0.0 --data=${join(folder, 'ledger')}
--database-url=postgres://sluice:word@db/sluice --role=ingest --role=api
--api-key=a-key-of-16-letters --secret=whs_1 --master-key-file=/keys/master --trust-proxy=1
--allow-host=sluice.example --cors-origin=https://app.example --rate-limit=20
--chain=0x1=https://a.example/v2/${KEY},confirmations=finalized,trust=strict,operator=acme,ranges=verified
--chain=0x1=wss://b.example --chain=0x89=https://c.example,poll=50,confirmations=3
--settle=60 --aptos=testnet=https://fullnode.example/v1,poll=90
--aptos=testnet=grpcs://:word@stream.example:443 --spam-list=0x1=${join(folder, 'spam.txt')}
--abi-url=0x1=https://abi.example/{address}?key=word --explorer=0x1=https://eth.example
--explorer=aptos:testnet=https://aptos.example --allow-cidr=10.0.0.0/8
--allow-private-endpoints --allow-node-changes --egress-proxy=http://me:word@proxy.example:3128
--client-cert=${join(folder, 'tls/cert.pem')} --client-key=${join(folder, 'tls/key.pem')}
--https-only --max-per-host=0.5 --max-timeout-seconds=20
--hide-secrets --no-test-webhook --no-fast-retry --keep-delivered=1.5 --keep-undelivered=2
--terminate-after=24 --notify-url=https://ops.example --min-free-mib=10
--max-webhook-bytes=2048 --max-children=5000 --omit-recent-fields --log-format=json`;

test('a file sets every setting, with the same result as the flags', () => {
  writeFileSync(join(folder, 'spam.txt'), `0x${'1'.repeat(40)}\n`);
  expect(Object.keys(parse(ALL) as object)).toEqual(FIELDS);
  const flags = addServiceOptions(new Command('serve'), 'folder');
  expect(resolve(ALL)).toEqual(
    resolveSettings(flags.parse(FLAGS.split(/\s+/), { from: 'user' })).config,
  );
});

test('a flag takes precedence over its variable, and both over the file', () => {
  const text = 'port: 1\nhost: h1\nkeepDelivered: 3\ntestWebhook: false\nroles: [all]\n';
  vi.stubEnv('SLUICE_HOST', 'h2');
  vi.stubEnv('SLUICE_PORT', '2');
  expect(resolve(text, ['--port', '3'])).toMatchObject({
    port: 3,
    host: 'h2',
    testWebhook: false,
    keepDelivered: 3,
    keepUndelivered: 30,
  });
});

test('SLUICE_CONFIG names the file; a file in the folder is not discovered', async () => {
  write('port: nine\n');
  expect((await sluice(['config', 'check'], { cwd: folder })).code).toBe(0);
  vi.stubEnv('SLUICE_CONFIG', path);
  expect((await sluice(['config', 'check'])).stderr).toContain(`${path}:1:7: port nine: should`);
});

test.each([
  ['port: 1\nhots: x\n', '2:1: unknown setting hots. Did you mean host?'],
  ['zebra: x\n', '1:1: unknown setting zebra. Remove it.'],
  ['- port\n', '1:1: the settings: should be a mapping'],
  ['port: [1]\n', '1:7: port: should be a single value'],
  ['port: 65536\n', '1:7: port 65536: should be a whole number from 0 to 65535'],
  ['host:\n', '1:6: host: should not be empty'],
  ['port: 1\nport: 2\n', '2:1: Map keys must be unique'],
  ['port: &a 1\nhost: *a\n', '2:7: host: should be a single value'],
  ['roles: api\n', '1:8: roles: should be a list'],
  ['roles:\n  - api\n  - watch\n', '3:5: roles watch: should be one of ingest'],
  ['hideSecrets: yes\n', '1:14: hideSecrets yes: should be true or false'],
  ['chains:\n  0x1: {}\n', '2:8: chains.0x1: needs nodes, a list of URLs'],
  ['chains:\n  0x1:\n    node: [a]\n', '3:5: chains.0x1 node: should be one of nodes, conf'],
  ['chains:\n  0x1:\n    nodes:\n      - ftp://a\n', '4:9: chains 0x1=ftp://a: "ftp://a" should'],
  ['chains: { 0x1: { nodes: [http://a], poll: 1 } }\n', '1:26: chains 0x1=http://a,poll=1: poll=1'],
  ['explorers: { 0x1: ftp://a }\n', '1:19: explorers 0x1=…: should be <hexId>'],
  ['apiKey: short\n', '1:9: apiKey: should have at least 16 characters; this one has 5'],
  ['roles: [api]\n', '1:9: roles api: needs --database-url'],
  [`port: ${'9 '.repeat(100_000)}\n`, '9 9…: should be a whole number'],
  ['host: ${NO_SUCH_HOST}\n', '1:7: host ${NO_SUCH_HOST}: should be set. Set NO_SUCH_HOST.'],
  ['apiKey: file:absent\n', '1:9: apiKey file:absent: ENOENT'],
])('%j: the error names the place, the field and the fix', (text, message) => {
  const error = errorOf(text);
  expect(error.code).toBe('invalid_file');
  expect(error.message).toContain(message);
  expect(error.message).toMatch(/sluice\.yaml:\d+:\d+: /);
  expect(error.message.length).toBeLessThan(600);
});

test.each([
  ['nodes: ["${VALUE}"]', 'https://a.example,trust=node', 'nodes[0] ${VALUE}: should be a URL'],
  ['nodes: [https://b.example, "${VALUE}"]', 'https://a.example,poll=20,accept=x', 'nodes[1]'],
  ['nodes: ["https://a.example/${VALUE}"]', 'key,operator=me', 'nodes[0]'],
  ['nodes: [https://a.example], trust: "${VALUE}"', 'strict,trust=node', 'trust ${VALUE}: should'],
  ['nodes: [https://a.example], operator: "${VALUE}"', 'Acme, Inc', 'operator ${VALUE}: should'],
  ['nodes: [https://a.example], operator: "${VALUE}"', 'a=b', 'operator ${VALUE}: should'],
  [
    'nodes: [https://a.example], operator: "${VALUE}"',
    'a\n,trust=node',
    'operator ${VALUE}: should',
  ],
])('a value cannot add options to a node: %s with %j', (yaml, value, message) => {
  vi.stubEnv('VALUE', value);
  const error = errorOf(`chains: { 0x1: { ${yaml} } }\n`);
  expect(error.code).toBe('invalid_file');
  expect(error.message).toContain(`chains.0x1.${message}`);
});

test('a URL of a node may contain commas and =', () => {
  vi.stubEnv('VALUE', 'a,b=c');
  const { chains } = resolve('chains: { 0x1: { nodes: ["https://a.example/${VALUE}?d=e,f"] } }\n');
  expect(chains[0]!.urls).toEqual(['https://a.example/a,b=c?d=e,f']);
});

test('the sizes of the settings file and of a referenced file are limited', () => {
  expect(errorOf(`# ${'x'.repeat(1024 * 1024)}`).message).toMatch(/at most 1048576 bytes$/);
  writeFileSync(join(folder, 'large'), 'x'.repeat(64 * 1024 + 1));
  expect(errorOf('apiKey: file:large').message).toMatch(/1:9: apiKey file:large: .* 65536 bytes$/);
});

test.skipIf(process.platform === 'win32')(
  'a reference to anything but a regular file is rejected, without waiting for it',
  () => {
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    for (const target of ['fifo', '/dev/zero', '/dev/stdin/../null', '.']) {
      const { message } = errorOf(`apiKey: file:${target}`);
      expect(message).toContain(`1:9: apiKey file:${target}: `);
      expect(message).toMatch(/should be a regular file$|ENOTDIR|ENOENT/);
    }
    const command = addServiceOptions(new Command('serve'), 'folder');
    const read = () => resolveSettings(command.parse(['--config', fifo], { from: 'user' }));
    expect(read).toThrow(`${fifo}: should be a regular file`);
  },
);

describe('secrets', () => {
  test('come from files next to the settings and from variables', () => {
    vi.stubEnv('DB_WORD', 'from-env');
    writeFileSync(join(folder, 'key'), 'key-from-a-file-1\n');
    write('apiKey: file:key\ndatabaseUrl: postgres://sluice:${DB_WORD}@db/sluice\n', 0o644);
    const command = addServiceOptions(new Command('serve'), 'folder');
    const { config } = resolveSettings(command.parse(['--config', path], { from: 'user' }));
    expect(config).toMatchObject({
      apiKey: 'key-from-a-file-1',
      databaseUrl: 'postgres://sluice:from-env@db/sluice',
    });
  });

  test.each([
    ['apiKey: a-key-of-16-letters', 'apiKey'],
    ['secret: whs_1', 'secret'],
    ['databaseUrl: postgres://sluice:word@db/sluice', 'databaseUrl'],
    ['notifyUrl: https://ops.example/?token=word', 'notifyUrl'],
    [`chains: { 0x1: { nodes: [https://a.example/v2/${KEY}] } }`, 'chains.0x1.nodes[0]'],
    ['chains: { 0x1: { nodes: [https://a.example/v2/k3y4bc5d6e7] } }', 'chains.0x1.nodes[0]'],
    ['chains: { 0x1: { nodes: [https://a.example/aBcDeFgHiJk/] } }', 'chains.0x1.nodes[0]'],
    [
      'chains: { 0x1: { nodes: [https://a.example/rpc/qwertyuiopasdfghjklzxcvbnmqwerty] } }',
      'chains.0x1.nodes[0]',
    ],
    [
      'aptos: { testnet: { nodes: [https://a.example/7c9e6679-7425-40de-944b-e07fc1f90ae7] } }',
      'aptos.testnet.nodes[0]',
    ],
    ['aptos: { testnet: { nodes: [grpcs://:word@s.example] } }', 'aptos.testnet.nodes[0]'],
    ["abiUrls: { 0x1: 'https://abi.example/{address}?key=word' }", 'abiUrls.0x1'],
  ])('%s: is refused in a file that others can read or write', (line, field) => {
    for (const mode of [0o644, 0o640, 0o604, 0o622, 0o602, 0o620]) {
      write(line, mode);
      const command = addServiceOptions(new Command('serve'), 'folder');
      const read = () => resolveSettings(command.parse(['--config', path], { from: 'user' }));
      expect(read).toThrow(
        `${field} ***: should not be in a file that others can read or write (mode`,
      );
    }
  });

  test.each([
    'databaseUrl: postgres://sluice@db/sluice',
    'chains: { 0x1: { nodes: [https://eth-mainnet.example/v2/public] } }',
    'chains: { 0xa86a: { nodes: [https://avalanche.example/ext/bc/C/rpc] } }',
    'chains: { 0x1: { nodes: [https://rpc.example/arbitrum-one-sepolia/evm/84532] } }',
    'chains: { 0x1: { nodes: [https://rpc.example/polygon_zkevm_cardona/fullNode] } }',
    'chains: { 0x1: { nodes: [https://rpc.example/binance-smart-chain-mainnet] } }',
    "abiUrls: { 0x1: 'https://abi.example/${API_WORD}/{address}?key=${API_WORD}' }",
  ])('%s: may be in a file that others can read', (line) => {
    vi.stubEnv('API_WORD', 'word');
    write(line, 0o644);
    const command = addServiceOptions(new Command('serve'), 'folder');
    resolveSettings(command.parse(['--config', path], { from: 'user' }));
  });

  test('are masked by print and in errors, whatever their source', async () => {
    writeFileSync(join(folder, 'spam.txt'), '');
    write(ALL);
    const { stdout } = await sluice(['config', 'print', '--config', path, '--port', '9']);
    expect(stdout).not.toMatch(/word|a-key|whs_1|0123456789/);
    expect(stdout).toContain('# --port\nport: 9\n');
    expect(stdout).toContain(`# ${path}:3:1\nhost: 0.0.0.0\n`);
    expect(Object.keys(parse(stdout) as object)).toEqual(FIELDS);
    expect((parse(stdout) as { chains: object }).chains).toEqual({
      '0x1': {
        nodes: ['https://a.example/v2/***', 'wss://b.example'],
        confirmations: 'finalized',
        trust: 'strict',
        operator: 'acme',
        ranges: 'verified',
      },
      '0x89': { nodes: ['https://c.example'], poll: 50, confirmations: 3 },
    });

    vi.stubEnv('NODE_KEY', 'hidden');
    write('chains: { 0x1: { nodes: ["${NODE_KEY}"] } }\n');
    const { stderr } = await sluice(['config', 'check', '--config', path]);
    expect(stderr).toContain('chains 0x1=${NODE_KEY}: "${NODE_KEY}" should be an http://');
    write(`chains: { 0x1: { nodes: ["ftp://me:hidden@a.example/${KEY}?k=hidden"] } }\n`);
    const other = await sluice(['config', 'check', '--config', path]);
    expect(other.stderr).toContain('chains 0x1=ftp://***@a.example/***?k=***: ');
    expect(stderr + other.stderr).not.toMatch(/hidden|0123456789/);
  });
});

test('print writes a file with the same settings', async () => {
  const text = ALL.replaceAll(/^(apiKey|secret):.*$/gm, '')
    .replaceAll('word', '')
    .replace(KEY, 'x');
  writeFileSync(join(folder, 'spam.txt'), '');
  const plain = text
    .replace(':@db', '@db')
    .replace('sluice@', '')
    .replace(':@stream', 'stream')
    .replace('me:@', '')
    .replace('?key=', '');
  const before = resolve(plain);
  const { stdout } = await sluice(['config', 'print', '--config', path]);
  expect(resolve(stdout)).toEqual(before);
});

test('check counts the settings by source, and warns about unknown variables', async () => {
  write('port: 1\nhost: ${SLUICE_TEST_HOST}\n');
  vi.stubEnv('SLUICE_TEST_HOST', '127.0.0.1');
  const env = { SLUICE_TEST_HOST: '127.0.0.1', SLUICE_RETE_LIMTI: '' };
  const run = await sluice(['config', 'check', '--config', path, '--data', 'x'], { env });
  expect(run).toMatchObject({
    code: 0,
    stdout: 'Settings are valid: 2 from the settings file, 0 from variables, 1 from flags\n',
    stderr: 'Ignoring unknown variable SLUICE_RETE_LIMTI. Did you mean SLUICE_RATE_LIMIT?\n',
  });
});

test('the example of the operations page is valid', () => {
  const page = readFileSync(new URL('../../../../docs/operations.md', import.meta.url), 'utf8');
  const [, example = ''] = /^```yaml\n(# yaml-language-server[\s\S]*?)^```$/m.exec(page)!;
  vi.stubEnv('DB_PASSWORD', 'word');
  vi.stubEnv('NODE_KEY', KEY);
  writeFileSync(join(folder, 'key'), 'a-key-of-16-letters');
  const config = resolve(example.replace('/run/secrets/sluice-api-key', 'key'));
  expect(config.chains).toMatchObject([{ id: '0x1', confirmations: 'finalized' }]);
});

// To update the schema, run `npx vitest run --project unit packages/cli/src/settings --update`.
test('docs/sluice.schema.json is current', async () => {
  const schema = new URL('../../../../docs/sluice.schema.json', import.meta.url).pathname;
  await expect(`${JSON.stringify(settingsSchema(), null, 2)}\n`).toMatchFileSnapshot(schema);
});

test('all errors of a run are reported at once', () => {
  const error = errorOf(`
port: 99999999
rolse: [all]
logFormat: xml
rateLimit: many
chains:
  0x1: { nodes: [nope, https://a.example] }
  0x2: { nodes: [https://b.example], confirmations: few }
  0x3: { nodes: [https://c.example] }
aptos:
  testnet: { nodes: [grpcs://d.example, https://d.example] }
`);
  expect(error).toMatchObject({ code: 'invalid_file', message: '6 settings are invalid' });
  const why = error.why.join('\n');
  for (const line of ['3:1: unknown setting rolse', ':2:', ':4:', ':5:', ':7:', ':8:']) {
    expect(why).toContain(line);
  }
  // Settings are checked together only once each is valid.
  expect(errorOf('apiKey: short\nroles: [api]\negressProxy: ftp://x').why).toEqual([
    expect.stringContaining('apiKey') as string,
    expect.stringContaining('egressProxy') as string,
  ]);
});
