/** Tests the commands that list and change backfills and searches for children. */
import { type ScriptedLog, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type World, startWorld } from './world.test-only.ts';

const FACTORY = `0x${'fa'.repeat(20)}` as const;
/** Topic of `Created(address indexed child)`. */
const CREATED = '0x1449abf21e49fd025f33495e77f7b1461caefdd3d4bb646424a3f445c4576a5b';
const CHILDREN = [`0x${'c1'.repeat(20)}`, `0x${'c2'.repeat(20)}`] as const;
const created = (child: string): ScriptedLog => ({
  address: FACTORY,
  topics: [CREATED, `0x${child.slice(2).padStart(64, '0')}`],
});

let world: World;
let id: string;
beforeAll(async () => {
  world = await startWorld(['--max-children', '1']);
  world.chain.mine({ transactions: [{ to: FACTORY, logs: CHILDREN.map(created) }] });
  world.chain.mineMany(2);
  await until('the blocks are committed', async () => {
    const [chain] = await world.client.listChains();
    return chain?.checkpoint === Number(world.chain.head.number);
  });
  const stream = await world.api.streams.create({
    webhookUrl: world.sink.url,
    description: '',
    tag: 'pools',
    chainIds: ['0x7a69'],
    includeContractLogs: true,
    factories: [
      { address: FACTORY, event: 'Created(address indexed child)', parameter: 'child', from: 0 },
    ],
  });
  world.chain.mineMany(2);
  id = await until('the search reaches the maximum', async () => {
    const [job] = await world.client.listJobs({ streamId: stream.id });
    return job?.state === 'failed' ? job.id : undefined;
  });
});
afterAll(() => world.stop());

test('searches for children are listed with their progress and message', async () => {
  const { stdout, stderr } = await world.sluice(['backfills', 'list', '--stream', 'pools']);
  expect(stdout).toMatch(/^BACKFILL +STREAM +CHAIN +BLOCKS +DONE +FOUND +STATE\n/);
  expect(stdout).toMatch(/\n\S+ +pools +0x7a69 +0\.\.\d+ +\d+% +1 child +failed\n$/);
  expect(stderr).toMatch(/^\w{8}: The stream has 1 children, the maximum\. /);
});

test('the list of children reports blocks whose search has not finished', async () => {
  const { stdout, stderr } = await world.sluice(['streams', 'children', 'pools']);
  expect(stdout).toBe(`${CHILDREN[0]},0x7a69,1,\n`);
  expect(stderr).toMatch(/^pools: children in blocks 1 to \d+ of 0x7a69 are not all known\./);
  expect(stderr).toContain('backfills list --stream pools');
});

test('a failed search is resumed, and canceled, by its shortened ID', async () => {
  const resumed = await world.sluice(['backfills', 'resume', id.slice(-8)]);
  expect(resumed.stdout, resumed.stderr).toMatch(
    /^\S+ {2}running {2}\d+ of \d+ blocks of 0x7a69, 1 child\n$/,
  );
  await until(
    'the search fails again',
    async () => (await world.client.getJob(id)).state === 'failed',
  );
  const { stdout } = await world.sluice(['backfills', 'cancel', id, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ id, state: 'cancelled' });
  expect((await world.sluice(['backfills', 'resume', id])).code).toBe(5);
});
