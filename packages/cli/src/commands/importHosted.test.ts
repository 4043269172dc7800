/** Tests the import of streams and addresses from a scripted hosted service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signWebhook } from '@sluice/kit/contract';
import { until } from '@sluice/testkit';
import type { Run } from '../terminal/scripted.test-only.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOSTED_KEY, type Hosted, startHosted } from './hosted.test-only.ts';
import { type World, startWorld } from './world.test-only.ts';

const TOTAL = 64_001;
const PAGE = 100;

let world: World;
let hosted: Hosted;

beforeAll(async () => {
  world = await startWorld();
  hosted = await startHosted({ addresses: TOTAL });
});
afterAll(async () => {
  hosted.stop();
  await world.stop();
});

const flags = (): string[] => [
  'import',
  'moralis',
  '--hosted-url',
  hosted.url,
  '--hosted-key',
  HOSTED_KEY,
];
const journal = (): string => join(world.folder, 'sluice-import.json');

test('a dry run prints the plan and creates nothing', async () => {
  const { code, stdout } = await world.sluice([...flags(), '--dry-run']);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout:
      '+ deposits  evm, active in the hosted service\n+ small  evm, paused in the hosted service\n',
  });
  expect(await world.client.listStreamSummaries()).toEqual([]);
  const wrongKey = await world.sluice([...flags().slice(0, -1), 'wrong']);
  expect(wrongKey.code).toBe(3);
  expect(wrongKey.stderr).toMatch(/hosted service rejected[^]*fix: check --hosted-key/);
  const wrongUrl = ['--hosted-url', 'http://127.0.0.1:1', '--hosted-key', HOSTED_KEY];
  const unreachable = await world.sluice(['import', 'moralis', ...wrongUrl]);
  expect(unreachable.code).toBe(6);
  expect(unreachable.stderr).toMatch(/http:\/\/127.0.0.1:1[^]*fix: check --hosted-url/);
  expect(await world.sluice(['import', 'moralis'])).toMatchObject({ code: 2 });
});

interface Noted {
  addresses: number;
  done: boolean;
}

/** Reads the journal entry of the stream with many addresses. */
const noted = (): Noted | undefined =>
  existsSync(journal())
    ? (JSON.parse(readFileSync(journal(), 'utf8')) as { streams: Record<string, Noted> }).streams[
        hosted.streams[0]!.id
      ]
    : undefined;

test(`the import adds all ${TOTAL} addresses despite kill -9 and Ctrl-C, without duplicates`, async () => {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url));
  const killed = spawn(process.execPath, ['-C', '@sluice/source', main, ...flags()], {
    cwd: world.folder,
    env: { ...process.env, ...world.env },
    stdio: 'ignore',
  });
  await until('a part is in the journal', () => (noted()?.addresses ?? 0) > 0, 30_000);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const { addresses: atKill } = noted()!;

  const first = world.start(flags());
  await until('another part is in the journal', () => noted()!.addresses > atKill);
  first.interrupt();
  expect(await first.ended).toMatchObject({ code: 130 });
  const { addresses, done } = noted()!;
  expect(done).toBe(false);
  expect(addresses % 5_000).toBe(0);

  let before = hosted.pages();
  const second = await world.sluice(flags());
  expect(second).toMatchObject({ code: 0 });
  expect(second.stdout).toBe(
    '✓ deposits  imported  64,001 addresses\n✓ small  imported  3 addresses\n',
  );
  expect(second.stderr).toContain('64,001 of 64,001');
  // Journaled pages are not read again.
  expect(hosted.pages() - before).toBe(Math.ceil((TOTAL - addresses) / PAGE) + 1);
  expect(hosted.refused()).toBeGreaterThan(5);

  const streams = await world.client.listStreamSummaries();
  expect(
    streams.map(({ tag, amountOfAddresses, status }) => [tag, amountOfAddresses, status]),
  ).toEqual([
    ['small', 3, 'paused'],
    ['deposits', TOTAL, 'paused'],
  ]);
  const there = await world.api.streams.get(streams[1]!.id);
  expect(there).toMatchObject({ includeNativeTxs: true, topic0: hosted.streams[0]!.topic0 });

  before = hosted.pages();
  const third = await world.sluice([...flags(), '--json']);
  expect(
    third.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toMatchObject([
    { from: hosted.streams[0]!.id, to: streams[1]!.id, addresses: TOTAL },
    { from: hosted.streams[1]!.id, to: streams[0]!.id, addresses: 3 },
  ]);
  expect(hosted.pages()).toBe(before);
  expect(await world.client.listStreamSummaries()).toHaveLength(2);
}, 60_000);

test('the import finds its streams without the journal and creates no duplicates', async () => {
  const other = join(world.folder, 'other.json');
  expect(await world.sluice([...flags(), '--journal', other])).toMatchObject({ code: 0 });
  expect(await world.client.listStreamSummaries()).toHaveLength(2);
});

test('the import sets the secret first, never prints it, and explains why a receiver rejects', async () => {
  const other = await startWorld([], { isPlain: true });
  const theirs = await startHosted({ addresses: 3, webhookUrl: other.sink.url });
  const args = ['import', 'moralis', '--hosted-url', theirs.url, '--hosted-key', HOSTED_KEY];
  let printed = '';
  const bring = async (...more: string[]): Promise<Run> => {
    const run = await other.sluice([...args, ...more]);
    printed += run.stdout + run.stderr;
    return run;
  };
  try {
    for (const [status, why] of [
      [
        401,
        'The receiver verifies with a different secret: pass that secret with --streams-secret',
      ],
      [404, 'The receiver does not accept POST at this path'],
      [500, 'The receiver failed: check its log'],
    ] as const) {
      other.sink.respond({ status });
      const refused = await bring();
      expect([refused.code, refused.stdout]).toEqual([8, '']);
      expect(refused.stderr).toMatch(/✗ deposits: should respond .* HTTP \d+\n {2}/);
      expect(refused.stderr).toContain(`\n  ${why}`);
      expect(refused.stderr).toContain('pass that secret with --streams-secret.');
    }
    other.sink.respond({ status: 200 });
    const before = other.sink.requests.length;
    const taken = await bring('--streams-secret', 'hosted-streams-secret');
    expect(taken).toMatchObject({ code: 0 });
    // The receiver can verify even the first test webhook.
    const [first] = other.sink.requests.slice(before);
    expect(first!.headers['x-signature']).toBe(signWebhook(first!.body, 'hosted-streams-secret'));
    expect((await bring('--streams-secret', HOSTED_KEY)).stderr).toContain(
      'is also the hosted API key',
    );
    await bring('--new-secret');
    const { secretKey = '' } = await other.api.settings.read();
    expect(secretKey).toMatch(/^whs_/);
    expect((await bring('--new-secret')).stderr).toContain('Kept the secret of an earlier import.');
    expect(await other.api.settings.read()).toMatchObject({ secretKey });
    for (const secret of ['hosted-streams-secret', HOSTED_KEY, secretKey]) {
      expect(printed).not.toContain(secret);
    }
    // The secret of the earlier run is no longer in use.
    await bring('--streams-secret', 'hosted-streams-secret');
    await bring('--new-secret');
    const { secretKey: next } = await other.api.settings.read();
    expect(next).toMatch(/^whs_/);
    expect(next).not.toBe(secretKey);
  } finally {
    theirs.stop();
    await other.stop();
  }
}, 30_000);
