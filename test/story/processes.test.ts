/**
 * Tests several processes on one PostgreSQL database: two ingest, up to three deliver, and two
 * serve the API. Ingesters are killed and stalled, but every matching block is delivered once per
 * phase.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, unwrapAlert } from '@sluice/kit';
import type { DeliverySummary } from '@sluice/kit/contract';
import { type ReceivedLiveEvent, createSluiceClient } from '@sluice/kit/sluice';
import {
  type Anvil,
  type Postgres,
  type WebhookSink,
  startAnvil,
  startPostgres,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const CONFIRMATIONS = 2;

/** Data folder with the master key, which all processes share. */
const folder = mkdtempSync(join(tmpdir(), 'sluice-processes-'));
let anvil: Anvil;
let postgres: Postgres;
let database: pg.Client;
let sink: WebhookSink;
let ingesters: Served[];
let delivering: Served;
let apis: [Served, Served];
const started: Served[] = [];

const start = async (...args: string[]): Promise<Served> => {
  const served = await serve(['--database-url', postgres.url, '--data', folder, ...args]);
  started.push(served);
  return served;
};
const chainFlag = (): string[] => [
  '--chain',
  `${CHAIN}=${anvil.url},confirmations=${CONFIRMATIONS},poll=50`,
];
const startIngester = (): Promise<Served> =>
  start('--role', 'ingest', ...chainFlag(), '--notify-url', `${sink.url}/alerts`);

beforeAll(async () => {
  [anvil, postgres, sink] = await Promise.all([startAnvil(), startPostgres(), startWebhookSink()]);
  database = new pg.Client(postgres.url);
  await database.connect();
  // The processes start one after another, because on two cores they would not start faster in
  // parallel.
  ingesters = [await startIngester(), await startIngester()];
  delivering = await start('--role', 'deliver');
  // Only the first API process has a node.
  apis = [await start('--role', 'api', ...chainFlag()), await start('--role', 'api')];
}, 120_000);
afterAll(async () => {
  await Promise.all(started.filter((each) => each.isRunning()).map((each) => each.kill()));
  await Promise.all([sink.close(), database.end()]);
  await Promise.all([postgres.stop(), anvil.stop()]);
  rmSync(folder, { recursive: true });
});

const clientOf = (served: Served) => createClient({ apiKey: API_KEY, baseUrl: served.url });
const sluiceOf = (served: Served) => createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });

async function readDeliveries(streamId: string): Promise<DeliverySummary[]> {
  const all: DeliverySummary[] = [];
  for await (const each of sluiceOf(apis[1]).listDeliveries({ limit: 100, streamId }))
    all.push(each);
  return all;
}

const head = async (): Promise<number> => Number(await anvil.request('eth_blockNumber', []));
const checkpoint = async (): Promise<number | null> =>
  (await sluiceOf(apis[1]).listChains())[0]?.checkpoint ?? null;

/** Mines blocks with one transfer each and returns their numbers. */
async function pay(to: string, blocks: number): Promise<number[]> {
  const numbers: number[] = [];
  for (let n = 0; n < blocks; n++) {
    const hash = await anvil.request<string>('eth_sendTransaction', [
      { from: anvil.accounts[0]!.address, to, value: '0x1' },
    ]);
    const receipt = await until('the transfer is mined', () =>
      anvil
        .request<{ blockNumber: string } | null>('eth_getTransactionReceipt', [hash])
        .then((found) => found ?? undefined),
    );
    numbers.push(Number(receipt.blockNumber));
  }
  return numbers;
}

async function watch(account: number, on: Served = apis[0]): Promise<{ id: string; to: string }> {
  const to = anvil.accounts[account]!.address;
  const { id } = await clientOf(on).streams.create({
    webhookUrl: `${sink.url}/${account}`,
    description: '',
    tag: `account ${account}`,
    chainIds: [CHAIN],
    includeNativeTxs: true,
  });
  await clientOf(on).streams.addAddress(id, to);
  return { id, to };
}

