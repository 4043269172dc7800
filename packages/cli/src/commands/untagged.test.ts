/** Tests that commands show the shortened ID of a stream without a tag. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALICE, BOB, TOKEN, type World, startWorld } from './world.test-only.ts';

let world: World;
let id: string;
let short: string;

beforeAll(async () => {
  world = await startWorld();
  ({ id } = await world.api.streams.create({
    webhookUrl: world.sink.url,
    description: '',
    tag: '',
    chainIds: ['0x7a69'],
    includeContractLogs: true,
  }));
  await world.api.streams.addAddress(id, TOKEN);
  short = id.slice(0, 8);
});
afterAll(() => world.stop());

test('addresses names a stream without a tag by its short id', async () => {
  const file = join(world.folder, 'bob.csv');
  writeFileSync(file, `${BOB}\n`);
  const runs = [
    await world.sluice(['addresses', 'add', id, ALICE]),
    await world.sluice(['addresses', 'remove', short, ALICE]),
    await world.sluice(['addresses', 'import', short, file]),
  ];
  expect(runs.map(({ stdout }) => stdout)).toEqual([
    `Added 1 address to ${short}\n`,
    `Removed 1 address from ${short}\n`,
    `Imported 1 address from ${file} to ${short}\n`,
  ]);
});

test('listen names a stream without a tag by its short id', async () => {
  const running = world.start(['listen', world.sink.url, '--stream', id]);
  await until('listen has started', () => running.stderr().includes('Forwarding'));
  expect(running.stderr()).toContain(`Forwarding ${short} of `);
  running.interrupt();
  await running.ended;
});

test('explain names a stream without a tag by its short id', async () => {
  world.pay(1n);
  const { hash } = world.chain.head.transactions[0]!;
  const { stderr } = await until('the delivery exists', async () => {
    const run = await world.sluice(['explain', hash, '--expect', 'not-matched']);
    return run.stderr.includes('delivered') && run;
  });
  expect(stderr).toContain(`verdicts: ${short} delivered`);
});
