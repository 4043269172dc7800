/** Tests that commands accept chain IDs in decimal and in hex. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningScriptedAptos, startScriptedAptos, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TOKEN, type World, startWorld } from './world.test-only.ts';

const SPELLINGS = ['31337', '0x7a69', '0X7A69', '0x07a69'];

let node: RunningScriptedAptos;
let world: World;

beforeAll(async () => {
  node = await startScriptedAptos();
  world = await startWorld(['--aptos', `local=${node.url},poll=50`]);
  const stream = await world.api.streams.create({
    webhookUrl: world.sink.url,
    description: '',
    tag: 'pay',
    chainIds: ['0x7a69'],
    includeContractLogs: true,
  });
  await world.api.streams.addAddress(stream.id, TOKEN);
  world.pay(1n);
  await world.sink.waitFor(1);
});
afterAll(async () => {
  await world.stop();
  await node.stop();
});

test.each(SPELLINGS)('tail and filters of deliveries accept %s', async (id) => {
  const running = world.start(['tail', '--json', '--since', '1h', '--chain', id]);
  await until('the delivery is printed', () => running.stdout().includes('"chainId":"0x7a69"'));
  running.interrupt();
  await running.ended;
  const { stdout } = await world.sluice(['deliveries', 'list', '--chain', id, '--json']);
  expect(stdout).toContain('"chainId":"0x7a69"');
  const run = ['dry-run', '--stream', 'pay', '--blocks', '1', '--chain', id];
  expect((await world.sluice(run)).stderr).toContain('1 of 1 block matched');
});

test('tail rejects a name instead of printing nothing', async () => {
  const { code, stderr } = await world.sluice(['tail', '--chain', 'eth']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--chain eth: should be a chain ID')]);
});

test.each(['local', 'aptos:local'])('dry-run accepts the Aptos network %s', async (network) => {
  const file = join(world.folder, 'coins.yaml');
  const fields = ['tag: coins', 'webhookUrl: http://x', 'network: [testnet]'];
  writeFileSync(file, [...fields, "addresses: ['0xb0b']", ''].join('\n'));
  const run = ['dry-run', '-f', file, '--blocks', '0..0', '--chain', network];
  expect(await world.sluice(run)).toMatchObject({ code: 0 });
});

test.each(["chainIds: ['31337']", 'chainIds: [31337]', "chainIds: ['0X07A69']", "network: ['2']"])(
  'apply changes nothing in a stream with %s',
  async (chains) => {
    const file = join(world.folder, 'applied.yaml');
    const tag = chains.split(':')[0]!;
    writeFileSync(file, `tag: ${tag}\nwebhookUrl: ${world.sink.url}\n${chains}\n`);
    expect(await world.sluice(['apply', '-f', file])).toMatchObject({ code: 0 });
    const again = await world.sluice(['apply', '-f', file]);
    expect(again).toMatchObject({ code: 0, stdout: `= ${tag}\n` });
  },
);