/** Waits until these blocks are delivered, and checks that there is one delivery per phase. */
async function delivered(streamId: string, blocks: readonly number[]): Promise<void> {
  const expected = blocks.flatMap((block) => [`${block} confirmed`, `${block} unconfirmed`]);
  await until(
    'all are delivered',
    async () => {
      const all = await readDeliveries(streamId);
      return all.length >= expected.length && all.every(({ state }) => state === 'succeeded');
    },
    60_000,
  );
  const rows = (await readDeliveries(streamId)).map((row) => `${row.blockNumber} ${row.phase}`);
  expect(rows.toSorted()).toEqual(expected.toSorted());
}

/**
 * Finds the ingester that reads the chain, by the last log line about the chain's lease, and the
 * other one, which is on standby.
 */
function findReader(): { reader: Served; standby: Served } {
  const isReading = ({ output }: Served): boolean => {
    const events = output().match(/lease (taken|lost) lease=0x7a69/g) ?? [];
    return events.at(-1)?.startsWith('lease taken') === true;
  };
  const running = ingesters.filter((each) => each.isRunning());
  const reader = running.find(isReading)!;
  return { reader, standby: running.find((each) => each !== reader)! };
}

describe('processes with separate roles', () => {
  test('work together as one service', async () => {
    const { id, to } = await watch(5);
    const blocks = await pay(to, 5);
    await anvil.request('anvil_mine', ['0x2']);
    await delivered(id, blocks);

    // Only one ingester reads the chain, but the API processes know the chain's state.
    expect(findReader().standby.output()).toContain('standing by');
    for (const api of apis) {
      // The reader publishes the state of a chain through the ledger every two seconds.
      const chain = await until('the chain is live', async () =>
        (await sluiceOf(api).listChains()).find(({ state }) => state === 'live'),
      );
      expect(chain).toMatchObject({ id: CHAIN, confirmations: CONFIRMATIONS });
      expect(chain.blocks[0]!.number).toBe(await head());
    }
    expect((await clientOf(apis[1]).streams.get(id)).statusMessage).toBe('Stream is active');
  });

  test('serve only the routes of their role', async () => {
    const key = { 'x-api-key': API_KEY };
    for (const { url } of [delivering, ingesters[0]!]) {
      expect((await fetch(`${url}/health`)).status).toBe(200);
      expect((await fetch(`${url}/metrics`, { headers: key })).status).toBe(200);
      const refused = await fetch(`${url}/streams/evm?limit=10`, { headers: key });
      expect(refused.status).toBe(404);
      expect(await refused.text()).toContain('--role api');
    }
  });

  test('an API process reads nodes itself, and hands jobs to the ingester', async () => {
    const { id, to } = await watch(6);
    const [block] = await pay(to, 1);
    await anvil.request('anvil_mine', ['0x2']);
    await delivered(id, [block!]);
    const [api, withoutNodes] = apis;

    const dry = await clientOf(api).streams.dryRunBlock({
      chainId: CHAIN,
      blockNumber: block!,
      includeNativeTxs: true,
      addresses: [to],
    });
    expect(dry).toMatchObject({ txs: [{ toAddress: to.toLowerCase() }] });
    const sent = { chainId: CHAIN, blockNumber: block!, streamId: id };
    expect(await clientOf(api).streams.sendBlock(sent)).toBe(1);
    await until('the block is delivered again', async () => {
      const all = await readDeliveries(id);
      return all.length === 3 && all.every(({ state }) => state === 'succeeded');
    });

    const { jobId } = await clientOf(api).streams.createHistoricalJob({
      streamId: id,
      chainId: CHAIN,
      blockFrom: block!,
      blockTo: block!,
    });
    await until('the reader completes the job', async () => {
      const job = await sluiceOf(withoutNodes).getJob(jobId!);
      return job.state === 'done';
    });
  });

  test('a setting changed in one process applies in all', async () => {
    const [one, other] = apis;
    await clientOf(one).settings.set({ region: 'eu-central-1' });
    await until(
      'the other process has the setting',
      async () => {
        return (await clientOf(other).settings.read()).region === 'eu-central-1';
      },
      5_000,
    );
    const { id, to } = await watch(7);
    await pay(to, 1);
    const { headers } = await sink.waitFor(
      (request) => request.path === '/7' && request.body.includes(id),
    );
    expect(headers['x-region']).toBe('eu-central-1');
  });

  test('an API process reports a failing receiver as backed off until it recovers', async () => {
    const [one, other] = apis;
    const { id, to } = await watch(1);
    const path = '/1';
    const readBackOff = async () =>
      (await sluiceOf(other).listStreamSummaries()).find((stream) => stream.id === id)!.backOff;
    expect(await readBackOff()).toBeNull();
    const watching = await watchLive(other);
    sink.respond(503, { path });
    const blocks = await pay(to, 12);
    await anvil.request('anvil_mine', ['0x2']);
    const backOff = await until(
      'the receiver is backed off',
      async () => (await readBackOff()) ?? undefined,
    );
    expect(backOff.reason).toBe('failures');
    expect(backOff.until).toBeGreaterThan(backOff.since);
    await until('a live event reports it', () =>
      watching.seen.some(({ event }) => event.type === 'stream' && event.streamId === id),
    );
    await watching.leave();

    // A manual retry through any process probes the receiver at once.
    sink.respond(200, { path });
    const waiting = (await readDeliveries(id)).find(({ nextAttemptAt }) => nextAttemptAt !== null)!;
    await clientOf(one).history.replay({ id: waiting.id, streamId: id });
    await until('the receiver is no longer backed off', async () => (await readBackOff()) === null);
    for (const { id: each, nextAttemptAt } of await readDeliveries(id)) {
      if (nextAttemptAt !== null) await clientOf(one).history.replay({ id: each, streamId: id });
    }
    await delivered(id, blocks);
    // Deletes the stream, because another test uses its path.
    await clientOf(one).streams.delete(id);
  });

  test('a process that does not read a chain can resume it', async () => {
    const at = await head();
    await until('the checkpoint is at the head', async () => (await checkpoint()) === at);
    await anvil.request('anvil_mine', ['0x5']);
    const resumed = await sluiceOf(apis[0]).resumeChain(CHAIN, { from: at + 3 });
    expect(resumed).toEqual({ chainId: CHAIN, from: at + 3 });
    await anvil.request('anvil_mine', ['0x1']);
    const goal = await head();
    await until('the reader continues', async () => (await checkpoint()) === goal);
  });
});

