/** Tests the commands for streams, stream files, addresses, deliveries, dry runs and doctor. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cutText } from '../terminal/text.ts';
import { ALICE, BOB, SECRET, type World, startWorld } from './world.test-only.ts';

let world: World;
let sluice: World['sluice'];

beforeAll(async () => {
  world = await startWorld();
  ({ sluice } = world);
});
afterAll(() => world.stop());

const json = async <T>(...args: string[]): Promise<T> =>
  JSON.parse((await sluice([...args, '--json'])).stdout) as T;

interface Shown {
  id: string;
  tag: string;
  status: string;
  description: string;
  includeContractLogs: boolean;
  amountOfAddresses: number;
}

describe('streams', () => {
  test('are created from flags and shown', async () => {
    const flags = ['--url', world.sink.url, '--tag', 'wallet', '--chain', '31337', '--logs'];
    const made = await json<Shown>('streams', 'create', ...flags, '--address', ALICE, BOB);
    expect(made).toMatchObject({
      tag: 'wallet',
      chainIds: ['0x7a69'],
      includeContractLogs: true,
      amountOfAddresses: 2,
    });
    expect(await json('streams', 'get', 'wallet')).toMatchObject({ id: made.id });
    const { stdout } = await sluice(['streams', 'get', made.id]);
    expect(stdout).toMatch(/^tag +wallet$/m);
  });

  test('the list fits 80 columns', async () => {
    const { stdout } = await sluice(['streams', 'list']);
    expect(stdout).toMatch(/^STREAM +STATE +WATCHES +CHAINS +QUEUE +DELIVERED +FAILURES +LAST\n/);
    expect(stdout).toMatch(/\nwallet +active +2 addr +0x7a69 +0 +\d+ +0 +/);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(await json<Shown[]>('streams', 'list')).toMatchObject([{ tag: 'wallet' }]);
  });

  test('the list counts factories and values', async () => {
    const { id } = await world.api.streams.create({
      webhookUrl: world.sink.url,
      tag: 'sources',
      description: '',
      chainIds: ['0x7a69'],
      factories: [{ address: ALICE, event: 'Created(address child)', parameter: 'child' }],
      reads: [{ balance: 'native', of: [ALICE], when: 'changes' }],
    });
    const { stdout } = await sluice(['streams', 'list', '--columns', 'stream,watches']);
    expect(stdout).toMatch(/\nsources +1 factory · 1 value *\n/);
    await sluice(['streams', 'delete', id, '--yes']);
  });

  test('a stream on a chain without a node names the missing flag', async () => {
    const flags = ['--url', world.sink.url, '--tag', 'unserved', '--chain', '0x1', '--native'];
    const wanted = 'No source for 0x1: start the service with --chain 0x1=<rpcUrl>';
    expect((await sluice(['streams', 'create', ...flags])).stderr).toContain(wanted);
    expect((await sluice(['streams', 'get', 'unserved'])).stderr).toContain(wanted);
    const { stdout, stderr } = await sluice(['streams', 'list']);
    expect(stdout).toMatch(/\nunserved +attention /);
    expect(stderr).toContain(`unserved: ${wanted}`);
    await sluice(['streams', 'pause', 'unserved']);
    expect((await sluice(['streams', 'list'])).stdout).toMatch(/\nunserved +paused /);
    const resumed = await sluice(['streams', 'resume', 'unserved']);
    expect([resumed.stdout, resumed.stderr]).toEqual([
      'Resumed unserved\n',
      expect.stringContaining(`unserved: ${wanted}`),
    ]);
    await sluice(['streams', 'delete', 'unserved', '--yes']);
  });

  test('are updated, paused and resumed', async () => {
    expect(await json('streams', 'update', 'wallet', '--description', 'mine')).toMatchObject({
      description: 'mine',
      includeContractLogs: true,
    });
    expect((await sluice(['streams', 'update', 'wallet'])).code).toBe(2);
    expect((await sluice(['streams', 'pause', 'wallet'])).stdout).toBe('Paused wallet\n');
    expect(await json('streams', 'get', 'wallet')).toMatchObject({ status: 'paused' });
    expect(await json('streams', 'resume', 'wallet')).toMatchObject({ status: 'active' });
  });

  test('each switch can be turned off again', async () => {
    const switches = {
      logs: 'includeContractLogs',
      native: 'includeNativeTxs',
      internal: 'includeInternalTxs',
      'notify-removed': 'notifyRemoved',
      proofs: 'includeProofs',
      'strict-order': 'strictOrder',
    };
    const set = async (flags: string[]): Promise<Record<string, unknown>> =>
      json('streams', 'update', 'wallet', ...flags);
    const names = Object.keys(switches);
    const all = Object.values(switches);
    const on = await set(names.map((name) => `--${name}`));
    expect(all.map((field) => on[field])).toEqual(all.map(() => true));
    const off = await set(names.map((name) => `--no-${name}`));
    expect(all.map((field) => off[field])).toEqual(all.map(() => false));
    await set(['--logs']);
  });

  test('the maximum size of webhooks is set in bytes', async () => {
    const flag = '--max-webhook-bytes';
    const update = await json('streams', 'update', 'wallet', flag, '65536');
    expect(update).toMatchObject({ maxWebhookBytes: 65_536 });
    const { code, stderr } = await sluice(['streams', 'update', 'wallet', flag, '1000']);
    expect([code, stderr]).toEqual([5, expect.stringContaining('should be at least 65536')]);
  });

  test('an error names the flag, and is JSON with --json', async () => {
    const args = ['streams', 'create', '--tag', 'bad', '--chain', '0x7a69', '--url', 'nowhere'];
    const text = await sluice(args);
    expect(text.stderr).toMatch(/^ {2}why: --url \(webhookUrl\) should be/m);
    expect(text.stderr).not.toContain('requestBody');
    const { code, stdout, stderr } = await sluice([...args, '--json']);
    expect([code, stdout]).toEqual([5, '']);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'validation_failed',
        message: expect.any(String) as string,
        why: [expect.stringMatching(/^--url \(webhookUrl\)/) as string],
        docs: 'npm run -s sluice -- docs validation_failed',
        requestId: expect.any(String) as string,
      },
    });
  });

  test('a stream is found by its tag as a table shortens it', async () => {
    const tag = 'a-tag-that-a-narrow-table-shortens';
    const { id } = await world.api.streams.create({
      webhookUrl: world.sink.url,
      tag,
      description: '',
      chainIds: ['0x7a69'],
      includeNativeTxs: true,
    });
    for (const given of [cutText(tag, 12), cutText(tag, 15, 'middle')]) {
      expect(await json<Shown>('streams', 'get', given)).toMatchObject({ id, tag });
    }
    expect((await sluice(['streams', 'get', 'no-such…'])).code).toBe(4);
    await sluice(['streams', 'delete', id, '--yes']);
  });

  test('a copy has the same tag, which is then ambiguous', async () => {
    const copy = await json<Shown>('streams', 'duplicate', 'wallet');
    const { code, stderr } = await sluice(['streams', 'get', 'wallet']);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(copy.id) as string,
    });
    expect(await sluice(['streams', 'delete', copy.id])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('repeat the command with --yes') as string,
    });
    const asked = world.start(['streams', 'delete', copy.id], { tty: true });
    asked.type('wallet\n');
    expect(await asked.ended).toMatchObject({ code: 0, stdout: 'Deleted wallet\n' });
    expect(await json<Shown[]>('streams', 'list')).toHaveLength(1);
  });

  test('the exit code is 4 for a missing stream, 5 for a rejected one', async () => {
    const missing = await sluice(['streams', 'get', 'nobody']);
    expect(missing).toMatchObject({ code: 4, stdout: '' });
    expect(missing.stderr).toBe(
      'error[not_found]: There is no stream "nobody"\n  fix: use an existing one: wallet\n  docs: npm run -s sluice -- docs not_found\n',
    );
    const refused = await sluice(['streams', 'create', '--url', 'ftp://x', '--chain', '1']);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toMatch(
      /^error\[validation_failed\]: [\s\S]*why: --url \(webhookUrl\) [\s\S]*docs: npm run -s sluice -- docs validation_failed\n {2}request: [\da-f-]{36}\n$/,
    );
  });
});

describe('apply and export', () => {
  const file = (): string => join(world.folder, 'sluice.yaml');
  const declare = (text: string): void => writeFileSync(file(), text);
  const token = (more: string): string => `
streams:
  - tag: token
    webhookUrl: ${world.sink.url}/token
    chainIds: ['0x7A69']
    includeContractLogs: true
    topic0: ['Transfer(address,address,uint256)']
${more}`;

  test('creates what the file declares; a second run changes nothing', async () => {
    declare(
      token(`    addresses:\n      - '${ALICE}'\n      - { address: '${BOB}', label: Bob }\n`),
    );
    const dry = await sluice(['apply', '-f', file(), '--dry-run']);
    expect(dry.stdout).toMatch(/^\+ token\n {4}webhookUrl: .*\n[\s\S]* {4}2 addresses\n$/);
    expect(dry.stderr).toBe('Nothing was changed (--dry-run)\n');
    expect(await sluice(['apply', '-f', file()])).toMatchObject({ code: 0, stdout: dry.stdout });
    const again = await sluice(['apply', '-f', file()]);
    expect(again).toEqual({ code: 0, stdout: '= token\n', stderr: 'Nothing to change\n' });
  });

  test('changes are shown by field; omitted fields get their defaults', async () => {
    declare(
      token(`    description: tokens\n    addresses: ['${ALICE}']\n`).replace(
        '    includeContractLogs: true\n',
        '',
      ),
    );
    const { stdout } = await sluice(['apply', '-f', file()]);
    expect(stdout).toBe(
      '~ token\n    description: "" → "tokens"\n    includeContractLogs: true → false\n    - 1 address\n',
    );
    expect(await json('streams', 'get', 'token')).toMatchObject({
      description: 'tokens',
      includeContractLogs: false,
      amountOfAddresses: 1,
    });
    expect(await json('apply', '-f', file())).toEqual([{ do: 'keep', tag: 'token' }]);
  });

  test('additional destinations are created, compared by URL, changed and removed', async () => {
    const spread = join(world.folder, 'spread.yaml');
    const write = (text: string): void => writeFileSync(spread, text);
    const stream = `
streams:
  - tag: spread
    webhookUrl: sluice://inbox/spread
    chainIds: ['0x7a69']
`;
    const withDestinations = (more: string): string => `${stream}    destinations:\n${more}`;
    const feed = `      - description: own programs\n        webhookUrl: sluice://feed\n`;
    const inbox = `      - { webhookUrl: 'sluice://inbox/copy', strictOrder: true }\n`;
    write(withDestinations(feed + inbox));
    const dry = await sluice(['apply', '-f', spread, '--dry-run']);
    expect(dry.stdout).toContain('    + destination sluice://feed\n');
    await sluice(['apply', '-f', spread]);
    expect(await json('destinations', 'list', 'spread')).toMatchObject([
      { destination: 1, webhookUrl: 'sluice://feed', description: 'own programs' },
      { destination: 2, webhookUrl: 'sluice://inbox/copy', strictOrder: true },
    ]);
    expect((await sluice(['apply', '-f', spread])).stdout).toBe('= spread\n');
    expect((await sluice(['export'])).stdout).toContain(
      `    destinations:\n      - description: own programs\n        webhookUrl: sluice://feed\n`,
    );

    // Without the key, they stay.
    write(stream);
    expect((await sluice(['apply', '-f', spread])).stdout).toBe('= spread\n');
    write(withDestinations(feed.replace('own programs', 'ours')));
    const changed = await sluice(['apply', '-f', spread]);
    expect(changed.stdout).toBe(
      '~ spread\n    - destination sluice://inbox/copy\n    ~ destination sluice://feed\n' +
        '      description: "own programs" → "ours"\n',
    );
    expect(await json('destinations', 'list', 'spread')).toMatchObject([
      { destination: 1, description: 'ours' },
    ]);
    write(`${stream}    destinations: []\n`);
    expect(await json('apply', '-f', spread)).toEqual([
      {
        do: 'update',
        tag: 'spread',
        changes: [],
        destinationsAdded: [],
        destinationsChanged: [],
        destinationsRemoved: [1],
        addressesAdded: 0,
        addressesRemoved: 0,
      },
    ]);
    expect(await json('destinations', 'list', 'spread')).toEqual([]);
    for (const [line, why] of [
      ['destinations: sluice://feed', 'destinations should be a list'],
      ['destinations: [{ description: none }]', 'destinations[0]: webhookUrl'],
      [
        'destinations: [{ webhookUrl: sluice://feed, tag: x }]',
        'destinations[0]: unknown field: tag',
      ],
    ] as const) {
      write(`${stream}    ${line}\n`);
      const { code, stderr } = await sluice(['apply', '-f', spread, '--dry-run']);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`spread: ${why}`)]);
    }
    await sluice(['streams', 'delete', 'spread', '-y']);
  });

  test('apply finds no changes in an exported file', async () => {
    const exported = join(world.folder, 'exported.yaml');
    await sluice(['export', '-o', exported]);
    expect(readFileSync(exported, 'utf8')).toContain('tag: wallet');
    expect((await sluice(['apply', '-f', exported])).stdout).toBe('= token\n= wallet\n');
    expect((await sluice(['export'])).stdout).toBe(readFileSync(exported, 'utf8'));
  });

  test('a dry run rejects what apply would reject', async () => {
    const file = join(world.folder, 'misspelt.yaml');
    for (const [line, why] of [
      ['descripton: mine', 'unknown field: descripton'],
      ['maxInFlight: many', 'maxInFlight: '],
    ] as const) {
      const url = `webhookUrl: ${world.sink.url}`;
      writeFileSync(
        file,
        `streams:\n  - tag: typo\n    ${url}\n    chainIds: ['0x7a69']\n    ${line}\n`,
      );
      for (const flags of [[], ['--dry-run']]) {
        const { code, stdout, stderr } = await sluice(['apply', '-f', file, ...flags]);
        expect([code, stdout]).toEqual([2, '']);
        expect(stderr).toContain(`${file}: typo: ${why}`);
      }
    }
  });

  test('streams that share a tag are exported and applied by id', async () => {
    const stream = { webhookUrl: world.sink.url, tag: 'twins', chainIds: ['0x7a69'] };
    const first = await world.api.streams.create({ ...stream, description: 'elder' });
    await world.api.streams.create({ ...stream, description: 'younger' });
    const file = join(world.folder, 'twins.yaml');
    await sluice(['export', '-o', file]);
    const kept = await sluice(['apply', '-f', file]);
    expect([kept.code, kept.stderr]).toEqual([0, 'Nothing to change\n']);
    writeFileSync(file, readFileSync(file, 'utf8').replace('younger', 'youngest'));
    expect(await json('apply', '-f', file)).toContainEqual({
      do: 'update',
      tag: 'twins',
      addressesAdded: 0,
      addressesRemoved: 0,
      changes: [{ field: 'description', from: 'younger', to: 'youngest' }],
    });
    await sluice(['streams', 'delete', first.id, '--yes']);
    expect(await json('apply', '-f', file)).toEqual(
      expect.arrayContaining([
        { do: 'create', tag: 'twins' },
        { do: 'keep', tag: 'twins' },
      ]),
    );
    for (const { id, tag } of await world.client.listStreamSummaries()) {
      if (tag === 'twins') await sluice(['streams', 'delete', id, '--yes']);
    }
  });

  test('flags can add fields that a file omits', async () => {
    const file = join(world.folder, 'part.yaml');
    writeFileSync(file, "tag: part\nchainIds: ['0x7a69']\n");
    const url = `${world.sink.url}/part`;
    const made = await json<{ id: string }>('streams', 'create', '-f', file, '--url', url);
    expect(made).toMatchObject({ tag: 'part', webhookUrl: url });
    await sluice(['streams', 'delete', made.id, '--yes']);
  });

  test('--prune deletes other streams after a prompt', async () => {
    expect(await sluice(['apply', '-f', file(), '--prune'])).toMatchObject({ code: 2 });
    const { stdout } = await sluice(['apply', '-f', file(), '--prune', '--yes']);
    expect(stdout).toBe('= token\n- wallet\n');
    expect((await json<Shown[]>('streams', 'list')).map(({ tag }) => tag)).toEqual(['token']);
  });

  test.each([
    ['streams: 5', 'streams should be a list'],
    ['streams:\n  - webhookUrl: x', 'stream 1 has no tag'],
    ['streams:\n  - { tag: a }\n  - { tag: a }', 'several streams have the tag or ID a'],
    ['streams:\n  - { tag: a, addresses: [0x12] }', 'should be a quoted address'],
    ['streams: [', 'sluice.yaml: '],
  ])('%j is rejected', async (text, message) => {
    declare(text);
    const { code, stderr } = await sluice(['apply', '-f', file()]);
    expect(code).toBe(2);
    expect(stderr).toContain('error[invalid_file]');
    expect(stderr).toContain(message);
  });
});

describe('addresses', () => {
  const path = (): string => join(world.folder, 'wallets.csv');
  const addressOf = (at: number): string => `0x${(at + 1).toString(16).padStart(40, '0')}`;

  test.each([
    ['=HYPERLINK("https://evil.example")', `"'=HYPERLINK(""https://evil.example"")"`],
    [' spaces; semicolons ', '" spaces; semicolons "'],
    ['🙂'.repeat(64), '🙂'.repeat(64)],
  ])('the label %j is listed without a formula, and imported as it was', async (label, cell) => {
    await sluice(['addresses', 'add', 'token', BOB, '--label', label]);
    const { stdout } = await sluice(['addresses', 'list', 'token', '--find', BOB]);
    expect(stdout).toBe(`${BOB},${cell}\n`);
    await sluice(['addresses', 'remove', 'token', BOB]);
    writeFileSync(path(), stdout);
    await sluice(['addresses', 'import', 'token', path()]);
    expect(await json('addresses', 'list', 'token', '--find', BOB)).toMatchObject({ label });
    await sluice(['addresses', 'remove', 'token', BOB]);
  });

  test('are added with a label, listed and removed', async () => {
    await sluice(['addresses', 'add', 'token', BOB, '--label', 'Bob, the second']);
    const { stdout } = await sluice(['addresses', 'list', 'token']);
    expect(stdout).toBe(`${BOB},"Bob, the second"\n${ALICE}\n`);
    const found = async (text: string) =>
      (await sluice(['addresses', 'list', 'token', '--find', text])).stdout;
    expect(await found('SECOND')).toBe(`${BOB.toLowerCase()},"Bob, the second"\n`);
    expect(await found(`${BOB.slice(0, 6)}…${BOB.slice(-4)}`)).toContain(BOB.toLowerCase());
    expect(await found('nobody')).toBe('');
    expect(await json('addresses', 'list', 'token', '--find', 'second')).toEqual({
      address: BOB.toLowerCase(),
      label: 'Bob, the second',
      addedAt: expect.any(Number) as number,
      addedBy: 'bootstrap',
    });
    expect((await sluice(['addresses', 'remove', 'token', BOB])).stdout).toBe(
      'Removed 1 address from token\n',
    );
    expect(await sluice(['addresses', 'remove', 'token', BOB])).toMatchObject({ code: 4 });
  });

  test('imports 25,000 from a file, saves rejected lines and reports progress', async () => {
    const lines = Array.from({ length: 25_000 }, (_, at) => `${addressOf(at)},wallet ${at}`);
    lines.splice(3, 0, 'hello', `${addressOf(0)},again`);
    writeFileSync(path(), `address,label\n${lines.join('\n')}\n`);
    const run = await sluice(['addresses', 'import', 'token', path()]);
    expect(run.code).toBe(8);
    expect(run.stdout).toBe(
      `Imported 25,000 addresses from ${path()} to token, skipped 1 duplicate line\n`,
    );
    expect(run.stderr).toMatch(/^\d,\d{3} of 25,000 addresses {2}[\d,]+\/s {2}\d+ s left\n/);
    expect(run.stderr).toContain('line 5: No address found');
    expect(readFileSync(`${path()}.rejects`, 'utf8')).toMatch(
      /^address,label\n# Line 5: .*\nhello\n$/,
    );
    expect(await json('streams', 'get', 'token')).toMatchObject({ amountOfAddresses: 25_001 });
  });

  test('diff shows what --replace would do, and --replace prompts', async () => {
    writeFileSync(path(), `${addressOf(0)}\n${BOB}\n`);
    const { added, removed } = await json<{ added: object[]; removed: object[] }>(
      'addresses',
      'diff',
      'token',
      path(),
    );
    expect([added.length, removed.length]).toEqual([1, 25_000]);
    expect(await sluice(['addresses', 'import', 'token', path(), '--replace'])).toMatchObject({
      code: 2,
    });
    const replaced = await sluice(['addresses', 'import', 'token', path(), '--replace', '-y']);
    expect(replaced).toMatchObject({ code: 0 });
    expect(replaced.stdout).toContain('removed 25,000');
    expect((await sluice(['addresses', 'diff', 'token', path()])).stdout).toBe('');
  });

  test('an interrupted import prints how to resume', async () => {
    writeFileSync(path(), Array.from({ length: 30 }, (_, at) => addressOf(at + 50)).join('\n'));
    const running = world.start(['addresses', 'import', 'token', path(), '--from', '11']);
    running.interrupt();
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr === '' || stderr.includes(`import token ${path()} --from 11`)).toBe(true);
    await sluice(['addresses', 'import', 'token', path(), '--from', '21']);
    const { stdout } = await sluice(['addresses', 'list', 'token']);
    expect(stdout).toContain(addressOf(70));
    expect(stdout).not.toContain(addressOf(69));
  });
});

describe('deliveries and dry runs', () => {
  let id: string;

  beforeAll(async () => {
    const flags = ['--url', world.sink.url, '--tag', 'pay', '--chain', '31337', '--logs'];
    await sluice(['streams', 'create', ...flags, '--address', ALICE]);
    world.pay(250n);
    const { id: first } = await until('the webhook is delivered', async () =>
      (await world.client.listDeliveries({ state: 'succeeded' })).result.find(
        ({ phase }) => phase === 'unconfirmed',
      ),
    );
    id = first;
  });

  test('are listed and shown, and their bodies printed unchanged', async () => {
    const { stdout } = await sluice(['deliveries', 'list', '--stream', 'pay']);
    expect(stdout).toMatch(
      /^DELIVERY .*\n[\s\S]+ pay +1 +unconfirmed +succeeded +200 +1 +\d+ s ago\n/,
    );
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const columns = ['deliveries', 'list', '--limit', '1', '--columns'];
    expect((await sluice([...columns, 'http,stream'])).stdout).toBe('HTTP  STREAM\n 200  pay\n');
    expect(await sluice([...columns, 'nothing'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('should be one of delivery, stream, block') as string,
    });
    const [listed] = await json<object[]>('deliveries', 'list', '--limit', '1');
    expect(listed).toMatchObject({ tag: 'pay' });
    expect((await sluice(['deliveries', 'get', id])).stdout).toMatch(/^state +succeeded$/m);
    const body = await world.client.getDeliveryBody(id);
    expect((await sluice(['deliveries', 'payload', id])).stdout).toBe(body);
    const path = ['deliveries', 'payload', id, '--path', '$.erc20Transfers[0].value'];
    expect((await sluice(path)).stdout).toBe('250\n');
    expect(await sluice([...path.slice(0, 4), '$.nothing'])).toMatchObject({ code: 4 });
  });

  test('a dry run prints matching blocks and checks --expect', async () => {
    const range = ['dry-run', '--stream', 'pay', '--blocks', '0..1'];
    const { code, stdout, stderr } = await sluice([...range, '--expect', '1']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: [
        '#1  1 record  Transfer 250 0x7099…79c8 → 0x3c44…93bc',
        'Events of the addresses:',
        '  1 × Transfer(address,address,uint256)',
        '',
      ].join('\n'),
    });
    expect(stderr).toContain('1 of 2 blocks matched, 1 record');
    expect(await sluice([...range, '--expect', '2'])).toMatchObject({ code: 9 });
    const { hash } = world.chain.blockAt(1n)!.transactions[0]!;
    const one = await sluice(['dry-run', '--stream', 'pay', '--tx', hash]);
    const ofBlock = stdout.replace('addresses:', 'addresses in the complete block:');
    expect(one).toMatchObject({ code: 0, stdout: ofBlock });
    const absent = await sluice(['dry-run', '--stream', 'pay', '--tx', `0x${'ab'.repeat(32)}`]);
    expect(absent).toMatchObject({ code: 4 });
    expect(await sluice(['dry-run', '--stream', 'pay'])).toMatchObject({ code: 2 });
    const file = join(world.folder, 'one.yaml');
    writeFileSync(
      file,
      `tag: one\nwebhookUrl: http://x\nchainIds: ['0x7a69']\nincludeContractLogs: true\naddresses: ['${BOB}']\n`,
    );
    expect(await json('dry-run', '-f', file, '--blocks', '1')).toMatchObject({
      block: 1,
      records: 1,
    });
  });

  test('a dry run shows trigger results, balances and close matches', async () => {
    world.chain.answerBalances(() => 1_500_000_000_000_000_000n);
    world.chain.answerCalls(() => `0x${(750).toString(16).padStart(64, '0')}`);
    const declare = (name: string, bound: string): string => {
      const file = join(world.folder, name);
      writeFileSync(
        file,
        `tag: closeMatches
webhookUrl: http://x
chainIds: ['0x7a69']
includeContractLogs: true
addresses: ['${ALICE}']
topic0: ['Transfer(address,address,uint256)']
abi:
  - type: event
    name: Transfer
    inputs:
      - { name: from, type: address, indexed: true }
      - { name: to, type: address, indexed: true }
      - { name: value, type: uint256, indexed: false }
advancedOptions:
  - topic0: Transfer(address,address,uint256)
    filter: { gte: [value, '${bound}'] }
triggers:
  - type: erc20transfer
    contractAddress: $contract
    functionAbi:
      type: function
      name: balanceOf
      stateMutability: view
      inputs: [{ name: owner, type: address }]
      outputs: [{ name: tokens, type: uint256 }]
    inputs: [$from]
getNativeBalances: [{ type: erc20transfer, selectors: [$from] }]
`,
      );
      return file;
    };
    const low = declare('low.yaml', '250');
    expect((await sluice(['dry-run', '-f', low, '--blocks', '0..1'])).stdout).toBe(
      [
        '#1  1 record  Transfer 250 0x7099…79c8 → 0x3c44…93bc',
        '    trigger  tokens  750',
        '    balance  0x7099…79c8  1.5 native',
        'Events of the addresses:',
        '  1 × Transfer(address,address,uint256)',
        '',
      ].join('\n'),
    );
    expect(await json('dry-run', '-f', low, '--blocks', '1')).toMatchObject({
      webhook: { erc20Transfers: [{ triggers: [{ name: 'tokens', value: '750' }] }] },
      closeMatches: [],
    });
    const { hash } = world.chain.blockAt(1n)!.transactions[0]!;
    const one = await json('dry-run', '-f', low, '--tx', hash);
    expect(one).toMatchObject({ webhook: { nativeBalances: [{ address: ALICE }] } });

    const high = declare('high.yaml', '1000');
    const missed = await sluice(['dry-run', '-f', high, '--blocks', '0..1', '--expect', '0']);
    expect(missed).toMatchObject({
      code: 0,
      stdout: [
        'Events of the addresses:',
        '  1 × Transfer(address,address,uint256)',
        'Close matches:',
        '  1 × Transfer  value ≥ 1,000',
        '      actual: 250',
        '',
      ].join('\n'),
    });
    expect(await json('dry-run', '-f', high, '--blocks', '0..1')).toMatchObject({
      block: 1,
      records: 0,
      webhook: null,
      closeMatches: [{ name: 'value', operator: 'gte', filterValue: '1000', count: 1, min: '250' }],
      observed: [{ signature: 'Transfer(address,address,uint256)', indexed: 2, count: 1 }],
    });
  });

  test('verify accepts a genuine webhook and explains others', async () => {
    const { headers, body } = await world.sink.waitFor((each) => each.id === id);
    const given = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].flatMap((name) => [
      '--header',
      `${name}: ${String(headers[name])}`,
    ]);
    const verify = (secret: string, input: string, ...more: string[]) =>
      sluice(['verify', ...given, '--secret', secret, ...more], { input });
    expect(await verify(SECRET, body)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('✓ genuine  pay 0x7a69 #1') as string,
    });
    const altered = await verify(SECRET, JSON.stringify(JSON.parse(body), undefined, 2), '--json');
    expect(altered.code).toBe(9);
    expect(JSON.parse(altered.stdout)).toMatchObject({
      valid: false,
      problem: 'body-reserialized',
    });
    expect((await verify('other', body)).stderr).toContain('error[check_failed]: wrong-secret');
    expect((await verify('other', body, '--other-secret', `prod=${SECRET}`)).stderr).toContain(
      'The secret is named "prod".',
    );
    expect(await sluice(['verify', ...given], { input: body })).toMatchObject({ code: 2 });
  });

  test('doctor reports a healthy service, and problems', async () => {
    const { code, stdout } = await sluice(['doctor']);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/✓ chain +.*live/) as string,
    });
    const gone = await sluice(['doctor', '--api-url', 'http://127.0.0.1:9']);
    expect(gone.code).toBe(9);
    expect(gone.stdout).toContain('✗ service   http://127.0.0.1:9 does not respond');
    expect(gone.stderr).toMatch(/^error\[check_failed\]: 1 of 2 checks failed: service\n/);
    const config = join(world.folder, 'config');
    mkdirSync(join(config, 'sluice'), { recursive: true });
    writeFileSync(join(config, 'sluice', 'contexts.json'), '{"contexts":{}}', { mode: 0o644 });
    const open = await sluice(['doctor'], { env: { XDG_CONFIG_HOME: config } });
    expect(open.code).toBe(9);
    expect(open.stdout).toMatch(/^✗ contexts {2}\S+ contains[^✗]* read it\n +chmod 600 /m);
    const stranger = await json<object[]>('doctor', '--api-key', 'x'.repeat(20));
    expect(stranger).toContainEqual(expect.objectContaining({ check: 'key', state: 'bad' }));
  });

  test('doctor explains why a stream does not deliver, with a fix', async () => {
    const stream = { webhookUrl: `${world.sink.url}/down`, description: '', allAddresses: true };
    const ids: string[] = [];
    for (const [tag, chain] of [
      ['resting', '0x7a69'],
      ['nowhere', '0x1'],
      ['broken', '0x7a69'],
    ] as const) {
      const { id } = await world.api.streams.create({
        ...stream,
        tag,
        chainIds: [chain],
        includeContractLogs: true,
        abi: [],
        topic0: ['Transfer(address,address,uint256)'],
      });
      ids.push(id);
      if (tag === 'resting') await world.api.streams.setStatus(id, 'paused');
    }
    const resting = await sluice(['doctor']);
    expect(resting.stdout).toMatch(
      /✓ stream +resting is paused\n +npm run -s sluice -- streams resume [\da-f]{8}\n/,
    );
    expect(resting.stdout).toMatch(
      /✗ stream +nowhere is on 0x1, but no node is configured[^✗]*--chain 0x1=/,
    );
    expect(resting.code).toBe(9);
    world.sink.respond({ status: 500 }, { path: '/down' });
    world.pay(77n);
    await until('the stream is failing', async () =>
      (await world.client.listStreamSummaries()).some((each) => each.failingSince !== null),
    );
    const failing = await sluice(['doctor']);
    const path = new URL(stream.webhookUrl).pathname;
    expect(failing.stdout).toMatch(
      new RegExp(
        `✗ stream +broken has a failing receiver, since [^✗]*curl -v -X POST \\S+${path};`,
      ),
    );
    for (const id of ids) await sluice(['streams', 'delete', id, '--yes']);
  });

  test('chains test makes the calls that ingestion makes', async () => {
    const { code, stdout } = await sluice(['chains', 'test', world.chain.url]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^✓ chain +\d+ ms 31337\n✓ head [\s\S]*[✓!] traces/) as string,
    });
    const gone = await json<object[]>('chains', 'test', 'http://127.0.0.1:9');
    expect(gone).toContainEqual(expect.objectContaining({ what: 'chain', needed: true }));
    expect(await sluice(['chains', 'test', 'http://127.0.0.1:9'])).toMatchObject({ code: 9 });
    expect(await sluice(['chains', 'test', 'node'])).toMatchObject({ code: 2 });
  });

  test('open prints the URL of the console', async () => {
    expect((await sluice(['open', id])).stdout).toBe(`${world.url}/console/deliveries/${id}\n`);
    expect(existsSync(join(world.folder, 'nothing'))).toBe(false);
  });
});
