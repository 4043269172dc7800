/** Tests the commands that add, test and remove nodes and alert URLs. */
import { type RunningScriptedChain, startScriptedChain, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type World, startWorld } from './world.test-only.ts';

let world: World;
let second: RunningScriptedChain;
beforeAll(async () => {
  const notifyUrl = 'http://127.0.0.1:9/hook?key=1';
  world = await startWorld(['--allow-node-changes', '--notify-url', notifyUrl]);
  second = await startScriptedChain({ chainId: 0x53a });
});
afterAll(async () => {
  await world.stop();
  await second.stop();
});

test('a node is tested, added, listed with its origin and removed', async () => {
  const { host } = new URL(second.url);
  const tested = await world.sluice(['chains', 'test', second.url, '--chain', '0x53a']);
  expect(tested.stdout).toMatch(new RegExp(`^✓ ${host} responds and serves this chain, \\d+ ms`));
  const wrong = await world.sluice(['chains', 'test', second.url, '--chain', '0x1']);
  expect(wrong).toMatchObject({ code: 9, stderr: expect.stringContaining('another chain') });

  const refused = await world.sluice(['chains', 'add', second.url, '--chain', '0x1']);
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('another chain') });
  const added = await world.sluice(['chains', 'add', `${second.url}/key-in-path`]);
  expect(added.code).toBe(0);
  expect(added.stdout).toContain(`0x53a is now read from ${host}`);
  const [id = ''] = /[0-9a-f]{8}$/.exec(added.stdout.trim()) ?? [];
  await until('the chain is read', async () =>
    (await world.client.listChains()).some(
      (chain) => chain.id === '0x53a' && chain.state === 'live',
    ),
  );
  const listed = await world.sluice(['chains', 'list']);
  expect(listed.stdout).toContain(`  ${host}  good  added ${id}`);
  expect(listed.stdout).toMatch(/ {2}\S+ {2}good {2}configured/);
  expect(added.stdout + listed.stdout).not.toContain('key-in-path');

  const kept = await world.sluice(['chains', 'remove', '0x7a69:1']);
  expect(kept.code).not.toBe(0);
  expect(kept.stderr).toContain('--chain');
  const removed = await world.sluice(['chains', 'remove', id]);
  expect(removed.stdout).toBe(`0x53a is no longer read from ${host}\n`);
  expect(await world.sluice(['chains', 'remove', id])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`There is no node ${id}`),
  });
});

test('an alert URL is tested, added, listed with its origin and removed', async () => {
  const url = `${world.sink.url}/alerts`;
  const { host } = new URL(url);
  const tested = await world.sluice(['alerts', 'test', url]);
  expect(tested.stdout).toMatch(new RegExp(`^✓ ${host} accepted a test alert, \\d+ ms`));
  await world.sink.waitFor(({ path }) => path === '/alerts');
  const added = await world.sluice(['alerts', 'add', url, '--json']);
  const { id } = JSON.parse(added.stdout) as { id: string };
  const listed = await world.sluice(['alerts', 'list']);
  expect(listed.stdout).toBe(`127.0.0.1:9  configured\n${host}  added ${id.slice(0, 8)}\n`);
  expect((await world.sluice(['alerts', 'remove', 'configured'])).stderr).toContain('--notify-url');
  const removed = await world.sluice(['alerts', 'remove', id.slice(0, 8)]);
  expect(removed.stdout).toBe(`${host} no longer gets alerts\n`);
  expect((await world.sluice(['alerts', 'list'])).stdout).toBe('127.0.0.1:9  configured\n');
});