test('three delivering processes share the limit of each stream', async () => {
  const CAP = 64;
  const RESPONSE_MS = 150;
  const STREAMS = 40;
  const BLOCKS = 34;
  const deliverers = [
    delivering,
    await start('--role', 'deliver'),
    await start('--role', 'deliver'),
  ];
  sink.clear();
  // A single process has capacity for 32 streams at their limit, so 40 streams need several
  // processes.
  const to = anvil.accounts[3]!.address;
  const ids: string[] = [];
  for (let n = 0; n < STREAMS; n++) {
    const { id } = await clientOf(apis[0]).streams.create({
      webhookUrl: `${sink.url}/cap/${n}`,
      description: '',
      tag: 'cap',
      chainIds: [CHAIN],
      includeNativeTxs: true,
    });
    await clientOf(apis[0]).streams.addAddress(id, to);
    ids.push(id);
  }
  for (const { pid } of deliverers) process.kill(pid, 'SIGSTOP');
  sink.respond(({ path }) => ({ status: 200, delayMs: path.startsWith('/cap') ? RESPONSE_MS : 0 }));
  const blocks = await pay(to, BLOCKS);
  await anvil.request('anvil_mine', ['0x2']);
  const last = ids.at(-1)!;
  await until(
    'all deliveries are due',
    async () => (await readDeliveries(last)).length === 2 * BLOCKS,
  );
  const since = Date.now();
  for (const { pid } of deliverers) process.kill(pid, 'SIGCONT');
  for (const id of ids) await delivered(id, blocks);

  const most = ids.map((_, n) => {
    const arrivals = sink.requests
      .filter(({ path, receivedAt }) => path === `/cap/${n}` && receivedAt >= since)
      .map(({ receivedAt }) => receivedAt);
    return Math.max(
      ...arrivals.map((at) => arrivals.filter((it) => it <= at && at < it + RESPONSE_MS).length),
    );
  });
  expect(Math.max(...most)).toBeLessThanOrEqual(CAP);
  // Attempts overlap, although on a busy machine their number stays far below the limit.
  expect(Math.max(...most)).toBeGreaterThan(CAP / 8);
  const key = { 'x-api-key': API_KEY };
  const made = await Promise.all(
    deliverers.slice(1).map(async ({ url }) => {
      const text = await (await fetch(`${url}/metrics`, { headers: key })).text();
      return Number(
        /^sluice_delivery_attempts_total\{result="succeeded".*? (\d+)$/m.exec(text)?.[1] ?? 0,
      );
    }),
  );
  // One process has at most 2,048 of the 2,720 deliveries in flight, so at least one of the two
  // added processes delivers some.
  expect(Math.max(...made)).toBeGreaterThan(0);
  sink.respond(200);
  await Promise.all(deliverers.slice(1).map((each) => each.stop()));
}, 300_000);

/** Reads the live events of one process after `lastEventId`, until `leave` is called. */
async function watchLive(on: Served, lastEventId?: string) {
  const leaving = new AbortController();
  const seen: ReceivedLiveEvent[] = [];
  const live = Promise.withResolvers<void>();
  const reading = (async () => {
    const events = sluiceOf(on).liveEvents({
      signal: leaving.signal,
      ...(lastEventId !== undefined && { lastEventId }),
      onState: ({ state }) => void (state === 'live' && live.resolve()),
    });
    for await (const each of events) seen.push(each);
  })();
  await live.promise;
  return {
    seen,
    async leave() {
      leaving.abort();
      await reading;
    },
  };
}

test('live events are the same at each API process, and can be resumed at the other', async () => {
  const { id, to } = await watch(4);
  const witness = await watchLive(apis[0]);
  // The first event provides an id to resume from.
  await clientOf(apis[0]).streams.update(id, { tag: 'watched' });
  await until('the witness gets an event', () => witness.seen.length > 0);

  let isPaying = true;
  const paying = (async () => {
    const blocks: number[] = [];
    while (isPaying) blocks.push(...(await pay(to, 1)));
    return blocks;
  })();
  const resumed: ReceivedLiveEvent[] = [witness.seen[0]!];
  for (let n = 0; n < 8; n++) {
    // While a transaction is open, later events are delayed, but none are lost.
    if (n === 3) await database.query('begin; select pg_current_xact_id()');
    if (n === 5) await database.query('commit');
    const reader = await watchLive(apis[n % 2]!, resumed.at(-1)!.id);
    if (n === 3 || n === 4) await new Promise((resolve) => setTimeout(resolve, 300));
    else await until('more events arrive', () => reader.seen.length > 2);
    await reader.leave();
    resumed.push(...reader.seen);
  }
  isPaying = false;
  const blocks = await paying;
  await anvil.request('anvil_mine', ['0x2']);
  await delivered(id, blocks);

  const outcomes = (events: readonly ReceivedLiveEvent[]): string[] =>
    events.flatMap(({ event }) =>
      event.type === 'delivery' &&
      event.delivery.streamId === id &&
      event.delivery.state === 'succeeded'
        ? [`${event.delivery.blockNumber} ${event.delivery.phase}`]
        : [],
    );
  const expected = blocks.flatMap((block) => [`${block} confirmed`, `${block} unconfirmed`]);
  const last = await watchLive(apis[0], resumed.at(-1)!.id);
  await until('all deliveries are reported', () =>
    [witness.seen, [...resumed, ...last.seen]].every(
      (events) => outcomes(events).length >= expected.length,
    ),
  );
  await Promise.all([witness.leave(), last.leave()]);
  resumed.push(...last.seen);
  expect(outcomes(witness.seen).toSorted()).toEqual(expected.toSorted());
  const count = Math.min(witness.seen.length, resumed.length);
  expect(resumed.slice(0, count)).toEqual(witness.seen.slice(0, count));
}, 180_000);

test('a process shows webhooks that the inbox of another process received', async () => {
  const [one, other] = apis;
  const watching = await watchLive(other);
  // The test webhook goes to the inbox of the process that creates the stream.
  await clientOf(one).streams.create({
    webhookUrl: 'sluice://inbox/shared',
    description: '',
    tag: 'inbox',
    chainIds: [CHAIN],
    includeNativeTxs: true,
  });
  const found = await until('the webhook is shown', () =>
    watching.seen.find(({ event }) => event.type === 'inbox'),
  );
  expect(found.event).toMatchObject({ request: { inbox: 'shared', verified: true } });
  await watching.leave();
});

test('the standby replaces a killed reader without gap or duplicate', async () => {
  const { id, to } = await watch(8);
  const blocks = await pay(to, 3);
  const { reader, standby } = findReader();
  blocks.push(...(await pay(to, 2)));
  const killed = reader.kill();
  blocks.push(...(await pay(to, 5)));
  await killed;
  const goal = await head();
  // `npm run bench -- takeover` measures the duration of the takeover.
  await until('the standby continues', async () => (await checkpoint()) === goal);
  expect(standby.output()).toContain('lease taken lease=0x7a69');
  await anvil.request('anvil_mine', ['0x2']);
  await delivered(id, blocks);
  ingesters = [standby, await startIngester()];
});

test('a reader that stalls longer than its lease writes nothing when it wakes', async () => {
  const { id, to } = await watch(9);
  const blocks = await pay(to, 2);
  const { reader, standby } = findReader();
  process.kill(reader.pid, 'SIGSTOP');
  try {
    blocks.push(...(await pay(to, 3)));
    const goal = await head();
    await until('the standby continues', async () => (await checkpoint()) === goal, 20_000);
  } finally {
    process.kill(reader.pid, 'SIGCONT');
  }
  blocks.push(...(await pay(to, 3)));
  await until('the reader reports its lost lease', () => reader.output().includes('lease lost'));
  await anvil.request('anvil_mine', ['0x2']);
  await delivered(id, blocks);
  expect(findReader()).toEqual({ reader: standby, standby: reader });
});

test('the standby replaces a stopped reader immediately', async () => {
  const { reader, standby } = findReader();
  expect(await reader.stop()).toBe(0);
  // The timeout is shorter than the lease of 6 s, because a stopped reader releases its lease.
  await until('the standby has the lease', () => findReader().reader === standby, 5_000);
});

test('one process sends alerts, and another after it is killed; none is sent twice', async () => {
  const reported = () =>
    sink.requests
      .filter(({ path }) => path === '/alerts')
      .map(({ headers, body }) => unwrapAlert({ headers, body, secret: SECRET }));
  const failStream = async (account: number): Promise<string> => {
    const { id, to } = await watch(account);
    sink.respond(410, { path: `/${account}` });
    await pay(to, 1);
    await until('the stream is in error', async () => {
      return (await clientOf(apis[0]).streams.get(id)).status === 'error';
    });
    return id;
  };
  ingesters = [ingesters.find((each) => each.isRunning())!, await startIngester()];
  // No other stream has the URLs of these accounts, so each failure has one alert.
  const first = await failStream(3);
  await until('the first alert is sent', () => reported().length === 1);
  // A process that is killed before it records the alert leaves it to be sent again.
  const recorded = () => database.query('select from alert where sent_at is not null');
  await until('it is recorded', async () => (await recorded()).rowCount === 1);
  const reporter = ingesters.find(({ output }) => output().includes('lease taken lease=alerts'))!;
  await reporter.kill();
  const second = await failStream(2);
  await until('another process sends the second alert', () => reported().length > 1, 60_000);
  expect(reported().map(({ alert }) => alert)).toMatchObject(
    [first, second].map((streamId) => ({ type: 'stream.error', data: { streamId } })),
  );
});
