/** Tests that a complete service watches the contracts that a factory creates. */
import { createClient } from '@sluice/kit';
import type { CreateEvmStream, EvmWebhook } from '@sluice/kit/contract';
import type { ScriptedLog } from '@sluice/testkit';
import { type Address, encodeEventTopics, parseAbi } from 'viem';
import { test as base, expect } from 'vitest';
import {
  API_KEY,
  CHAIN,
  CONFIRMATIONS,
  type IngestWorld,
  TOKEN,
  createIngestWorld,
} from './ingestWorld.test-only.ts';

const test = base.extend<{ world: IngestWorld }>({
  // oxlint-disable-next-line no-empty-pattern
  world: async ({}, use) => {
    const world = await createIngestWorld();
    await use(world);
    await world.stop();
  },
});

const FACTORY = '0x00000000000000000000000000000000000000fa';
const OTHER_FACTORY = '0x00000000000000000000000000000000000000fb';
const CHILD = '0x00000000000000000000000000000000000000c1';
const OTHER_CHILD = '0x00000000000000000000000000000000000000c2';
const THIRD_CHILD = '0x00000000000000000000000000000000000000c3';
const EVENT = 'Created(address indexed child)';

const created = (child: Address, creator: Address = FACTORY): ScriptedLog => ({
  address: creator,
  topics: encodeEventTopics({
    abi: parseAbi([`event ${EVENT}`]),
    eventName: 'Created',
    args: { child },
  }).map((topic) => String(topic) as Address),
});
const pingOf = (address: Address): ScriptedLog => ({ address, topics: [`0x${'0e'.repeat(32)}`] });
const ping = pingOf(CHILD);

const transactionOf = (...logs: ScriptedLog[]) => ({ to: TOKEN as Address, logs });
const FACTORIES = [{ address: FACTORY, event: EVENT, parameter: 'child' }];
const blockOf = (...logs: ScriptedLog[]) => ({ transactions: [transactionOf(...logs)] });

/** Starts the service with a stream of the factory's children. */
async function watchFactory(
  world: IngestWorld,
  settings?: Parameters<IngestWorld['start']>[0],
  factories: CreateEvmStream['factories'] = FACTORIES,
): Promise<string> {
  await world.start(settings);
  await world.until('the chain is live', async () => (await world.health()).state === 'live');
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
  const { id } = await streams.create({
    webhookUrl: `${world.sink.url}/hook`,
    description: '',
    tag: 'test',
    chainIds: [CHAIN],
    includeContractLogs: true,
    factories,
  });
  return id;
}

/** Waits for the block's unconfirmed webhook, and returns the emitters of its logs. */
const emittersIn = ({ until, sink }: IngestWorld, hash: string): Promise<string[]> =>
  until('the webhook arrives', async () =>
    sink.requests
      .map(({ body }) => JSON.parse(body) as EvmWebhook)
      .find(({ block, confirmed }) => block.hash === hash && !confirmed)
      ?.logs.map(({ address }) => address),
  );

test('a child is watched from its block on, leaves with it, and survives a restart', async ({
  world,
}) => {
  const { chain } = world;
  const id = await watchFactory(world);
  const first = chain.mine(blockOf(ping, created(CHILD)));
  expect(await emittersIn(world, first.hash)).toEqual([CHILD, FACTORY]);
  const second = chain.mine(blockOf(ping));
  expect(await emittersIn(world, second.hash)).toEqual([CHILD]);
  const explained = await world.sluice.explain(second.hash);
  const since = `child of factory ${FACTORY} since block ${first.number}`;
  expect(explained.streams[0]).toMatchObject({ streamId: id, records: [{ included: true }] });
  expect(JSON.stringify(explained.streams)).toContain(
    `the contract that emitted it is watched: ${since}`,
  );
  const { streams } = await world.sluice.explain(CHILD);
  expect(streams[0]?.reason.message).toBe(`the stream watches it: ${since} on ${CHAIN}`);

  await world.service.stop();
  await world.start();
  expect(await emittersIn(world, chain.mine(blockOf(ping)).hash)).toEqual([CHILD]);

  // On the other branch, the factory creates the child only in the last block.
  chain.fork({ depth: 3, blocks: [blockOf(ping), {}, {}, blockOf(ping, created(CHILD))] });
  await world.caughtUp();
  expect(await emittersIn(world, chain.head.hash)).toEqual([CHILD, FACTORY]);
  const removed = chain.canonical().at(-4)!;
  expect(removed.transactions).toHaveLength(1);
  const deliveries = await world.readDeliveries();
  const details = await Promise.all(deliveries.map((each) => world.sluice.getDelivery(each.id)));
  expect(details.map(({ blockHash }) => blockHash)).not.toContain(removed.hash);
});

