/** Tests that Ctrl-C ends each long-running command at once and leaves no partial results. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { sampleWebhook } from '@sluice/kit/testing';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TOKEN, type World, startWorld } from './world.test-only.ts';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const PAYMENTS = 8;
const ADDRESSES = 30_000;
let world: World;

beforeAll(async () => {
  world = await startWorld();
  const stream = {
    webhookUrl: world.sink.url,
    description: '',
    tag: 'pay',
    chainIds: ['0x7a69'],
    includeContractLogs: true,
  };
  const { id } = await world.api.streams.create(stream);
  await world.api.streams.addAddress(id, TOKEN);
  await world.api.streams.create({ ...stream, tag: 'many' });
  for (let value = 1; value <= PAYMENTS; value++) world.pay(BigInt(value));
  await world.sink.waitFor(PAYMENTS);
  // An export reads the streams one by one, so many streams leave enough time to interrupt it.
  await Promise.all(
    Array.from({ length: 60 }, (_, n) => world.api.streams.create({ ...stream, tag: `idle-${n}` })),
  );
  world.chain.mineMany(2_000);
  world.sink.respond({ delayMs: 100 }, { path: '/slow' });
});
afterAll(() => world.stop());

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly files: string[];
}

/** Starts a command in a folder and sends Ctrl-C once it is running. */
async function interrupt(
  args: readonly string[],
  underWay: RegExp | (() => boolean),
  folder = mkdtempSync(join(world.folder, 'cwd-')),
): Promise<Ended> {
  const child = spawn(process.execPath, ['-C', '@sluice/source', main, ...args], {
    cwd: folder,
    env: { ...process.env, ...world.env, NO_COLOR: '1' },
    // The command gets its own process group, as on a terminal.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const closed = once(child, 'close') as Promise<[number | null]>;
  const isUnderWay = underWay instanceof RegExp ? () => underWay.test(output) : underWay;
  await until('the command is running', isUnderWay, 30_000).catch((error: Error) => {
    throw new Error(`${error.message}\n${output}`);
  });
  process.kill(-child.pid!, 'SIGINT');
  const [code] = await closed;
  expect(() => process.kill(-child.pid!, 0)).toThrow('ESRCH');
  return { code, output, files: readdirSync(folder) };
}

const addressOf = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`;

/** Commands, each with output that shows that it is running. */
const running: [args: string, underWay: RegExp][] = [
  ['listen 3000', /Forwarding/],
  ['tail --debug', /GET/],
  ['trigger erc20-transfer --to SINK --count 1000 --rate 5/s', /200/],
  ['dry-run --stream pay --blocks 0..2000', /^#\d+  1 record /m],
  ['replay --stream pay --to SINK', /✓ 200[\s\S]*✓ 200/],
  ['export -o streams.yaml --debug', /GET/],
];

test.concurrent.each(running)('%s stops on Ctrl-C and leaves no file', async (args, underWay) => {
  const words = args.replace('SINK', `${world.sink.url}/slow`).split(' ');
  const { code, output, files } = await interrupt(words, underWay);
  expect(code, output).toBe(130);
  expect(files).toEqual([]);
});

test('replay --wait: the replay continues, and the command to cancel it is printed', async () => {
  const words = 'replay --stream pay --state succeeded --rate 1 --yes --wait --debug'.split(' ');
  const { code, output } = await interrupt(words, /GET \S+replays\/\S+ 200/);
  expect(code, output).toBe(130);
  const [, cancel = ''] =
    /^The replay continues in the service\. .*cancel: npm run -s sluice -- (.+)$/m.exec(output)!;
  const ended = await world.sluice([...cancel.split(' '), '--json']);
  expect(JSON.parse(ended.stdout)).toMatchObject({ state: 'cancelled' });
});

test('addresses import: the printed command resumes it', async () => {
  const folder = mkdtempSync(join(world.folder, 'import-'));
  const lines = Array.from({ length: ADDRESSES }, (_, at) => addressOf(at + 1));
  writeFileSync(join(folder, 'wallets.csv'), lines.join('\n'));
  const words = 'addresses import many wallets.csv --label-column 1'.split(' ');
  const { code, output, files } = await interrupt(words, /^\d+,\d+ of 30,000/m, folder);
  expect(code, output).toBe(130);
  expect(files).toEqual(['wallets.csv']);
  const [, resume = ''] =
    /^ {2}npm run -s sluice -- (addresses import many wallets\.csv --from \d+ --label-column 1)$/m.exec(
      output,
    )!;
  const rest = resume.replace('wallets.csv', join(folder, 'wallets.csv')).split(' ');
  expect(await world.sluice(rest)).toMatchObject({ code: 0 });
  const shown = await world.sluice(['streams', 'get', 'many', '--json']);
  expect(JSON.parse(shown.stdout)).toMatchObject({ amountOfAddresses: ADDRESSES });
});

test('addresses import: survives a restart of the service without duplicates', async () => {
  const folder = mkdtempSync(join(world.folder, 'restart-'));
  const path = join(folder, 'wallets.csv');
  const lines = Array.from({ length: 12_000 }, (_, at) => `${addressOf(at + 1)},customer ${at}`);
  writeFileSync(path, ['address,label', ...lines].join('\n'));
  const { tag } = await world.api.streams.create({
    webhookUrl: world.sink.url,
    description: '',
    tag: 'restarted',
    chainIds: ['0x7a69'],
    includeContractLogs: true,
  });
  const begun = world.start(['addresses', 'import', tag, path]);
  await until('the command is running', () => /\d of 12,000/.test(begun.stderr()));
  await world.restart();
  let { code, stderr } = await begun.ended;
  // The import may succeed despite the restart, because it retries its calls.
  while (code !== 0) {
    const [, resume = ''] = /^ {2}npm run -s sluice -- (addresses import .+ --from \d+)$/m.exec(
      stderr,
    )!;
    ({ code, stderr } = await world.sluice(resume.split(' ')));
  }
  const { stdout } = await world.sluice(['addresses', 'list', tag]);
  expect(stdout === `${lines.join('\n')}\n`, 'the list equals the file').toBe(true);
});

test('fixture run: the files are unchanged', async () => {
  const folder = mkdtempSync(join(world.folder, 'fixtures-'));
  const body = JSON.stringify(sampleWebhook('erc20-transfer'));
  const names = Array.from({ length: 50 }, (_, at) => `${at + 10}.json`);
  for (const name of names) writeFileSync(join(folder, name), body);
  const words = ['fixture', 'run', '.', '--to', `${world.sink.url}/slow`];
  const { code, output, files } = await interrupt(words, /✓ 200/, folder);
  expect(code, output).toBe(130);
  expect(output).not.toContain(names.at(-1));
  expect(files).toEqual(names);
  for (const name of names) expect(readFileSync(join(folder, name), 'utf8')).toBe(body);
});

test('backup: the file is complete or missing', async () => {
  const folder = mkdtempSync(join(world.folder, 'backup-'));
  const source = ['--data', join(world.folder, 'data')];
  await world.sluice(['backup', join(folder, 'data', 'sluice.db'), ...source]);
  const ledger = new DatabaseSync(join(folder, 'data', 'sluice.db'));
  ledger.exec('create table page (bytes blob); insert into page values (zeroblob(30000000))');
  ledger.close();
  const begun = (): boolean => readdirSync(folder).some((name) => name.startsWith('ledger'));
  const words = ['backup', 'ledger.db', '--data', 'data'];
  const { code, output, files } = await interrupt(words, begun, folder);
  expect([0, 130], output).toContain(code);
  expect(files.filter((name) => name !== 'ledger.db')).toEqual(['data']);
  if (!existsSync(join(folder, 'ledger.db'))) return;
  const written = new DatabaseSync(join(folder, 'ledger.db'), { readOnly: true });
  expect(written.prepare('select length(bytes) as size from page').get()).toEqual({
    size: 30_000_000,
  });
  written.close();
});

test('serve: drains, exits with 0 and releases its ledger', async () => {
  const folder = mkdtempSync(join(world.folder, 'serve-'));
  const words = ['serve', '--port', '0', '--data', 'data', '--min-free-mib', '0'];
  const chain = ['--chain', `0x7a69=${world.chain.url}`];
  const { code, output, files } = await interrupt([...words, ...chain], /listening on/, folder);
  expect(code, output).toBe(0);
  expect(files).toEqual(['data']);
  const ledger = new DatabaseSync(join(folder, 'data', 'sluice.db'));
  ledger.exec('begin exclusive; commit');
  ledger.close();
});
