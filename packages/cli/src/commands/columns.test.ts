/** Tests that the output of commands fits into 80 columns, even with long names and numbers. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALICE, TOKEN, type World, startWorld } from './world.test-only.ts';

const TAG = 'payments-of-the-whole-treasury-and-its-many-subsidiaries';
let world: World;
let names: Record<string, string>;

beforeAll(async () => {
  world = await startWorld();
  world.sink.respond({ status: 500, body: `TypeError: ${'cannot read '.repeat(20)}` });
  const stream = {
    webhookUrl: world.sink.url,
    description: 'what everybody pays everybody, and what is paid for it, '.repeat(4).trim(),
    tag: TAG,
    chainIds: ['0x7a69', '0x1', '0x89', '0x2105', '0xa4b1', '0xaa36a7'],
    includeContractLogs: true,
    allAddresses: true,
    topic0: ['Transfer(address,address,uint256)'],
    abi: [],
  };
  const { id } = await world.api.streams.create(stream);
  world.pay(2n ** 255n);
  const { id: delivery } = await until('a delivery with status 500', async () =>
    (await world.client.listDeliveries()).result.find(({ status }) => status === 500),
  );
  const { id: replay } = await world.client.createReplay({
    name: 'all that failed while the receiver of the treasury was away on a Sunday',
    filter: { streamId: id },
    perSecond: 1_000,
  });
  await world.client.createApiKey({ name: 'the key of the treasury and its many subsidiaries' });
  const file = join(world.folder, 'one.yaml');
  const yaml = JSON.stringify({ ...stream, tag: `${TAG}-2`, addresses: [ALICE, TOKEN] });
  writeFileSync(file, yaml);
  names = { STREAM: id, DELIVERY: delivery, REPLAY: replay, FILE: file, SINK: world.sink.url };
});
afterAll(() => world.stop());

test.each([
  'streams list',
  'streams get STREAM',
  'deliveries list',
  'deliveries get DELIVERY',
  'replays list',
  'replays get REPLAY',
  'chains list',
  'keys list',
  'audit list',
  'audit verify',
  'explain DELIVERY --stages',
  'explain 1 --chain 0x7a69 --stages',
  `explain ${TOKEN} --stages`,
  'dry-run --stream STREAM --blocks 0..1',
  'apply -f FILE --dry-run',
  'doctor',
  'whoami',
  'trigger erc20-transfer --to SINK',
  'trigger erc1155-batch-transfer --to SINK',
  'replay DELIVERY --to SINK',
])('%s fits 80 columns', async (command) => {
  const args = command.split(' ').map((word) => names[word] ?? word);
  const { stdout, stderr } = await world.sluice(args);
  expect(stdout, stderr).not.toBe('');
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
});
