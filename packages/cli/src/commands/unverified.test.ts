/** Tests the output for a chain with unverified blocks. */
import { scripted, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALICE, BOB, TOKEN, type World, startWorld } from './world.test-only.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld([], { accept: 'unverified' });
});
afterAll(() => world.stop());

test('chains list counts unverified blocks and shows the latest one with its reason', async () => {
  expect((await world.sluice(['chains', 'list'])).stdout).not.toContain('unverified');

  await world.api.streams.create({
    ...{ webhookUrl: world.sink.url, description: '', tag: 'pay', chainIds: ['0x7a69'] },
    ...{ includeContractLogs: true, allAddresses: true, abi: [] },
    topic0: ['Transfer(address,address,uint256)'],
  });
  world.chain.trouble({ kind: 'gappedIndices', by: 2 });
  const transfer = (value: bigint) =>
    scripted.erc20Transfer({ token: TOKEN, from: ALICE, to: BOB, value });
  const { number } = world.chain.mine({ transactions: [transfer(7n), transfer(8n)] });
  await until('the block is read', async () =>
    (await world.client.listChains()).some(({ checkpoint }) => checkpoint === Number(number)),
  );

  const reason = 'gap in log indices (accept=unverified)';
  const { stdout } = await world.sluice(['chains', 'list']);
  expect(stdout.split('\n')).toContain(
    `  unverified blocks: 1, latest ${Number(number)}: ${reason}`,
  );
  const { stdout: json } = await world.sluice(['chains', 'list', '--json']);
  expect(JSON.parse(json)).toMatchObject([
    { unverified: { blocks: 1, latest: Number(number), reason } },
  ]);
});
