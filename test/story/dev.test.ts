/**
 * Tests `sluice dev`, the first command of a new user: it starts, delivers webhooks, stops on
 * Ctrl-C, and resumes when it is started again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSluiceClient } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import { afterEach, expect, test } from 'vitest';
import { SLUICE } from '../serve.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sluice-dev-'));
let running: ChildProcess | undefined;

afterEach(async () => {
  if (running?.exitCode === null && running.signalCode === null) {
    running.kill('SIGKILL');
    await once(running, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

interface Dev {
  output(): string;
  /** Returns the block numbers of the printed EVM webhooks, in order of arrival. */
  blocks(): number[];
  chainUrl(): string;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts `sluice dev` on a free port and resolves once it has printed a verified webhook. */
async function dev(): Promise<Dev> {
  const child = spawn(
    process.execPath,
    [...SLUICE, 'dev', '--port', '0', '--data', join(folder, 'dev')],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NO_COLOR: '1' } },
  );
  running = child;
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  await until('a verified webhook is printed', () => output.includes('✓ verified'), 60_000).catch(
    (error: Error) => {
      throw new Error(`${error.message}:\n${output}`);
    },
  );
  return {
    output: () => output,
    blocks: () => [...output.matchAll(/✓ verified +#(\d+)/g)].map((found) => Number(found[1])),
    chainUrl: () => /anvil at (http:\S+),/.exec(output)![1]!,
    async end(signal) {
      child.kill(signal);
      return (await exited)[0];
    },
  };
}

const isReachable = (url: string): Promise<boolean> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
  }).then(
    (response) => response.ok,
    () => false,
  );

const urlOf = (output: string): string => /API +(http:\S+)/.exec(output)![1]!;

test('starts, delivers, stops cleanly, and resumes where it stopped, also after kill -9', async () => {
  const first = await dev();
  await until('a confirmed webhook is printed', () => / confirmed /.test(first.output()));
  expect(first.output()).toMatch(/✓ verified +#\d+ unconfirmed +Transfer [\d.]+ SLD 0x/);
  expect(first.output()).toMatch(
    /Aptos +simulated at http:\S+, starts over with each run\n +to read a real chain/,
  );
  await until('a payment on Aptos is printed', () =>
    /✓ verified +aptos #\d+ final +\S+ APT 0x/.test(first.output()),
  );
  expect(await isReachable(first.chainUrl())).toBe(true);
  const readKey = (): string => readFileSync(join(folder, 'dev', 'api-key'), 'utf8').trim();
  const apiKey = readKey();
  expect(await first.end('SIGINT')).toBe(0);
  expect(await isReachable(first.chainUrl())).toBe(false);

  const second = await dev();
  expect(Math.min(...second.blocks())).toBeGreaterThan(1);
  expect(second.output()).not.toContain('starting over');
  await until(
    'webhooks of more blocks are printed',
    () => Math.max(...second.blocks()) - Math.min(...second.blocks()) >= 16,
    60_000,
  );
  await second.end('SIGKILL');
  await until(
    'the chain process ends with its parent',
    async () => !(await isReachable(second.chainUrl())),
  );

  const third = await dev();
  const before = Math.max(...second.blocks());
  await until('blocks continue', () => Math.max(...third.blocks()) > before, 60_000);
  expect(third.output()).not.toContain('starting over');
  // The chain goes on from a save of its last seconds.
  expect(Math.min(...third.blocks())).toBeGreaterThan(before - 6);
  // Links and clients with the key stay valid.
  expect(readKey()).toBe(apiKey);
  const sluice = createSluiceClient({ apiKey, baseUrl: urlOf(third.output()) });
  expect(await sluice.getAbout()).toMatchObject({ environment: 'dev' });
  const streams = await sluice.listStreamSummaries();
  expect(streams.map(({ tag }) => tag).toSorted()).toEqual(['demo', 'demo-aptos']);
  expect(streams.find(({ tag }) => tag === 'demo')).toMatchObject({
    tag: 'demo',
    status: 'active',
    failedAttempts24h: 0,
  });
  const page = await sluice.listDeliveries({ limit: 100 });
  const keys = page.result.map((each) => `${each.blockNumber} ${each.phase} ${each.matchId}`);
  expect(new Set(keys).size).toBe(keys.length);
  expect(await third.end('SIGTERM')).toBe(0);
});
