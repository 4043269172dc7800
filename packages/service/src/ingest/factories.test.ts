/** Tests that a complete service watches the contracts that a factory creates. */
import { createClient } from '@sluice/kit';
import type { EvmWebhook } from '@sluice/kit/contract';
import type { ScriptedLog } from '@sluice/testkit';
import { type Address, encodeEventTopics, parseAbi } from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { API_KEY, CHAIN, TOKEN, createIngestWorld } from './ingestWorld.test-only.ts';

const FACTORY = '0x00000000000000000000000000000000000000fa';
const CHILD = '0x00000000000000000000000000000000000000c1';
const EVENT = 'Created(address indexed child)';

const created = (child: Address): ScriptedLog => ({
  address: FACTORY,
  topics: encodeEventTopics({
    abi: parseAbi([`event ${EVENT}`]),
    eventName: 'Created',
    args: { child },
  }).map((topic) => String(topic) as Address),
});
const ping: ScriptedLog = { address: CHILD, topics: [`0x${'0e'.repeat(32)}`] };

const blockOf = (...logs: ScriptedLog[]) => ({ transactions: [{ to: TOKEN as Address, logs }] });

test('a child is watched from its block on, leaves with it, and survives a restart', async () => {
  const world = await createIngestWorld();
  onTestFinished(() => world.stop());
  const { chain, sink } = world;
  await world.start();
  await world.until('the chain is live', async () => (await world.health()).state === 'live');
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
  const { id } = await streams.create({
    webhookUrl: `${sink.url}/hook`,
    description: '',
    tag: 'test',
    chainIds: [CHAIN],
    includeContractLogs: true,
    factories: [{ address: FACTORY, event: EVENT, parameter: 'child' }],
  });
  /** Waits for the block's unconfirmed webhook, and returns the emitters of its logs. */
  const emittersIn = (hash: string): Promise<string[]> =>
    world.until('the webhook arrives', async () => {
      const bodies = sink.requests.map(({ body }) => JSON.parse(body) as EvmWebhook);
      return bodies
        .find(({ block, confirmed }) => block.hash === hash && !confirmed)
        ?.logs.map(({ address }) => address);
    });

  const first = chain.mine(blockOf(ping, created(CHILD)));
  expect(await emittersIn(first.hash)).toEqual([CHILD, FACTORY]);
  const second = chain.mine(blockOf(ping));
  expect(await emittersIn(second.hash)).toEqual([CHILD]);
  const explained = await world.sluice.explain(second.hash);
  expect(explained.streams[0]).toMatchObject({ streamId: id, records: [{ included: true }] });

  await world.service.stop();
  await world.start();
  expect(await emittersIn(chain.mine(blockOf(ping)).hash)).toEqual([CHILD]);

  // On the other branch, the factory creates the child only in the last block.
  chain.fork({ depth: 3, blocks: [blockOf(ping), {}, {}, blockOf(ping, created(CHILD))] });
  await world.caughtUp();
  expect(await emittersIn(chain.head.hash)).toEqual([CHILD, FACTORY]);
  const removed = chain.canonical().at(-4)!;
  expect(removed.transactions).toHaveLength(1);
  const deliveries = await world.readDeliveries();
  const details = await Promise.all(deliveries.map((each) => world.sluice.getDelivery(each.id)));
  expect(details.map(({ blockHash }) => blockHash)).not.toContain(removed.hash);
});
