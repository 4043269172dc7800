/** Ctrl-C, on real processes: each command that goes on ends at once, and nothing of it is left. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type World, startWorld, until } from './world.test-only.ts';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.api.streams.create({
    webhookUrl: world.sink.url,
    description: '',
    tag: 'pay',
    chainIds: ['0x7a69'],
    includeNativeTxs: true,
  });
  world.chain.mineMany(2_000);
});
afterAll(() => world.stop());

/** What each has said when it is under way. */
const running: [args: string[], underWay: RegExp][] = [
  [['listen', '3000'], /Forwarding/],
  [['tail', '--debug'], /GET/],
  [['trigger', 'erc20-transfer', '--to', 'SINK', '--count', '1000', '--rate', '5/s'], /200/],
  [['dry-run', '--stream', 'pay', '--blocks', '0..2000'], /blocks/],
];

test.concurrent.each(running)('%j', async (args, underWay) => {
  const before = readdirSync(world.folder);
  const child = spawn(
    process.execPath,
    ['-C', '@sluice/source', main, ...args.map((arg) => arg.replace('SINK', world.sink.url))],
    {
      cwd: world.folder,
      env: { ...process.env, ...world.env, NO_COLOR: '1' },
      // A group of its own, as a terminal gives it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const exited = once(child, 'exit') as Promise<[number | null]>;
  await until('it is under way', () => underWay.test(output), 15_000);
  process.kill(-child.pid!, 'SIGINT');
  expect(await exited, output).toEqual([130, null]);
  expect(() => process.kill(-child.pid!, 0)).toThrow('ESRCH');
  expect(readdirSync(world.folder)).toEqual(before);
});
