/** Tests the flags of Aptos streams. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningScriptedAptos, startScriptedAptos } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type World, startWorld } from './world.test-only.ts';

const WITHDRAW = '0x1::fungible_asset::Withdraw';
const DEPOSIT = '0x1::fungible_asset::Deposit';

let node: RunningScriptedAptos;
let world: World;

beforeAll(async () => {
  node = await startScriptedAptos();
  world = await startWorld(['--aptos', `local=${node.url},poll=50`]);
});
afterAll(async () => {
  await world.stop();
  await node.stop();
});

const json = async (...args: string[]): Promise<unknown> => {
  const { code, stdout, stderr } = await world.sluice([...args, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

test('--event sets the events of an Aptos stream, even if a file or the service names its network', async () => {
  const made = ['--tag', 'coins', '--url', world.sink.url, '--network', 'local'];
  expect(await json('streams', 'create', ...made, '--event', WITHDRAW)).toMatchObject({
    network: ['local'],
    events: [WITHDRAW],
  });
  expect(await json('streams', 'update', 'coins', '--event', DEPOSIT)).toMatchObject({
    network: ['local'],
    events: [DEPOSIT],
  });

  const file = join(world.folder, 'coins.yaml');
  writeFileSync(file, `tag: filed\nwebhookUrl: ${world.sink.url}\nnetwork: [local]\n`);
  expect(await json('streams', 'create', '-f', file, '--event', WITHDRAW)).toMatchObject({
    tag: 'filed',
    events: [WITHDRAW],
  });
});