test('a child whose log a node lacked is watched from the later reading on', async ({ world }) => {
  const { chain, sink } = world;
  const id = await watchFactory(world, { settle: 0.1, readAgainAfterMs: [3_000] });
  chain.trouble({ kind: 'truncatedReceipts' });
  chain.trouble({ kind: 'nullReceipts', methods: ['eth_getTransactionReceipt'] });
  chain.trouble({ kind: 'missingLog', methods: ['eth_getLogs'] });
  const first = chain.mine({ transactions: [transactionOf(ping), transactionOf(created(CHILD))] });
  await world.caughtUp();
  const missed = chain.mine(blockOf(ping));
  await world.caughtUp();
  const testWebhooks = 1;
  expect(sink.requests).toHaveLength(testWebhooks);
  chain.heal();
  // The earlier log of the child is found, too.
  expect(await emittersIn(world, first.hash)).toEqual([CHILD, FACTORY]);
  expect((await world.sluice.getCoverage(id))[0]?.holes).toEqual([
    { from: numberOf(missed), to: numberOf(missed), reason: 'children' },
  ]);
  expect(await emittersIn(world, chain.mine(blockOf(ping)).hash)).toEqual([CHILD]);
  await world.service.stop();
  await world.start();
  expect(await emittersIn(world, chain.mine(blockOf(ping)).hash)).toEqual([CHILD]);
});

test('a factory that was removed comes back without its children', async ({ world }) => {
  const { chain, sink } = world;
  const id = await watchFactory(world);
  const first = chain.mine(blockOf(created(CHILD)));
  expect(await emittersIn(world, first.hash)).toEqual([FACTORY]);
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
  await streams.update(id, { factories: [] });
  await streams.update(id, { factories: FACTORIES });
  const second = chain.mine(blockOf(ping));
  expect(await emittersIn(world, chain.mine(blockOf(created(OTHER_CHILD))).hash)).toEqual([
    FACTORY,
  ]);
  expect(sink.requests.some(({ body }) => body.includes(second.hash))).toBe(false);
});

test('children are listed in pages, and labeled', async ({ world }) => {
  const { chain } = world;
  const id = await watchFactory(world);
  const { sluice } = world;
  const { number } = chain.mine(blockOf(created(CHILD), created(OTHER_CHILD)));
  await world.caughtUp();
  const child = { chainId: CHAIN, entry: 0, blockNumber: Number(number) };
  await sluice.labelChildren(id, { labels: { [OTHER_CHILD]: 'Pool' } });
  const first = await sluice.listChildren(id, { limit: 1 });
  expect(first).toMatchObject({
    result: [{ ...child, address: CHILD }],
    total: 2,
    cursor: expect.any(String),
  });
  const rest = await sluice.listChildren(id, { limit: 1, cursor: first.cursor });
  expect(rest).toMatchObject({
    result: [{ ...child, address: OTHER_CHILD, label: 'Pool' }],
    total: 2,
  });
  for (const [query, total] of [
    [{ find: 'pool' }, 1],
    [{ entry: 1 }, 0],
    [{ chain: '0x1' }, 0],
  ] as const) {
    expect(await sluice.listChildren(id, query)).toMatchObject({ total });
  }
  await expect(sluice.labelChildren(id, { labels: { [FACTORY]: 'x' } })).rejects.toThrow(
    `No factory of the stream has created ${FACTORY}`,
  );
});

