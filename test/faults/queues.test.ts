/**
 * Tests that queues get each webhook despite faults of their broker: three servers with a replicated
 * queue, of which one at a time is stopped, cut off or killed, or which are full. `FAULT_MESSAGES`
 * and `FAULT_COUNT` set how many.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@sluice/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { FaultBroker, FaultServer } from './brokers/broker.ts';
import { startKafkaBroker } from './brokers/kafka.ts';
import { startNatsBroker } from './brokers/nats.ts';
import { startRabbitMqBroker } from './brokers/rabbitMq.ts';
import { type Watch, startWorld } from './world.ts';

const MESSAGES = Number(process.env['FAULT_MESSAGES'] ?? 2_400);
const STREAMS = 40;
const PHASES = 2;
/** Messages that may be missing from the queue while more blocks are mined. */
const MAX_WAITING = 1_000;
const PAUSE_MS = 2_000;
/** Interval of blocks during a fault. */
const BROKEN_EVERY_MS = 50;
const LIMIT_MS = 600_000;
const FAULT_COUNT = process.env['FAULT_COUNT'];

/** The server that the service is connected to now. */
const inUse = ({ servers }: FaultBroker): FaultServer =>
  servers.find(({ network }) => network!.connections > 0) ?? servers[0]!;

async function restart(server: FaultServer): Promise<void> {
  await server.kill();
  await wait(PAUSE_MS);
  await server.start();
}

const FAULT_KINDS: readonly ((broker: FaultBroker) => Promise<void>)[] = [
  async function stop(broker) {
    const server = inUse(broker);
    server.pause();
    await wait(4 * PAUSE_MS);
    server.resume();
  },
  async function cutOff(broker) {
    const { network } = inUse(broker);
    network!.blackHole();
    await wait(4 * PAUSE_MS);
    network!.heal();
  },
  async function fill(broker) {
    await broker.limitTo((await broker.count()) ?? 1);
    await wait(2 * PAUSE_MS);
    await broker.limitTo(undefined);
  },
  async function kill(broker) {
    await restart(inUse(broker));
  },
  async function killLeader(broker) {
    const name = await broker.leader();
    await restart(broker.servers.find((server) => server.name === name)!);
  },
];

/**
 * NATS before 2.10.23 may lack confirmed messages after the crash of a server, so its servers are
 * killed only if `FAULT_COUNT` is more than the default.
 */
const BROKERS = [
  { name: 'NATS', start: startNatsBroker, faults: 3, kinds: FAULT_KINDS },
  { name: 'RabbitMQ', start: startRabbitMqBroker, faults: 4, kinds: FAULT_KINDS },
  { name: 'Kafka', start: startKafkaBroker, faults: 2, kinds: FAULT_KINDS.slice(0, 2) },
];

/** With many faults, the default limit of a test is too short. */
const patience = FAULT_COUNT === undefined ? {} : { timeout: LIMIT_MS * (1 + Number(FAULT_COUNT)) };

test.each(BROKERS)(
  'fault 26: $name has faults under load',
  patience,
  async ({ start, ...defaults }) => {
    const faults = Number(FAULT_COUNT ?? defaults.faults);
    const broker = await start();
    onTestFinished(() => broker.stop());
    const world = await startWorld('sqlite', { args: ['--max-timeout-seconds', '5'] });
    onTestFinished(() => world.stop());
    const untilReplicated = () =>
      until('all replicas are current', () => broker.isReplicated(), LIMIT_MS);
    await untilReplicated();

    const watches: Watch[] = [];
    while (watches.length < STREAMS) watches.push(await world.watch('queue', { url: broker.url }));
    const blocks = Math.ceil(MESSAGES / STREAMS / PHASES);
    const states = () =>
      world.ledger.rows<{ state: string; n: number }>(
        'select state, count(*) as n from delivery group by state',
      );
    /** Waits, and says where the run stands if the time is up. */
    const untilOrSay = (what: string, read: () => Promise<boolean>, everyMs?: number) =>
      until(what, read, LIMIT_MS, everyMs).catch(async (error: Error) => {
        const inQueue = `${await broker.count()} messages in the queue`;
        const ofLedger = `deliveries ${JSON.stringify(await states())}`;
        throw new Error(`${error.message}: ${mined} of ${blocks} blocks, ${inQueue}, ${ofLedger}`);
      });
    /** Number of blocks that may be mined before the next fault. */
    let allowed = 1;
    let isBroken = false;
    let mined = 0;
    /** Whether the queue has all but a few of the messages. */
    const hasMost = async (): Promise<boolean> =>
      ((await broker.count()) ?? 0) + MAX_WAITING > mined * STREAMS * PHASES;
    const mine = async (): Promise<void> => {
      for (; mined < blocks; mined++) {
        const mayMine = async () => mined < allowed && (isBroken || (await hasMost()));
        await untilOrSay('the next block may be mined', mayMine, 20);
        world.mine(watches);
        if (isBroken) await wait(BROKEN_EVERY_MS);
      }
      world.mine([], 3);
    };
    const load = mine();
    await until('the service is connected', async () => ((await broker.count()) ?? 0) > 0);
    for (let fault = 0; fault < faults; fault++) {
      await untilReplicated();
      // Begins each fault without the consequences of the last one.
      await untilOrSay('it is time', async () => mined >= allowed && (await hasMost()));
      isBroken = true;
      allowed = Math.ceil((blocks * (fault + 1)) / faults);
      await defaults.kinds[fault % defaults.kinds.length]!(broker);
      isBroken = false;
    }
    await load;
    await untilReplicated();

    const expected = blocks * STREAMS * PHASES;
    const isDone = async () => {
      const [only, ...others] = await states();
      return others.length === 0 && only?.state === 'succeeded' && only.n === expected;
    };
    await untilOrSay('all deliveries have succeeded', isDone, 500);

    const rows = await world.ledger.rows<{ id: string; place: string }>(
      `select d.id, d.stream_id || ':' || m.block_hash || ':' || d.phase as place
     from delivery d join match m on m.id = d.match_id`,
    );
    const ids = await broker.readIds();
    expect(new Set(rows.map(({ place }) => place)).size).toBe(expected);
    const lost = new Set(rows.map(({ id }) => id).filter((id) => !ids.has(id)));
    const confirmations = await world.ledger.rows<{ delivery_id: string; response_body: string }>(
      'select delivery_id, response_body from attempt where error is null',
    );
    // A delivery may only be missing if the broker confirmed it and lost it afterwards.
    const unexplained = [...lost];
    for (const { delivery_id: id, response_body: confirmation } of confirmations) {
      if (lost.has(id) && (await broker.hasLost?.(id, confirmation))) {
        unexplained.splice(unexplained.indexOf(id), 1);
      }
    }
    expect(unexplained).toEqual([]);
    expect(ids.size + lost.size).toBe(expected);
    const errors = await world.ledger.rows(
      'select error, count(*) as attempts from attempt group by error order by attempts desc',
    );
    const repeated = [...ids.values()].reduce((sum, count) => sum + count - 1, 0);
    process.stdout.write(
      `${ids.size} IDs, ${lost.size} lost by the broker, ${repeated} repeats, ${JSON.stringify(errors)}\n`,
    );
  },
);
