/**
 * Ingestion through the whole service, on a scripted chain that forks, lags and lies: what was
 * delivered is held against what the chain says should have been.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import type { ChainHealth, DeliverySummary, ProviderHealth } from '@sluice/kit/contract';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type RunningScriptedChain,
  type ScriptedBlock,
  type ScriptedChain,
  type Trouble,
  type WebhookSink,
  createScriptedChain,
  scripted,
  startScriptedChain,
  startWebhookSink,
} from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChainConfig } from '../config.ts';
import { createLog } from '../observe.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import { takeChain } from '../store/takeChain.test-only.ts';
import { createEvmSource } from './evm.ts';
import { createIngest } from './ingest.ts';
import { type Service, startService } from '../service.ts';

const API_KEY = 'test-key-0123456789abcdef';
const CHAIN = '0x7a69';
const CONFIRMATIONS = 3;
const WATCHED = '0x00000000000000000000000000000000000000aa';
const TOKEN = '0x00000000000000000000000000000000000000bb';
const OTHER = '0x00000000000000000000000000000000000000cc';

const root = mkdtempSync(join(tmpdir(), 'sluice-ingest-'));
let folders = 0;
let sink: WebhookSink;
let chain: RunningScriptedChain;
let folder: string;
let service: Service | undefined;
let sluice: SluiceClient;
let log: string[];

beforeAll(async () => {
  sink = await startWebhookSink();
});
afterAll(async () => {
  await sink.close();
  rmSync(root, { recursive: true });
});
beforeEach(async () => {
  folder = join(root, String(++folders));
  chain = await startScriptedChain();
  log = [];
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
  await chain.stop();
  sink.clear();
});

async function start(change: Partial<ChainConfig> = {}): Promise<void> {
  service = await startService(
    {
      port: 0,
      host: '127.0.0.1',
      dataFolder: folder,
      apiKey: API_KEY,
      chains: [
        { id: CHAIN, urls: [chain.url], confirmations: CONFIRMATIONS, pollMs: 20, ...change },
      ],
      aptos: [],
      allowPrivateEndpoints: true,
    },
    createLog((line) => log.push(line)),
  );
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
}

/** Starts, and watches an address on logs and native transactions from the next block on. */
async function startWatching(change: Partial<ChainConfig> = {}, native = true): Promise<string> {
  await start(change);
  await until('the chain is live', async () => (await health()).state === 'live');
  const client = createClient({ apiKey: API_KEY, baseUrl: service!.url });
  const stream = await client.streams.create({
    webhookUrl: `${sink.url}/hook`,
    description: '',
    tag: 'test',
    chainIds: [CHAIN],
    includeContractLogs: true,
    includeNativeTxs: native,
  });
  const added = await client.streams.addAddress(stream.id, WATCHED);
  expect(added.effectiveFrom).toEqual({ [CHAIN]: (await health()).checkpoint! + 1 });
  return stream.id;
}

const health = async (): Promise<ChainHealth> => (await sluice.listChains())[0]!;