/** Waits until no search for children is running, and returns the children by address. */
async function searched({ until, sluice }: IngestWorld, id: string): Promise<Map<string, number>> {
  await until('the search is done', async () =>
    (await sluice.listJobs({ streamId: id })).every(({ state }) => state === 'done'),
  );
  const found = new Map<string, number>();
  for await (const { address, blockNumber } of sluice.listChildren(id)) {
    found.set(address, blockNumber);
  }
  return found;
}

const numberOf = ({ number }: { number: bigint | number }): number => Number(number);

test('past children are found by range and block by block, and then watched', async ({ world }) => {
  const { chain } = world;
  chain.mine(blockOf(created(THIRD_CHILD)));
  const first = numberOf(chain.mine(blockOf(created(CHILD))));
  chain.mineMany(300);
  const logs = [created(OTHER_CHILD), created(CHILD), created(THIRD_CHILD, OTHER_FACTORY)];
  const second = numberOf(chain.mine(blockOf(...logs)));
  chain.mineMany(CONFIRMATIONS);
  const id = await watchFactory(world, {}, [
    { ...FACTORIES[0]!, from: first },
    { ...FACTORIES[0]!, address: OTHER_FACTORY },
  ]);
  // The last block before the stream must be confirmed, too.
  chain.mineMany(CONFIRMATIONS);
  expect(await searched(world, id)).toEqual(
    new Map([
      [CHILD, first],
      [OTHER_CHILD, second],
    ]),
  );
  const [job] = await world.sluice.listJobs({ streamId: id });
  expect(job).toMatchObject({
    kind: 'children',
    blockFrom: first,
    blockTo: second + CONFIRMATIONS,
  });
  const next = chain.mine(blockOf(pingOf(THIRD_CHILD), pingOf(OTHER_CHILD), ping));
  expect(await emittersIn(world, next.hash)).toEqual([OTHER_CHILD, CHILD]);
  expect((await world.sluice.getCoverage(id))[0]).not.toHaveProperty('childrenMissing');
});

test('a search marks the blocks whose receipts a node lacks', async ({ world }) => {
  const { chain } = world;
  await world.start({ settle: 0.1 });
  const { number } = chain.mine({
    transactions: [transactionOf(ping), transactionOf(created(CHILD))],
  });
  chain.mineMany(CONFIRMATIONS);
  await world.caughtUp();
  const marksOf = async () => (await world.sluice.listChains())[0]?.unverified ?? undefined;
  expect(await marksOf()).toBeUndefined();
  chain.trouble({ kind: 'truncatedReceipts' });
  chain.trouble({ kind: 'nullReceipts', methods: ['eth_getTransactionReceipt'] });
  chain.trouble({ kind: 'missingLog', methods: ['eth_getLogs'] });
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
  await streams.create({
    webhookUrl: `${world.sink.url}/hook`,
    description: '',
    tag: 'test',
    chainIds: [CHAIN],
    includeContractLogs: true,
    factories: [{ ...FACTORIES[0]!, from: Number(number) }],
  });
  chain.mineMany(CONFIRMATIONS);
  const marks = await world.until('the block is marked', marksOf);
  expect(marks).toMatchObject({ latest: Number(number), byCode: { receipts: 1 } });
});

