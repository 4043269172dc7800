/**
 * Tests that queues get each webhook despite faults of their broker: three NATS servers with a
 * replicated JetStream stream, of which one at a time is stopped, cut off or killed, or which are
 * full. `FAULT_MESSAGES` and `FAULT_COUNT` set how many.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, connect } from '@nats-io/transport-node';
import { type Nats, type NatsServer, startNats, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FaultWorld, type Watch, startWorld } from './world.ts';

const MESSAGES = Number(process.env['FAULT_MESSAGES'] ?? 2_400);
const FAULTS = Number(process.env['FAULT_COUNT'] ?? 3);
const STREAMS = 40;
const PHASES = 2;
/** Messages that may be missing from the queue while more blocks are mined. */
const MAX_WAITING = 1_000;
const NAME = 'HOOKS';
const PAUSE_MS = 2_000;
/** Interval of blocks during a fault. */
const BROKEN_EVERY_MS = 50;
const LIMIT_MS = 600_000;
const READS_AT_ONCE = 100;

let nats: Nats;
let world: FaultWorld;
let connection: NatsConnection;
let manager: JetStreamManager;

beforeAll(async () => {
  nats = await startNats({ servers: 3, isProxied: true });
  connection = await connect({
    servers: nats.servers.map(({ directUrl }) => directUrl),
    ignoreClusterUpdates: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    pingInterval: 1_000,
  });
  manager = await jetstreamManager(connection, { checkAPI: false });
  await until('the queue is replicated', () =>
    manager.streams
      .add({ name: NAME, subjects: ['hooks.>'], num_replicas: 3, discard: 'new' })
      .catch(() => false),
  );
  world = await startWorld('sqlite', { args: ['--max-timeout-seconds', '5'] });
}, 120_000);
afterAll(async () => {
  await connection?.close();
  await world?.stop();
  await nats?.stop();
});

/** Returns the number of messages in the queue; undefined while the cluster does not respond. */
const countMessages = (): Promise<number | undefined> =>
  manager.streams.info(NAME).then(
    ({ state }) => state.messages,
    () => undefined,
  );

/** Waits until the queue has a leader and all replicas have its messages. */
const untilReplicated = () =>
  until(
    'all replicas are current',
    async () => {
      const info = await manager.streams.info(NAME).catch(() => undefined);
      const { leader, replicas = [] } = info?.cluster ?? {};
      return leader && replicas.length === 2 && replicas.every(({ current }) => current);
    },
    LIMIT_MS,
  );

const limitTo = (count: number) =>
  until('the limit of the queue is set', () =>
    manager.streams.update(NAME, { max_msgs: count }).catch(() => false),
  );

/** The server that the service is connected to now. */
const inUse = (): NatsServer =>
  nats.servers.find(({ network }) => network!.connections > 0) ?? nats.servers[0]!;

/**
 * The last two crash a server, after which NATS before 2.10.23 may lack confirmed messages. They are
 * injected only if `FAULT_COUNT` is more than the default.
 */
const FAULT_KINDS: readonly (() => Promise<void>)[] = [
  async function stop() {
    const server = inUse();
    server.pause();
    await wait(4 * PAUSE_MS);
    server.resume();
  },
  async function cutOff() {
    const { network } = inUse();
    network!.blackHole();
    await wait(4 * PAUSE_MS);
    network!.heal();
  },
  async function fill() {
    await limitTo((await countMessages()) ?? 1);
    await wait(2 * PAUSE_MS);
    await limitTo(-1);
  },
  async function kill() {
    const server = inUse();
    await server.kill();
    await wait(PAUSE_MS);
    await server.start();
  },
  async function killLeader() {
    const name = (await manager.streams.info(NAME)).cluster!.leader;
    const leader = nats.servers.find((server) => server.name === name)!;
    await leader.kill();
    await wait(PAUSE_MS);
    await leader.start();
  },
];

/** Reads the IDs of all messages by their position, and counts the messages of each. */
async function readIds(): Promise<Map<string, number>> {
  const { first_seq: first, last_seq: last } = (await manager.streams.info(NAME)).state;
  const counts = new Map<string, number>();
  for (let seq = first; seq <= last; seq += READS_AT_ONCE) {
    const length = Math.min(READS_AT_ONCE, last - seq + 1);
    const some = Array.from({ length }, (_, n) =>
      manager.streams.getMessage(NAME, { seq: seq + n }),
    );
    for (const message of await Promise.all(some)) {
      const id = message!.header.get('webhook-id');
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return counts;
}

test(`fault 26: ${FAULTS} faults of a broker under load`, async () => {
  const watches: Watch[] = [];
  const url = `${nats.url}/hooks.{stream}.{phase}?stream=${NAME}`;
  while (watches.length < STREAMS) watches.push(await world.watch('queue', { url }));
  const blocks = Math.ceil(MESSAGES / STREAMS / PHASES);
  /** Number of blocks that may be mined before the next fault. */
  let allowed = 1;
  let isBroken = false;
  let mined = 0;
  /** Whether the queue has all but a few of the messages. */
  const hasMost = async (): Promise<boolean> =>
    ((await countMessages()) ?? 0) + MAX_WAITING > mined * STREAMS * PHASES;
  const mine = async (): Promise<void> => {
    for (; mined < blocks; mined++) {
      const mayMine = async () => mined < allowed && (isBroken || (await hasMost()));
      await until('the next block may be mined', mayMine, LIMIT_MS, 20);
      world.mine(watches);
      if (isBroken) await wait(BROKEN_EVERY_MS);
    }
    world.mine([], 3);
  };
  const load = mine();
  await until('the service is connected', async () => ((await countMessages()) ?? 0) > 0);
  for (let fault = 0; fault < FAULTS; fault++) {
    await untilReplicated();
    // Begins each fault without the consequences of the last one.
    await until('it is time', async () => mined >= allowed && (await hasMost()), LIMIT_MS);
    isBroken = true;
    allowed = Math.ceil((blocks * (fault + 1)) / FAULTS);
    await FAULT_KINDS[fault % FAULT_KINDS.length]!();
    isBroken = false;
  }
  await load;
  await untilReplicated();

  const expected = blocks * STREAMS * PHASES;
  const states = () =>
    world.ledger.rows<{ state: string; n: number }>(
      'select state, count(*) as n from delivery group by state',
    );
  const isDone = async () => {
    const [only, ...others] = await states();
    return others.length === 0 && only?.state === 'succeeded' && only.n === expected;
  };
  await until('all deliveries have succeeded', isDone, LIMIT_MS, 500).catch(async (error) => {
    throw new Error(`${error.message}: ${JSON.stringify(await states())}`);
  });

  const rows = await world.ledger.rows<{ id: string; place: string; response: string }>(
    `select d.id, d.stream_id || ':' || m.block_hash || ':' || d.phase as place,
       (select response_body from attempt a where a.delivery_id = d.id and a.error is null) as response
     from delivery d join match m on m.id = d.match_id`,
  );
  const ids = await readIds();
  expect(new Set(rows.map(({ place }) => place)).size).toBe(expected);
  const lost = rows.filter(({ id }) => !ids.has(id));
  expect(lost).toEqual([]);
  expect(ids.size).toBe(expected);
  const errors = await world.ledger.rows(
    'select error, count(*) as attempts from attempt group by error order by attempts desc',
  );
  const repeated = [...ids.values()].reduce((sum, count) => sum + count - 1, 0);
  process.stdout.write(`${ids.size} IDs, ${repeated} repeats, ${JSON.stringify(errors)}\n`);
});