async function until<T>(
  what: string,
  read: () => Promise<T | undefined | false>,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) {
      throw new Error(
        `${what}: not in time; ${JSON.stringify({ ...(await health()), blocks: [] })}\n${log.join('')}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Until the service stands at the head of the chain. */
const caughtUp = (): Promise<boolean> =>
  until('the service reaches the head', async () => {
    const { blocks } = await health();
    return blocks[0]?.hash === chain.head.hash;
  });

async function readDeliveries(): Promise<DeliverySummary[]> {
  const all: DeliverySummary[] = [];
  for await (const each of sluice.listDeliveries({ limit: 100 })) all.push(each);
  return all;
}

const transferTo = (to: string) => ({
  transactions: [scripted.transfer({ from: OTHER, to: to as `0x${string}`, value: 5n })],
});
const tokenTransfer = () => ({
  transactions: [
    scripted.erc20Transfer({ token: TOKEN, from: OTHER, to: WATCHED, value: 7n }),
    scripted.transfer({ from: OTHER, to: TOKEN, value: 1n }),
  ],
});

const concernsUs = (block: ScriptedBlock): boolean =>
  block.transactions.some(
    (each) =>
      each.to?.toLowerCase() === WATCHED ||
      each.logs.some((one) => one.topics.some((topic) => topic.endsWith(WATCHED.slice(2)))),
  );

/** Holds the ledger against the canonical chain from this block on. */
async function expectOracle(from: number): Promise<void> {
  await caughtUp();
  const head = Number(chain.head.number);
  const matching = chain
    .canonical()
    .filter((block) => Number(block.number) >= from && concernsUs(block))
    .map((block) => Number(block.number));
  const expected = matching
    .flatMap((number) => [
      `${number} unconfirmed`,
      ...(number + CONFIRMATIONS <= head ? [`${number} confirmed`] : []),
    ])
    .toSorted();
  const deliveries = await until('every delivery is sent', async () => {
    const all = await readDeliveries();
    return all.every((each) => each.state === 'succeeded' || each.state === 'cancelled') && all;
  });
  const details = await Promise.all(deliveries.map((each) => sluice.getDelivery(each.id)));
  const canonical = new Set<string>(chain.canonical().map((block) => block.hash));
  const live = details.filter((each) => canonical.has(each.blockHash));
  expect(live.map((each) => `${each.blockNumber} ${each.phase}`).toSorted()).toEqual(expected);
  expect(live.every((each) => each.state === 'succeeded')).toBe(true);
  // Nothing of a removed block was ever confirmed beyond its depth.
  const gone = details.filter((each) => !canonical.has(each.blockHash));
  for (const each of gone)
    expect(each.phase === 'unconfirmed' || each.state === 'succeeded').toBe(true);
  const seen = new Set(sink.requests.map((request) => request.id));
  for (const each of live) expect(seen.has(each.id)).toBe(true);
}

describe('following a chain', () => {
  test.each(['http', 'ws'] as const)(
    'delivers each matching block, unconfirmed and confirmed, over %s',
    async (kind) => {
      await startWatching({
        urls: [kind === 'ws' ? chain.wsUrl : chain.url],
        ...(kind === 'ws' && { pollMs: 5_000 }),
      });
      chain.mine(transferTo(WATCHED));
      chain.mine(tokenTransfer());
      chain.mine(transferTo(OTHER));
      chain.mineMany(4);
      await expectOracle(1);
      const bodies = sink.requests
        .filter((request) => request.id !== '')
        .map(
          (request) =>
            JSON.parse(request.body) as {
              block: { number: string };
              logs: unknown[];
              txs: unknown[];
            },
        );
      expect(bodies.find((body) => body.block.number === '2')).toMatchObject({
        logs: [{ address: TOKEN, logIndex: '0' }],
        txs: [],
      });
    },
  );

  test('with silent or broken sockets the poll goes on, and heads are pushed again later', async () => {
    await startWatching({ urls: [chain.wsUrl], pollMs: 50 });
    chain.trouble({ kind: 'silentHeads' });
    chain.mine(transferTo(WATCHED));
    await expectOracle(1);
    chain.trouble({ kind: 'dropWebSockets', times: 3 });
    chain.mine(transferTo(WATCHED));
    await expectOracle(1);
    chain.heal();
    chain.mineMany(5);
    await expectOracle(1);
  });

  test('a stream of logs alone asks for logs, not for receipts', async () => {
    await startWatching({}, false);
    chain.mine(tokenTransfer());
    await caughtUp();
    expect(chain.calls['eth_getLogs']).toBe(1);
    expect(chain.calls['eth_getBlockReceipts'] ?? 0).toBe(0);
    const [delivery] = await readDeliveries();
    expect(delivery).toMatchObject({ blockNumber: 1, records: 1 });
  });

  test('a chain nobody watches is followed by its headers', async () => {
    await start();
    chain.mineMany(5);
    await caughtUp();
    expect(chain.calls['eth_getLogs'] ?? 0).toBe(0);
    expect(chain.calls['eth_getBlockReceipts'] ?? 0).toBe(0);
  });

  test('five hundred blocks mined while it was down are delivered in order, none skipped', async () => {
    await startWatching();
    await service!.stop();
    for (let n = 0; n < 500; n++) chain.mine(n % 25 === 0 ? transferTo(WATCHED) : {});
    await start();
    await expectOracle(1);
    const order = sink.requests
      .map(
        (request) =>
          JSON.parse(request.body) as {
            confirmed: boolean;
            streamId: string;
            block: { number: string };
          },
      )
      .filter((body) => body.streamId !== '' && !body.confirmed)
      .map((body) => Number(body.block.number));
    expect(order).toHaveLength(20);
  }, 60_000);

  test('an address counts from exactly the block its answer names, while blocks come', async () => {
    const streamId = await startWatching();
    const client = createClient({ apiKey: API_KEY, baseUrl: service!.url });
    let mining = true;
    const miner = (async () => {
      while (mining) {
        chain.mine({
          transactions: [
            scripted.transfer({ from: OTHER, to: TOKEN, value: 1n }),
            scripted.transfer({ from: OTHER, to: `0x${'e'.repeat(40)}`, value: 1n }),
          ],
        });
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
    })();
    await until('some blocks', async () => Number(chain.head.number) > 20);
    const from = (await client.streams.addAddress(streamId, TOKEN)).effectiveFrom![CHAIN]!;
    await until('more blocks', async () => Number(chain.head.number) > from + 20);
    const to = (await client.streams.removeAddress(streamId, TOKEN)).effectiveFrom![CHAIN]!;
    await until('more blocks', async () => Number(chain.head.number) > to + 10);
    mining = false;
    await miner;
    await caughtUp();
    const numbers = (await readDeliveries())
      .filter((each) => each.phase === 'unconfirmed')
      .map((each) => each.blockNumber)
      .toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: to - from }, (_, n) => from + n));
  });
});

describe('internal transactions', () => {
  const watchInternal = async (): Promise<string> => {
    const id = await startWatching({}, false);
    const client = createClient({ apiKey: API_KEY, baseUrl: service!.url });
    await client.streams.update(id, { includeInternalTxs: true });
    return id;
  };
  const withCall = () => ({
    transactions: [
      {
        from: OTHER as `0x${string}`,
        to: TOKEN as `0x${string}`,
        calls: [{ from: TOKEN, to: WATCHED, value: 9n } as const],
      },
    ],
  });
  const bodies = () =>
    sink.requests
      .map((request) => JSON.parse(request.body) as { streamId: string; txsInternal: unknown[] })
      .filter((body) => body.streamId !== '');

  test('are delivered where the node traces blocks', async () => {
    await watchInternal();
    const block = chain.mine(withCall());
    await caughtUp();
    await until('it is delivered', async () => bodies().length === 1);
    expect(bodies()[0]).toMatchObject({
      logs: [],
      txs: [],
      txsInternal: [
        {
          from: TOKEN,
          to: WATCHED,
          value: '9',
          gas: '21000',
          transactionHash: block.transactions[0]!.hash,
          internalTransactionIndex: '0',
        },
      ],
    });
  });

  test('a node without traces holds nobody up, and stream and chain say so', async () => {
    const id = await watchInternal();
    chain.trouble({
      kind: 'error',
      code: -32601,
      message: 'method not found',
      methods: ['debug_traceBlockByHash', 'trace_block'],
    });
    chain.mine(withCall());
    chain.mine(tokenTransfer());
    await caughtUp();
    await until('the log is delivered', async () => bodies().length === 1);
    expect(bodies()[0]).toMatchObject({ logs: [{ address: TOKEN }], txsInternal: [] });
    expect(await until('the chain says it', async () => (await health()).message)).toContain(
      'debug_traceBlockByHash or trace_block',
    );
    const client = createClient({ apiKey: API_KEY, baseUrl: service!.url });
    expect((await client.streams.get(id)).statusMessage).toMatch(
      /^No internal transactions on 0x7a69: no node there offers/,
    );
  });

  test('are waited for when the node only fails to answer', async () => {
    await watchInternal();
    chain.mine(withCall());
    await caughtUp();
    chain.trouble({ kind: 'error', methods: ['debug_traceBlockByHash'] });
    chain.mine(withCall());
    await until('it is an outage', async () => (await health()).state === 'down');
    expect((await health()).checkpoint).toBe(1);
    chain.heal();
    await caughtUp();
    await until('both are delivered', async () => bodies().length === 2);
  });
});

describe('reorgs', () => {
  test.each([1, 2, 12, 64])(
    'of depth %i leave exactly the deliveries of the new branch',
    async (depth) => {
      await startWatching();
      for (let n = 0; n < depth + 2; n++)
        chain.mine(n % 2 === 0 ? transferTo(WATCHED) : tokenTransfer());
      await caughtUp();
      chain.fork({
        depth,
        blocks: Array.from({ length: depth + 1 }, (_, n) =>
          n % 3 === 0 ? transferTo(WATCHED) : {},
        ),
      });
      chain.mineMany(CONFIRMATIONS);
      await expectOracle(1);
      expect(log.some((line) => line.includes(`removed=${depth}`))).toBe(true);
    },
  );

  test('of the same height are noticed without a longer branch', async () => {
    await startWatching();
    chain.mine(transferTo(WATCHED));
    await caughtUp();
    chain.fork({ depth: 1, blocks: [tokenTransfer()] });
    await expectOracle(1);
  });

  test('that flip back (A, B, A) announce nothing twice', async () => {
    await startWatching();
    chain.mine();
    const a = chain.mine(transferTo(WATCHED));
    await expectOracle(1);
    chain.fork({ depth: 1, blocks: [tokenTransfer()] });
    await expectOracle(1);
    chain.switchTo(a.hash);
    await caughtUp();
    chain.mineMany(CONFIRMATIONS);
    await expectOracle(1);
    const ids = sink.requests.map((request) => request.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('that happened while it was down are found at the start', async () => {
    await startWatching();
    for (let n = 0; n < 6; n++) chain.mine(transferTo(WATCHED));
    await expectOracle(1);
    await service!.stop();
    chain.fork({ depth: 4, blocks: [{}, transferTo(WATCHED), {}, tokenTransfer(), {}, {}, {}] });
    await start();
    await expectOracle(1);
  });

  test('a head that goes back and comes again changes nothing', async () => {
    await startWatching();
    for (let n = 0; n < 5; n++) chain.mine(transferTo(WATCHED));
    await expectOracle(1);
    const tip = chain.head.hash;
    chain.rollBack(3);
    await until('a few looks at the lower head', async () => (await health()).head === 2);
    expect((await health()).checkpoint).toBe(5);
    chain.switchTo(tip);
    chain.mineMany(CONFIRMATIONS);
    await expectOracle(1);
  });

  test('deeper than the window halt the chain and say so; nothing is skipped', async () => {
    await startWatching();
    chain.mineMany(300);
    await caughtUp();
    chain.fork({ depth: 299, blocks: Array.from({ length: 300 }, () => transferTo(WATCHED)) });
    const halted = await until('it halts', async () => {
      const now = await health();
      return now.state === 'down' && now;
    });
    expect(halted.message).toMatch(
      /reorg reaches below block \d+, the oldest this ledger remembers/,
    );
    expect(halted.checkpoint).toBe(300);
    expect(await readDeliveries()).toEqual([]);
  }, 60_000);

  test('deeper than the window start a local chain over at its head, and say so', async () => {
    await startWatching({ resetWhenReplaced: true });
    chain.mineMany(300);
    await caughtUp();
    chain.fork({ depth: 299, blocks: 300 });
    await caughtUp();
    const from = Number(chain.head.number) + 1;
    chain.mine(transferTo(WATCHED));
    chain.mineMany(CONFIRMATIONS);
    await expectOracle(from);
    expect(log.join('')).toContain('starting over at its head');
  }, 60_000);
});

describe('removal notices', () => {
  interface Body {
    confirmed: boolean;
    removed?: true;
    streamId: string;
    block: { hash: string };
    retries: number;
  }
  const received = (): (Body & { id: string })[] =>
    sink.requests
      .map((request) => ({ ...(JSON.parse(request.body) as Body), id: request.id }))
      .filter((body) => body.streamId !== '');

  /** What the receiver has been told of a block, in order. */
  const toldOf = (hash: string): string[] =>
    received()
      .filter((body) => body.block.hash === hash)
      .map((body) => (body.removed ? 'removed' : body.confirmed ? 'confirmed' : 'unconfirmed'));

  const watchRemovals = async (): Promise<void> => {
    const id = await startWatching();
    const client = createClient({ apiKey: API_KEY, baseUrl: service!.url });
    await client.streams.update(id, { notifyRemoved: true });
  };

  test('follow what was sent of a block that left the chain, and the block may come back', async () => {
    await watchRemovals();
    chain.mine();
    const a = chain.mine(transferTo(WATCHED));
    await until('it is told', async () => toldOf(a.hash).length === 1);
    chain.fork({ depth: 1, blocks: [tokenTransfer()] });
    await until('it is taken back', async () => toldOf(a.hash).length === 2);
    expect(toldOf(a.hash)).toEqual(['unconfirmed', 'removed']);
    chain.switchTo(a.hash);
    await until('it is told again', async () => toldOf(a.hash).length === 3);
    chain.mineMany(CONFIRMATIONS);
    await until('it is confirmed', async () => toldOf(a.hash).length === 4);
    expect(toldOf(a.hash)).toEqual(['unconfirmed', 'removed', 'unconfirmed', 'confirmed']);
    const ids = received().map((body) => body.id);
    expect(new Set(ids).size).toBe(ids.length);
    const [first, notice] = received().filter((body) => body.block.hash === a.hash);
    const { id: _, removed, ...taken } = notice!;
    const { id: __, ...told } = first!;
    expect(removed).toBe(true);
    expect(taken).toEqual(told);
  });

  test('take back confirmed deliveries too, where a reorg is deeper than the confirmations', async () => {
    await watchRemovals();
    const old = chain.mine(transferTo(WATCHED));
    chain.mineMany(CONFIRMATIONS + 2);
    await until('it is confirmed', async () => toldOf(old.hash).includes('confirmed'));
    chain.fork({ depth: CONFIRMATIONS + 3, blocks: CONFIRMATIONS + 4 });
    await until('it is taken back', async () => toldOf(old.hash).includes('removed'));
    expect(toldOf(old.hash).toSorted()).toEqual(['confirmed', 'removed', 'unconfirmed']);
  });
});

describe('the way out of a halt', () => {
  /** A chain that halted since another branch came from below its window. */
  const halted = async (): Promise<void> => {
    await startWatching();
    chain.mineMany(300);
    await caughtUp();
    chain.fork({ depth: 299, blocks: Array.from({ length: 310 }, () => transferTo(WATCHED)) });
    await until('it halts', async () => (await health()).state === 'down');
  };

  test('is a block to go on from; what lies between is a hole that a backfill can fill', async () => {
    await halted();
    expect(await sluice.resumeChain(CHAIN, { from: 305 })).toEqual({ chainId: CHAIN, from: 305 });
    await caughtUp();
    chain.mineMany(CONFIRMATIONS);
    await expectOracle(305);

    const client = createClient({ apiKey: API_KEY, baseUrl: service!.url });
    const [stream] = (await client.streams.list()).result;
    const [coverage] = await sluice.getCoverage(stream!.id);
    const [hole] = coverage!.holes;
    expect(coverage!.holes).toEqual([{ from: hole!.from, to: 304, reason: 'resumed' }]);
    expect(hole!.from).toBeLessThanOrEqual(300 - 255);

    const { jobId } = await client.streams.createHistoricalJob({
      streamId: stream!.id,
      chainId: CHAIN,
      blockFrom: hole!.from,
      blockTo: 304,
    });
    await until('the backfill is done', async () => (await sluice.getJob(jobId!)).state === 'done');
    expect((await sluice.getCoverage(stream!.id))[0]!.holes).toEqual([]);
    const delivered = new Set(
      (await readDeliveries())
        .filter((each) => each.phase === 'confirmed' && each.state !== 'cancelled')
        .map((each) => each.blockNumber),
    );
    for (let number = hole!.from; number <= 311; number++) expect(delivered.has(number)).toBe(true);
  }, 60_000);

  test('is the head where no block is named, and a block the node lacks is refused', async () => {
    await halted();
    await expect(sluice.resumeChain(CHAIN, { from: 9_999 })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('whose head is 311') as string,
    });
    expect((await health()).state).toBe('down');
    expect(await sluice.resumeChain(CHAIN)).toEqual({ chainId: CHAIN, from: 311 });
    await caughtUp();
    await until('it is live', async () => (await health()).state === 'live');
  }, 60_000);
});

test('while the disk is full no block is committed, and all are afterwards', async () => {
  let full: string | undefined;
  const store = await openSqliteStore(folder);
  const source = createEvmSource({
    chain: CHAIN,
    urls: [chain.url],
    pollMs: 20,
    log: createLog(() => {}),
  });
  const states: string[] = [];
  const ingest = createIngest(
    { chain: CHAIN, epoch: await takeChain(store, CHAIN) },
    {
      source,
      store,
      matcher: {
        refresh: async () => (await store.readRules(Number.MAX_SAFE_INTEGER)).revision,
        needs: () => ({ logs: false, transactions: false, traces: false }),
        match: () => [],
      },
      log: createLog(() => {}),
      refuseBlocks: () => full,
      listener: {
        onDeliveries: () => {},
        onBlock: () => {},
        onReorg: () => {},
        onReport: ({ state, message }) => states.push(`${state} ${message}`),
        onLostLease: () => {},
      },
    },
  );
  const checkpoint = async (): Promise<number | undefined> =>
    (await store.readCheckpoint(CHAIN))?.number;
  const reaches = async (number: number): Promise<void> => {
    while ((await checkpoint()) !== number) await new Promise((done) => setTimeout(done, 20));
  };
  ingest.start();
  await reaches(0);
  full = '3 MiB left';
  chain.mineMany(3);
  while (!states.includes('down 3 MiB left')) await new Promise((done) => setTimeout(done, 20));
  expect(await checkpoint()).toBe(0);
  full = undefined;
  await reaches(3);
  await ingest.stop();
  await source.stop();
  await store.close();
});

describe('a node that lags or lies', () => {
  const lies: [string, Trouble, boolean][] = [
    ['withholds the block by hash', { kind: 'withhold' }, true],
    ['has no receipts yet', { kind: 'nullReceipts' }, true],
    ['loses a log', { kind: 'missingLog' }, true],
    ['gives logs of another block', { kind: 'foreignLogs' }, true],
    ['names a wrong parent', { kind: 'wrongParentHash' }, true],
    ['loses a log of a log-only stream', { kind: 'missingLog' }, false],
    ['answers with no logs though the bloom has some', { kind: 'emptyLogs' }, false],
    ['lags behind its own head', { kind: 'lag', blocks: 1 }, false],
    ['limits the rate', { kind: 'rateLimit', retryAfterSeconds: 1 }, true],
    ['answers errors', { kind: 'error' }, true],
    ['answers half a JSON', { kind: 'malformedJson' }, true],
    ['sits behind a broken proxy', { kind: 'httpError', status: 502 }, true],
  ];
  test.each(lies)(
    '%s: nothing is delivered from it, and all is after',
    async (_, trouble, native) => {
      await startWatching({}, native);
      chain.trouble(trouble);
      chain.mine(tokenTransfer());
      await until('it is called an outage', async () => (await health()).state === 'down');
      expect(await readDeliveries()).toEqual([]);
      expect((await health()).checkpoint).toBe(0);
      expect((await health()).message).not.toBe('');
      chain.heal();
      chain.mineMany(CONFIRMATIONS);
      await expectOracle(1);
      await until('it is live again', async () => (await health()).state === 'live');
    },
  );

  test('of another chain is refused by name', async () => {
    chain.trouble({ kind: 'wrongChainId', chainId: 5 });
    await start();
    const down = await until('it is down', async () => {
      const now = await health();
      return now.state === 'down' && now;
    });
    expect(down.message).toMatch(/serves chain 0x5, not 0x7a69: correct --chain/);
    chain.heal();
    await until('it recovers by itself', async () => (await health()).state === 'live');
  });

  test('that gives receipts only one by one is read so', async () => {
    chain.trouble({
      kind: 'error',
      code: -32601,
      message: 'the method eth_getBlockReceipts does not exist',
      methods: ['eth_getBlockReceipts'],
    });
    await startWatching();
    chain.mine(tokenTransfer());
    chain.mineMany(CONFIRMATIONS);
    await expectOracle(1);
    expect(chain.calls['eth_getTransactionReceipt']).toBeGreaterThan(0);
  });

  test('is left for the next provider', async () => {
    const same = createScriptedChain();
    const bad = await startScriptedChain({ chain: same });
    const good = await startScriptedChain({ chain: same });
    bad.trouble({ kind: 'httpError', status: 503 });
    await start({ urls: [bad.url, good.url] });
    same.mineMany(3);
    await until('it follows the good one', async () => (await health()).checkpoint === 3);
    await service!.stop();
    service = undefined;
    await bad.stop();
    await good.stop();
  });
});

describe('several nodes', () => {
  const more: RunningScriptedChain[] = [];
  afterEach(async () => {
    await Promise.all(more.splice(0).map((each) => each.stop()));
  });
  /** Another node, of the same chain or of one that was mined apart. */
  const startNode = async (of: ScriptedChain = chain): Promise<RunningScriptedChain> => {
    const node = await startScriptedChain({ chain: of });
    more.push(node);
    return node;
  };
  const providerOf = async (node: RunningScriptedChain): Promise<ProviderHealth> =>
    (await health()).providers.find(({ name }) => name === new URL(node.url).host)!;
  /** Every state the chain's health went through, but for starting and being live. */
  const outages = (): string[] => log.filter((line) => line.includes('chain down'));

  const lies: [string, Trouble][] = [
    ['withholds blocks', { kind: 'withhold' }],
    ['has no receipts', { kind: 'nullReceipts' }],
    ['cuts receipts off', { kind: 'truncatedReceipts' }],
    ['loses the last log', { kind: 'missingLog' }],
    ['loses the first log', { kind: 'missingFirstLog' }],
    ['gives logs of another block', { kind: 'foreignLogs' }],
    ['names a wrong parent', { kind: 'wrongParentHash' }],
    ['gives another block than asked for', { kind: 'wrongHash' }],
    ['answers errors', { kind: 'error' }],
    ['answers half a JSON', { kind: 'malformedJson' }],
    ['sits behind a broken proxy', { kind: 'httpError', status: 502 }],
    ['limits the rate', { kind: 'rateLimit', retryAfterSeconds: 60 }],
    [
      'lags by three blocks on every second request',
      { kind: 'lag', blocks: 3, methods: ['eth_getBlockByHash', 'eth_getBlockByNumber'], every: 2 },
    ],
  ];
  test.each(lies)('the first one %s: the second one is read instead', async (_, trouble) => {
    const good = await startNode();
    await startWatching({ urls: [chain.url, good.url] });
    chain.trouble(trouble);
    for (let n = 0; n < 8; n++) chain.mine(n % 2 === 0 ? tokenTransfer() : transferTo(WATCHED));
    await expectOracle(1);
    expect(outages()).toEqual([]);
  });

  test('fault 18: a balancer turns between a node at the head and one three blocks behind', async () => {
    await startWatching();
    chain.trouble({
      kind: 'lag',
      blocks: 3,
      every: 2,
      methods: [
        'eth_getBlockByHash',
        'eth_getBlockByNumber',
        'eth_getBlockReceipts',
        'eth_getLogs',
      ],
    });
    for (let n = 0; n < 12; n++) chain.mine(n % 2 === 0 ? tokenTransfer() : transferTo(WATCHED));
    await expectOracle(1);
  });

  test('fault 19: of three, the one that has other blocks is outvoted', async () => {
    const lying = createScriptedChain();
    const liar = await startNode(lying);
    const honest = await startNode();
    await startWatching({ urls: [liar.url, chain.url, honest.url] });
    for (let n = 0; n < 6; n++) {
      // The liar is first with every block, and its blocks hold together.
      lying.mine({ transactions: [...transferTo(WATCHED).transactions], timestamp: 1n });
      chain.mine(n % 2 === 0 ? tokenTransfer() : {});
      await caughtUp();
    }
    await expectOracle(1);
    const lies = new Set<string>(lying.canonical().map(({ hash }) => hash));
    const details = await Promise.all(
      (await readDeliveries()).map((each) => sluice.getDelivery(each.id)),
    );
    expect(details.filter(({ blockHash }) => lies.has(blockHash))).toEqual([]);
    expect((await providerOf(liar)).disagreements).toBeGreaterThan(0);
    expect((await providerOf(chain)).disagreements).toBe(0);
    expect((await providerOf(honest)).disagreements).toBe(0);
  });

  test('fault 19: two that disagree are waited for, and said by name; nothing is delivered', async () => {
    const lying = createScriptedChain();
    const liar = await startNode(lying);
    await startWatching({ urls: [chain.url, liar.url] });
    lying.mine({ ...transferTo(WATCHED), timestamp: 1n });
    chain.mine(tokenTransfer());
    const held = await until('it is held', async () => {
      const now = await health();
      return now.state === 'down' && now;
    });
    expect(held.message).toMatch(
      /providers disagree about block 1 \(.* has 0x.*, .* has 0x.*\): nothing is taken/,
    );
    expect(held.checkpoint).toBe(0);
    expect(held.providers.map(({ disagreements }) => disagreements)).toEqual([1, 1]);
    expect(await readDeliveries()).toEqual([]);
    await liar.stop();
    more.splice(more.indexOf(liar), 1);
    chain.mineMany(CONFIRMATIONS);
    await expectOracle(1);
    await until('it is seen to be gone', async () => (await providerOf(liar)).state === 'down');
  });

  test('fault 21: a gap of 500 blocks is read in order, with one node down and one behind', async () => {
    const down = await startNode();
    const behind = await startNode();
    const urls = [down.url, behind.url, chain.url];
    await startWatching({ urls });
    await service!.stop();
    for (let n = 0; n < 500; n++) chain.mine(n % 25 === 0 ? transferTo(WATCHED) : {});
    down.trouble({ kind: 'httpError', status: 503 });
    behind.trouble({
      kind: 'lag',
      blocks: 120,
      methods: ['eth_getBlockByHash', 'eth_getBlockByNumber', 'eth_getBlockReceipts'],
    });
    await start({ urls });
    const seen: ChainHealth[] = [];
    await until(
      'it has caught up',
      async () => {
        seen.push(await health());
        return seen.at(-1)!.blocks[0]?.hash === chain.head.hash;
      },
      60_000,
    );
    await expectOracle(1);
    const order = sink.requests
      .map(({ body }) => JSON.parse(body) as { confirmed: boolean; block: { number: string } })
      .filter((body) => body.block.number !== '' && !body.confirmed);
    expect(order).toHaveLength(20);
    const heights = seen.map(({ checkpoint }) => checkpoint ?? 0);
    expect(heights).toEqual(heights.toSorted((a, b) => a - b));
    const progress = seen.flatMap(({ progress }) => progress ?? []);
    expect(progress.some(({ perSecond }) => perSecond > 0)).toBe(true);
    for (const each of progress) expect(each.to).toBeGreaterThan(each.from);
    expect(log.join('')).toMatch(/info catching up .*from=0/);
    expect(log.join('')).toMatch(/info caught up .*blocks=500 seconds=/);
  }, 120_000);

  test('one of another chain id, or another block 0, is left out by name; the others go on', async () => {
    const otherId = await startNode(createScriptedChain({ chainId: 5 }));
    const otherGenesis = await startNode(createScriptedChain({ genesisTimestamp: 1n }));
    await startWatching();
    await service!.stop();
    await start({ urls: [otherId.url, otherGenesis.url, chain.url] });
    chain.mine(transferTo(WATCHED));
    chain.mineMany(CONFIRMATIONS);
    await expectOracle(1);
    await until('both are left out', async () => {
      const states = (await health()).providers.map(({ state }) => state);
      return states.join() === 'wrong-chain,wrong-chain,good';
    });
    expect((await providerOf(otherId)).message).toMatch(/serves chain 0x5, not 0x7a69/);
    expect((await providerOf(otherGenesis)).message).toMatch(/its block 0 is 0x.*another chain/);
    expect(outages()).toEqual([]);
  });

  test('a chain seen for the first time begins on none of two that differ in block 0', async () => {
    const other = await startNode(createScriptedChain({ genesisTimestamp: 1n }));
    await start({ urls: [chain.url, other.url] });
    const down = await until('it is held', async () => {
      const now = await health();
      return now.state === 'down' && now;
    });
    expect(down.message).toMatch(/different chains under 0x7a69; remove the wrong --chain/);
    expect(down.checkpoint).toBe(null);
  });

  test('one that was away is used again; keys in its URL are shown nowhere', async () => {
    const other = await startNode();
    other.trouble({ kind: 'httpError', status: 503 });
    await startWatching({ urls: [chain.url, `${other.url}/v2/SECRETKEY?token=SECRETKEY`] });
    await until('it is down', async () => (await providerOf(other)).state === 'down');
    expect(JSON.stringify(await health())).not.toContain('SECRETKEY');
    expect(log.join('')).not.toContain('SECRETKEY');
    other.heal();
    await until('it is back', async () => (await providerOf(other)).state === 'good');
    await chain.stop();
    chain.mine(transferTo(WATCHED));
    chain.mineMany(CONFIRMATIONS);
    await expectOracle(1);
  });
});

describe('finality', () => {
  test('with confirmations=finalized, matches are confirmed as far as the chain is final', async () => {
    await startWatching({ confirmations: 'finalized', pollMs: 20 });
    chain.mine(transferTo(WATCHED));
    chain.mineMany(20);
    await caughtUp();
    chain.mine(transferTo(WATCHED));
    await caughtUp();
    const phases = async (): Promise<string[]> =>
      (await readDeliveries())
        .map(({ blockNumber, phase }) => `${blockNumber} ${phase}`)
        .toSorted();
    expect(await phases()).toEqual(['1 unconfirmed', '22 unconfirmed']);
    expect((await health()).confirmations).toBe('finalized');
    // The scripted chain calls final what is 64 blocks deep.
    chain.mineMany(43);
    await until('its block 1 is final', async () => (await health()).confirmedUpTo === 1);
    expect(await phases()).toHaveLength(2);
    chain.mine();
    await until('it is confirmed with the next block', async () => (await phases()).length === 3);
    expect(await phases()).toEqual(['1 confirmed', '1 unconfirmed', '22 unconfirmed']);
    expect((await health()).confirmedUpTo).toBeLessThan(22);
  });

  test('a node that names no final block confirms nothing, and the chain says so', async () => {
    chain.trouble({ kind: 'unknownTags' });
    await startWatching({ confirmations: 'finalized' });
    chain.mine(transferTo(WATCHED));
    chain.mineMany(100);
    await caughtUp();
    expect((await readDeliveries()).map(({ phase }) => phase)).toEqual(['unconfirmed']);
    expect(await until('it says so', async () => (await health()).message)).toMatch(
      /names a finalized block, so nothing is confirmed: give --chain …,confirmations=N/,
    );
  });
});