test('children of late children are found in the blocks since then', async ({ world }) => {
  const { chain } = world;
  chain.mineMany(3);
  const first = numberOf(chain.mine(blockOf(created(CHILD))));
  const id = await watchFactory(world, {}, [
    { ...FACTORIES[0]!, from: 0 },
    { childrenOf: 0, event: EVENT, parameter: 'child', from: 0 },
  ]);
  // The search waits for the confirmation of the first block, while the child is a factory already.
  const second = numberOf(chain.mine(blockOf(created(OTHER_CHILD, CHILD))));
  await world.caughtUp();
  expect((await world.sluice.getCoverage(id))[0]).toMatchObject({
    childrenMissing: [{ to: first }],
  });
  chain.mineMany(2 * CONFIRMATIONS);
  await world.until('the late child is found', async () => {
    const { total } = await world.sluice.listChildren(id, { entry: 1 });
    return total === 1;
  });
  chain.mineMany(2 * CONFIRMATIONS);
  expect(await searched(world, id)).toEqual(
    new Map([
      [CHILD, first],
      [OTHER_CHILD, second],
    ]),
  );
  const next = chain.mine(blockOf(pingOf(OTHER_CHILD)));
  expect(await emittersIn(world, next.hash)).toEqual([OTHER_CHILD]);
});

test('children created while the stream was paused are found when it resumes', async ({
  world,
}) => {
  const { chain } = world;
  const id = await watchFactory(world, {}, [{ ...FACTORIES[0]!, from: 0 }]);
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
  await streams.setStatus(id, 'paused');
  const block = numberOf(chain.mine(blockOf(created(CHILD))));
  await world.caughtUp();
  await streams.setStatus(id, 'active');
  chain.mineMany(CONFIRMATIONS);
  expect(await searched(world, id)).toEqual(new Map([[CHILD, block]]));
});

/** Returns the holes of the stream's coverage, once it has some. */
const holesOf = ({ until, sluice }: IngestWorld, id: string) =>
  until('the coverage has a hole', async () => {
    const holes = (await sluice.getCoverage(id))[0]?.holes ?? [];
    return holes.length > 0 ? holes : undefined;
  });

/** Backfills the holes of the stream, and waits until its coverage has none. */
async function fillHoles(world: IngestWorld, streamId: string): Promise<void> {
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
  for (const { from: blockFrom, to: blockTo } of await holesOf(world, streamId)) {
    await streams.createHistoricalJob({ chainId: CHAIN, streamId, blockFrom, blockTo });
  }
  world.chain.mineMany(CONFIRMATIONS);
  await world.until('the holes are filled', async () => {
    const [coverage] = await world.sluice.getCoverage(streamId);
    return coverage?.holes.length === 0;
  });
}

/** Waits for the confirmed webhook of a block, and returns the emitters of its logs. */
const confirmedEmittersIn = ({ until, sink }: IngestWorld, hash: string): Promise<string[]> =>
  until('the webhook arrives', async () =>
    sink.requests
      .map(({ body }) => JSON.parse(body) as EvmWebhook)
      .find(({ block, confirmed }) => block.hash === hash && confirmed)
      ?.logs.map(({ address }) => address),
  );

test('records before a past child was found are a hole, which a backfill fills', async ({
  world,
}) => {
  const { chain } = world;
  chain.mine(blockOf(created(CHILD)));
  const id = await watchFactory(world, {}, [{ ...FACTORIES[0]!, from: 0 }]);
  // The search waits for the confirmation of the block with the child.
  const missed = chain.mine(blockOf(ping));
  await world.caughtUp();
  expect((await world.sluice.getCoverage(id))[0]?.holes).toEqual([]);
  chain.mineMany(CONFIRMATIONS);
  await searched(world, id);
  expect(await holesOf(world, id)).toMatchObject([{ from: numberOf(missed), reason: 'children' }]);
  const explained = await world.sluice.explain(missed.hash);
  expect(JSON.stringify(explained.streams)).toContain(
    'were not matched, because children of its factories were found later: run a backfill',
  );
  await fillHoles(world, id);
  expect(await confirmedEmittersIn(world, missed.hash)).toEqual([CHILD]);
});

