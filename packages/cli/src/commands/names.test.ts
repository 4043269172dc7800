/** Tests commands with ENS names instead of addresses. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Anvil, placeNames, startAnvil, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALICE, BOB, type World, startWorld } from './world.test-only.ts';

const TREASURY = '0x71c7656ec7ab88b098defb751b7401b5f6d8976f';

let anvil: Anvil;
let world: World;

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1 });
  await placeNames(anvil, { 'treasury.eth': TREASURY });
  world = await startWorld(['--chain', `0x1=${anvil.url},poll=50`]);
  await until('all chains are live', async () =>
    (await world.client.listChains()).every(({ state }) => state === 'live'),
  );
});
afterAll(async () => {
  await world.stop();
  await anvil.stop();
});

test('a name is resolved and becomes the label of its address', async () => {
  const made = ['--url', world.sink.url, '--tag', 'named', '--chain', '0x1', '--logs'];
  const created = ['streams', 'create', ...made, '--address', 'Treasury.eth', ALICE];
  expect(await world.sluice(created)).toMatchObject({ code: 0 });
  const list = async () => (await world.sluice(['addresses', 'list', 'named'])).stdout;
  expect((await list()).split('\n').toSorted()).toEqual(
    ['', ALICE.toLowerCase(), `${TREASURY},treasury.eth`].toSorted(),
  );
  const labeled = ['addresses', 'add', 'named', 'treasury.eth', '--label', 'Vault'];
  expect(await world.sluice(labeled)).toMatchObject({ code: 0 });
  expect(await list()).toContain(`${TREASURY},Vault\n`);
  const { code, stderr } = await world.sluice(['addresses', 'add', 'named', 'nobody.eth']);
  expect(code).toBe(4);
  expect(stderr).toContain('nobody.eth does not resolve to an address');
});

test('a note names the address that is added, also if a name has another address each time', async () => {
  const made = ['--url', world.sink.url, '--tag', 'moving', '--chain', '0x1', '--logs'];
  expect(await world.sluice(['streams', 'create', ...made])).toMatchObject({ code: 0 });
  const given: string[] = [];
  for (const digit of '123') {
    const address = `0x${digit.repeat(40)}`;
    await placeNames(anvil, { 'moving.eth': address });
    const { stderr } = await world.sluice(['addresses', 'add', 'moving', 'moving.eth']);
    expect(stderr).toContain(`moving.eth is ${address}.`);
    given.push(`${address},moving.eth`);
    const { stdout } = await world.sluice(['addresses', 'list', 'moving']);
    expect(stdout.trim().split('\n').toSorted()).toEqual(given);
  }
});

test('a stream from a file keeps the labels of its addresses', async () => {
  const file = join(world.folder, 'labeled.yaml');
  writeFileSync(
    file,
    [
      'tag: labeled',
      `webhookUrl: ${world.sink.url}`,
      "chainIds: ['0x1']",
      'includeContractLogs: true',
      'addresses:',
      `  - { address: '${BOB}', label: Bob }`,
      '',
    ].join('\n'),
  );
  const made = ['streams', 'create', '-f', file, '--address', 'treasury.eth'];
  expect(await world.sluice(made)).toMatchObject({ code: 0 });
  const { stdout } = await world.sluice(['addresses', 'list', 'labeled']);
  expect(stdout.split('\n').toSorted()).toEqual(
    ['', `${BOB.toLowerCase()},Bob`, `${TREASURY},treasury.eth`].toSorted(),
  );
});
