/**
 * One ledger, many processes: two that read the chain, some that deliver, two that answer, all on one
 * PostgreSQL. Readers are killed and stalled; every matching block is delivered, once as each phase.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, unwrapAlert } from '@sluice/kit';
import type { DeliverySummary } from '@sluice/kit/contract';
import { type ReceivedEvent, createSluiceClient } from '@sluice/kit/sluice';
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
const TAKEOVER_MS = 10_000;

/** Of the master key, which the processes share. */
const folder = mkdtempSync(join(tmpdir(), 'sluice-processes-'));
let anvil: Anvil;
let postgres: Postgres;
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
  // One after the other: a machine with two cores starts them no faster together.
  ingesters = [await startIngester(), await startIngester()];
  delivering = await start('--role', 'deliver');
  // Of the processes of the API one has no node of its own.
  apis = [await start('--role', 'api', ...chainFlag()), await start('--role', 'api')];
}, 120_000);
afterAll(async () => {
  await Promise.all(started.filter((each) => each.isRunning()).map((each) => each.kill()));
  await sink.close();
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

/** One block each, with a transfer in it; answers with their numbers. */
async function pay(to: string, blocks: number): Promise<number[]> {
  const numbers: number[] = [];
  for (let n = 0; n < blocks; n++) {
    const hash = await anvil.request<string>('eth_sendTransaction', [
      { from: anvil.accounts[0]!.address, to, value: '0x1' },
    ]);
    const receipt = await until('it is mined', () =>
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

/** Until each of these blocks was delivered, and once as each phase. */
async function delivered(streamId: string, blocks: readonly number[]): Promise<void> {
  const expected = blocks.flatMap((block) => [`${block} confirmed`, `${block} unconfirmed`]);
  await until(
    'all is delivered',
    async () => {
      const all = await readDeliveries(streamId);
      return all.length >= expected.length && all.every(({ state }) => state === 'succeeded');
    },
    60_000,
  );
  const rows = (await readDeliveries(streamId)).map((row) => `${row.blockNumber} ${row.phase}`);
  expect(rows.toSorted()).toEqual(expected.toSorted());
}

/** The ingester that reads the chain by what it logged last, and the one that stands by. */
function findReader(): { reader: Served; standby: Served } {
  const isReading = ({ output }: Served): boolean => {
    const events = output().match(/lease (taken|lost) lease=0x7a69/g) ?? [];
    return events.at(-1)?.startsWith('lease taken') === true;
  };
  const running = ingesters.filter((each) => each.isRunning());
  const reader = running.find(isReading)!;
  return { reader, standby: running.find((each) => each !== reader)! };
}

describe('processes with a role each', () => {
  test('work together as one service', async () => {
    const { id, to } = await watch(5);
    const blocks = await pay(to, 5);
    await anvil.request('anvil_mine', ['0x2']);
    await delivered(id, blocks);

    // Only one reads the chain, and the others know how it is.
    expect(findReader().standby.output()).toContain('standing by');
    for (const api of apis) {
      // What the reader says of a chain comes by the ledger, every two seconds.
      const chain = await until('the chain is live', async () =>
        (await sluiceOf(api).listChains()).find(({ state }) => state === 'live'),
      );
      expect(chain).toMatchObject({ id: CHAIN, confirmations: CONFIRMATIONS });
      expect(chain.blocks[0]!.number).toBe(await head());
    }
    expect((await clientOf(apis[1]).streams.get(id)).statusMessage).toBe('Stream is active');
  });

  test('answer what is theirs to answer', async () => {
    const key = { 'x-api-key': API_KEY };
    for (const { url } of [delivering, ingesters[0]!]) {
      expect((await fetch(`${url}/health`)).status).toBe(200);
      expect((await fetch(`${url}/metrics`, { headers: key })).status).toBe(200);
      const refused = await fetch(`${url}/streams/evm?limit=10`, { headers: key });
      expect(refused.status).toBe(404);
      expect(await refused.text()).toContain('--role api');
    }
  });

  test('a process of the API reads the nodes itself, and hands to the reader what is for it', async () => {
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
    await until('it is delivered again', async () => {
      const all = await readDeliveries(id);
      return all.length === 3 && all.every(({ state }) => state === 'succeeded');
    });

    const { jobId } = await clientOf(api).streams.createHistoricalJob({
      streamId: id,
      chainId: CHAIN,
      blockFrom: block!,
      blockTo: block!,
    });
    await until('the reader does the job', async () => {
      const job = await sluiceOf(withoutNodes).getJob(jobId!);
      return job.state === 'done';
    });
  });

  test('a setting that is changed in one holds in all', async () => {
    const [one, other] = apis;
    await clientOf(one).settings.set({ region: 'eu-central-1' });
    await until(
      'the other knows',
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

  test('a receiver that fails is said to be backOff by one that does not deliver, until it is back', async () => {
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
    const backOff = await until('it is spared', async () => (await readBackOff()) ?? undefined);
    expect(backOff.reason).toBe('failures');
    expect(backOff.until).toBeGreaterThan(backOff.since);
    await until('those who watch are reported', () =>
      watching.seen.some(({ event }) => event.type === 'stream' && event.streamId === id),
    );
    await watching.leave();

    // Nobody waits for it: one that is sent again by hand, at any process, asks whether it is back.
    sink.respond(200, { path });
    const waiting = (await readDeliveries(id)).find(({ state }) => state === 'pending')!;
    await clientOf(one).history.replay({ id: waiting.id, streamId: id });
    await until('it is backOff no more', async () => (await readBackOff()) === null);
    for (const { id: each, state } of await readDeliveries(id)) {
      if (state === 'pending') await clientOf(one).history.replay({ id: each, streamId: id });
    }
    await delivered(id, blocks);
    // Another test has a receiver of its own at this path.
    await clientOf(one).streams.delete(id);
  });

  test('a chain is resumed by a process that does not read it', async () => {
    const at = await head();
    await until('it stands at the head', async () => (await checkpoint()) === at);
    await anvil.request('anvil_mine', ['0x5']);
    const resumed = await sluiceOf(apis[0]).resumeChain(CHAIN, { from: at + 3 });
    expect(resumed).toEqual({ chainId: CHAIN, from: at + 3 });
    await anvil.request('anvil_mine', ['0x1']);
    const goal = await head();
    await until('the reader goes on', async () => (await checkpoint()) === goal);
  });
});

test('three that deliver keep to the cap of each stream together', async () => {
  const CAP = 64;
  const ANSWER_MS = 150;
  const STREAMS = 40;
  const BLOCKS = 34;
  const deliverers = [
    delivering,
    await start('--role', 'deliver'),
    await start('--role', 'deliver'),
  ];
  sink.clear();
  // One process alone has room for thirty-two streams at their cap.
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
  sink.respond(({ path }) => ({ status: 200, delayMs: path.startsWith('/cap') ? ANSWER_MS : 0 }));
  const blocks = await pay(to, BLOCKS);
  await anvil.request('anvil_mine', ['0x2']);
  const last = ids.at(-1)!;
  await until('all is due', async () => (await readDeliveries(last)).length === 2 * BLOCKS);
  const since = Date.now();
  for (const { pid } of deliverers) process.kill(pid, 'SIGCONT');
  for (const id of ids) await delivered(id, blocks);

  const most = ids.map((_, n) => {
    const arrivals = sink.requests
      .filter(({ path, receivedAt }) => path === `/cap/${n}` && receivedAt >= since)
      .map(({ receivedAt }) => receivedAt);
    return Math.max(
      ...arrivals.map((at) => arrivals.filter((it) => it <= at && at < it + ANSWER_MS).length),
    );
  });
  expect(Math.max(...most)).toBeLessThanOrEqual(CAP);
  // Many at once, though a busy machine does not come near the cap.
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
  // Of those two at least one: of what is due at first one process takes no more than 2,048.
  expect(Math.max(...made)).toBeGreaterThan(0);
  sink.respond(200);
  await Promise.all(deliverers.slice(1).map((each) => each.stop()));
}, 300_000);

/** What is reported live, read at one process until it is left; goes on after `lastEventId`. */
async function watchLive(on: Served, lastEventId?: string) {
  const leaving = new AbortController();
  const seen: ReceivedEvent[] = [];
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

test('live events are the same at each process of the API, and are resumed at the other', async () => {
  const { id, to } = await watch(4);
  const database = new pg.Client(postgres.url);
  database.on('error', () => {});
  await database.connect();
  const witness = await watchLive(apis[0]);
  // The first event gives a place to go on from.
  await clientOf(apis[0]).streams.update(id, { tag: 'watched' });
  await until('the witness sees', () => witness.seen.length > 0);

  let isPaying = true;
  const paying = (async () => {
    const blocks: number[] = [];
    while (isPaying) blocks.push(...(await pay(to, 1)));
    return blocks;
  })();
  const resumed: ReceivedEvent[] = [witness.seen[0]!];
  for (let n = 0; n < 8; n++) {
    // A transaction that is under way holds back what comes after it, and takes nothing of it away.
    if (n === 3) await database.query('begin; select pg_current_xact_id()');
    if (n === 5) await database.query('commit');
    const reader = await watchLive(apis[n % 2]!, resumed.at(-1)!.id);
    if (n === 3 || n === 4) await new Promise((resolve) => setTimeout(resolve, 300));
    else await until('it sees more', () => reader.seen.length > 2);
    await reader.leave();
    resumed.push(...reader.seen);
  }
  isPaying = false;
  const blocks = await paying;
  await anvil.request('anvil_mine', ['0x2']);
  await delivered(id, blocks);

  const outcomes = (events: readonly ReceivedEvent[]): string[] =>
    events.flatMap(({ event }) =>
      event.type === 'delivery' &&
      event.delivery.streamId === id &&
      event.delivery.state === 'succeeded'
        ? [`${event.delivery.blockNumber} ${event.delivery.phase}`]
        : [],
    );
  const expected = blocks.flatMap((block) => [`${block} confirmed`, `${block} unconfirmed`]);
  const last = await watchLive(apis[0], resumed.at(-1)!.id);
  await until('all was reported', () =>
    [witness.seen, [...resumed, ...last.seen]].every(
      (events) => outcomes(events).length >= expected.length,
    ),
  );
  await Promise.all([witness.leave(), last.leave()]);
  await database.end();
  resumed.push(...last.seen);
  expect(outcomes(witness.seen).toSorted()).toEqual(expected.toSorted());
  const count = Math.min(witness.seen.length, resumed.length);
  expect(resumed.slice(0, count)).toEqual(witness.seen.slice(0, count));
}, 180_000);

test('what an inbox gets is shown by a process that did not get it', async () => {
  const [one, other] = apis;
  const watching = await watchLive(other);
  // Its test webhook comes into the inbox of the process that creates it.
  await clientOf(one).streams.create({
    webhookUrl: 'sluice://inbox/shared',
    description: '',
    tag: 'inbox',
    chainIds: [CHAIN],
    includeNativeTxs: true,
  });
  const found = await until('it is reported', () =>
    watching.seen.find(({ event }) => event.type === 'inbox'),
  );
  expect(found.event).toMatchObject({ request: { inbox: 'shared', verified: true } });
  await watching.leave();
});

test('a reader that is killed is followed in under 10 seconds, without gap or double', async () => {
  const { id, to } = await watch(8);
  const blocks = await pay(to, 3);
  const { reader, standby } = findReader();
  blocks.push(...(await pay(to, 2)));
  const killed = reader.kill();
  blocks.push(...(await pay(to, 5)));
  await killed;
  const since = Date.now();
  const goal = await head();
  await until('the standby reads on', async () => (await checkpoint()) === goal, TAKEOVER_MS);
  expect(Date.now() - since).toBeLessThan(TAKEOVER_MS);
  expect(standby.output()).toContain('lease taken lease=0x7a69');
  await anvil.request('anvil_mine', ['0x2']);
  await delivered(id, blocks);
  ingesters = [standby, await startIngester()];
});

test('a reader that stalled longer than its lease writes nothing when it wakes', async () => {
  const { id, to } = await watch(9);
  const blocks = await pay(to, 2);
  const { reader, standby } = findReader();
  process.kill(reader.pid, 'SIGSTOP');
  try {
    blocks.push(...(await pay(to, 3)));
    const goal = await head();
    await until('the standby reads on', async () => (await checkpoint()) === goal, 20_000);
  } finally {
    process.kill(reader.pid, 'SIGCONT');
  }
  blocks.push(...(await pay(to, 3)));
  await until('it finds its lease lost', () => reader.output().includes('lease lost'));
  await anvil.request('anvil_mine', ['0x2']);
  await delivered(id, blocks);
  expect(findReader()).toEqual({ reader: standby, standby: reader });
});

test('a reader that is stopped is followed at once', async () => {
  const { reader, standby } = findReader();
  expect(await reader.stop()).toBe(0);
  await until('the standby has it', () => findReader().reader === standby, 3_000);
});

test('the operator is reported by one process, and by another when it is killed; nothing twice', async () => {
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
  const first = await failStream(1);
  await until('it is reported', () => reported().length === 1);
  const reporter = ingesters.find(({ output }) => output().includes('lease taken lease=alerts'))!;
  await reporter.kill();
  const second = await failStream(2);
  await until('another tells', () => reported().length > 1, 60_000);
  expect(reported().map(({ alert }) => alert)).toMatchObject(
    [first, second].map((streamId) => ({ type: 'stream.error', data: { streamId } })),
  );
});