test('children created while the stream was paused are known when its hole is filled', async ({
  world,
}) => {
  const { chain } = world;
  const id = await watchFactory(world);
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
  chain.mine();
  await world.caughtUp();
  await streams.setStatus(id, 'paused');
  chain.mine(blockOf(created(CHILD)));
  const missed = chain.mine(blockOf(ping));
  await world.caughtUp();
  await streams.setStatus(id, 'active');
  chain.mineMany(CONFIRMATIONS);
  await searched(world, id);
  await world.caughtUp();
  const next = chain.mine(blockOf(ping));
  expect(await emittersIn(world, next.hash)).toEqual([CHILD]);
  await fillHoles(world, id);
  expect(await confirmedEmittersIn(world, missed.hash)).toEqual([CHILD]);
});

test('children above the maximum are left out, and found once it is raised', async ({ world }) => {
  const { chain } = world;
  const id = await watchFactory(world, { maxChildren: 1 });
  const first = numberOf(chain.mine(blockOf(created(CHILD))));
  const second = chain.mine(blockOf(created(OTHER_CHILD), pingOf(OTHER_CHILD)));
  // A child that is left out is watched in its own block.
  expect(await emittersIn(world, second.hash)).toEqual([FACTORY, OTHER_CHILD]);
  const both = () => blockOf(ping, pingOf(OTHER_CHILD));
  expect(await emittersIn(world, chain.mine(both()).hash)).toEqual([CHILD]);
  const readStatus = async () => {
    const { streams } = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
    return (await streams.get(id)).statusMessage;
  };
  expect(await readStatus()).toBe(
    'Adds no further children of its factories: it has 1, the maximum. Raise --max-children or remove factories, then resume its searches for children',
  );
  expect(await world.sluice.listStreamSummaries()).toMatchObject([
    { amountOfChildren: 1, statusMessage: await readStatus() },
  ]);
  const readMissing = async () => (await world.sluice.getCoverage(id))[0]?.childrenMissing;
  const from = numberOf(second);
  expect(await readMissing()).toEqual([{ from, to: from }]);

  await world.service.stop();
  await world.start({ maxChildren: 2 });
  expect(await readStatus()).toBe('Stream is active');
  const [job] = await world.sluice.listJobs({ streamId: id });
  expect(job).toMatchObject({ kind: 'children', state: 'failed' });
  await world.sluice.setJobState(job!.id, 'running');
  chain.mineMany(CONFIRMATIONS);
  expect(await searched(world, id)).toEqual(
    new Map([
      [CHILD, first],
      [OTHER_CHILD, from],
    ]),
  );
  expect(await readMissing()).toBeUndefined();
  expect(await emittersIn(world, chain.mine(both()).hash)).toEqual([CHILD, OTHER_CHILD]);
});

test('a backfill waits for the children of its range', async ({ world }) => {
  const { chain } = world;
  // The search takes several steps to the child.
  chain.mineMany(50);
  chain.mine(blockOf(created(CHILD)));
  const pinged = chain.mine(blockOf(ping));
  chain.mineMany(CONFIRMATIONS + 1);
  const id = await watchFactory(world);
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
  // The last block of the search is not confirmed yet.
  await streams.update(id, { factories: [{ ...FACTORIES[0]!, from: 0 }] });
  const { jobId } = await streams.createHistoricalJob({
    chainId: CHAIN,
    streamId: id,
    blockFrom: numberOf(pinged),
    blockTo: numberOf(chain.head),
  });
  chain.mineMany(CONFIRMATIONS);
  await world.until(
    'the backfill is done',
    async () => (await world.sluice.getJob(jobId!)).state === 'done',
  );
  expect(await world.sluice.getJob(jobId!)).toMatchObject({ matches: 1 });
  expect(
    await world.until('the webhook arrives', async () =>
      world.sink.requests
        .map(({ body }) => JSON.parse(body) as EvmWebhook)
        .find(({ block }) => block.hash === pinged.hash)
        ?.logs.map(({ address }) => address),
    ),
  ).toEqual([CHILD]);
});
