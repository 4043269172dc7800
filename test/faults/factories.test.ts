/** Tests service processes that are killed while a factory creates the contracts that a stream watches. */
import type { EvmWebhook } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type ScriptedLog, until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY } from '../serve.ts';
import { CHAIN, type FaultWorld, STORES, startWorld } from './world.ts';

const KILLS = 12;
/** Blocks that are mined before each kill, and children that each of them creates. */
const BLOCKS = 4;
const CHILDREN = 3;
/** Children in one block of each run. */
const MANY = 500;
/** Maximum wait before a kill. */
const RUN_MS = 400;

/** Number of an address that is not a child. */
const STRANGER = 1_000_000;

const FACTORY = `0x${'fa'.repeat(20)}` as const;
const EVENT = 'Created(address indexed child)';
/** Topic of the event. */
const CREATED = '0x1449abf21e49fd025f33495e77f7b1461caefdd3d4bb646424a3f445c4576a5b';

const addressOf = (n: number) => `0x${(0xc0_0000 + n).toString(16).padStart(40, '0')}` as const;
const created = (n: number): ScriptedLog => ({
  address: FACTORY,
  topics: [CREATED, `0x${addressOf(n).slice(2).padStart(64, '0')}`],
});
const ping = (n: number): ScriptedLog => ({
  address: addressOf(n),
  topics: [`0x${'0e'.repeat(32)}`],
});

describe.each(STORES)('on %s', (store) => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await startWorld(store);
  });
  afterAll(() => world?.stop());

  test(`fault 2: ${KILLS} kill -9 at any moment while children are created and found`, async () => {
    /** Emitters of the logs that the stream must get, by block number. */
    const expected = new Map<number, string[]>();
    let children = 0;
    const mine = (count: number): void => {
      const first = children;
      children += count;
      const added = Array.from({ length: count }, (_, n) => first + n);
      // Some events of a constructor come before the log of the factory.
      const logs = [
        ...added.slice(0, 2).map(ping),
        ...added.map(created),
        ...(first > 0 ? [ping(0), ping(first - 1), ping(STRANGER)] : []),
      ];
      const { number } = world.chain.mine({ transactions: [{ to: FACTORY, logs }] });
      const watched = logs
        .map(({ address }) => address)
        .filter((address) => address !== addressOf(STRANGER));
      expected.set(Number(number), watched);
    };
    for (let n = 0; n < 8; n++) mine(CHILDREN);
    const past = new Set<string>(Array.from({ length: children }, (_, n) => addressOf(n)));
    world.mine([], 3);
    await until('the chain is live', async () => (await world.health()).state === 'live');
    const { id } = await world.client().streams.create({
      webhookUrl: `${world.receiver.url}/children`,
      description: '',
      tag: 'children',
      chainIds: [CHAIN],
      includeContractLogs: true,
      factories: [{ address: FACTORY, event: EVENT, parameter: 'child', from: 0 }],
    });
    const from = Number((await world.health()).checkpoint) + 1;
    for (let kill = 0; kill < KILLS; kill++) {
      for (let n = 0; n < BLOCKS; n++) mine(kill === 3 && n === 0 ? MANY : CHILDREN);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * RUN_MS));
      await world.kill();
      await world.start();
    }
    const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: world.service.url });
    world.mine([], 3);
    await until(
      'all blocks are matched and searched',
      async () => {
        const jobs = await sluice.listJobs({ streamId: id });
        const { checkpoint } = await world.health();
        const queue = await sluice.listDeliveries({ limit: 1, state: ['pending', 'leased'] });
        return (
          checkpoint === Number(world.chain.head.number) &&
          jobs.every(({ state }) => state === 'done') &&
          queue.result.length === 0
        );
      },
      120_000,
    );
    const { total } = await sluice.listChildren(id);
    expect(total).toBe(children);
    // Webhooks of past children start once the search has found them.
    const received = new Map<number, string[]>();
    for (const { path, body } of world.receiver.requests) {
      const webhook = JSON.parse(body) as EvmWebhook;
      if (path !== '/children' || webhook.confirmed || webhook.logs.length === 0) continue;
      const emitters = webhook.logs.map(({ address }) => address);
      received.set(Number(webhook.block.number), emitters);
    }
    const live = [...expected].filter(([number]) => number >= from);
    expect(received.size).toBe(live.length);
    for (const [number, emitters] of live) {
      const rest = received.get(number)!.filter((address) => !past.has(address));
      expect(rest, `block ${number}`).toEqual(emitters.filter((each) => !past.has(each)));
    }
    expect(received.get(live.at(-1)![0])).toContain(addressOf(0));
  });
});
