/**
 * Tests ingestion with a complete service on a scripted chain. `lyingNodes.test.ts` tests more
 * faults of nodes.
 */
import { createClient } from '@sluice/kit';
import type { ChainHealth, ProviderHealth } from '@sluice/kit/contract';
import {
  type RunningScriptedChain,
  type ScriptedChain,
  createScriptedChain,
  scripted,
  startScriptedChain,
} from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NO_MATCHES } from './noMatches.test-only.ts';
import { createLog } from '../base/log.ts';
import { openSqliteStore } from '../store/engine/sqlite/sqlite.ts';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from '../store/streams/contract.ts';
import type { Store } from '../store/store.ts';
import { takeChain } from '../../test/store/takeChain.ts';
import { createEvmSource } from '../families/evm/ingest/evm.ts';
import { createIngest } from './ingest.ts';
import {
  API_KEY,
  CHAIN,
  CONFIRMATIONS,
  type IngestWorld,
  OTHER,
  TOKEN,
  WATCHED,
  createIngestWorld,
  tokenTransfer,
  transferTo,
} from './ingestWorld.test-only.ts';
import { plain } from '../../test/store/plain.ts';

let world: IngestWorld;

beforeEach(async () => {
  world = await createIngestWorld();
});
afterEach(() => world.stop());

describe('following a chain', () => {
  test.each(['http', 'ws'] as const)(
    'delivers each matching block, unconfirmed and confirmed, over %s',
    async (kind) => {
      await world.startWatching({
        urls: [kind === 'ws' ? world.chain.wsUrl : world.chain.url],
        ...(kind === 'ws' && { pollMs: 5_000 }),
      });
      world.chain.mine(transferTo(WATCHED));
      world.chain.mine(tokenTransfer());
      world.chain.mine(transferTo(OTHER));
      world.chain.mineMany(4);
      await world.expectOracle(1);
      const bodies = world.sink.requests
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

  test('reports the age of its head', async () => {
    await world.startWatching({ pollMs: 20 });
    const age = async () => (await world.health()).headAgeMs;
    await expect.poll(age).toBeGreaterThan(500);
    world.chain.mine(transferTo(OTHER));
    await expect.poll(age, { interval: 20 }).toBeLessThan(300);
    await expect.poll(age).toBeGreaterThan(500);
  });

  test('polls while sockets are silent or broken, and receives pushed heads again later', async () => {
    await world.startWatching({ urls: [world.chain.wsUrl], pollMs: 50 });
    world.chain.trouble({ kind: 'silentHeads' });
    world.chain.mine(transferTo(WATCHED));
    await world.expectOracle(1);
    world.chain.trouble({ kind: 'dropWebSockets', times: 3 });
    world.chain.mine(transferTo(WATCHED));
    await world.expectOracle(1);
    world.chain.heal();
    world.chain.mineMany(5);
    await world.expectOracle(1);
  });

  test('reads logs but no receipts for a stream of logs alone', async () => {
    await world.startWatching({}, false);
    world.chain.mine(tokenTransfer());
    await world.caughtUp();
    expect(world.chain.calls['eth_getLogs']).toBe(1);
    expect(world.chain.calls['eth_getBlockReceipts'] ?? 0).toBe(0);
    const [delivery] = await world.readDeliveries();
    expect(delivery).toMatchObject({ blockNumber: 1, records: 1 });
  });

  test('reads only headers of a chain without streams', async () => {
    await world.start();
    world.chain.mineMany(5);
    await world.caughtUp();
    expect(world.chain.calls['eth_getLogs'] ?? 0).toBe(0);
    expect(world.chain.calls['eth_getBlockReceipts'] ?? 0).toBe(0);
  });

  test('delivers 300 blocks mined while it was down, in order, and skips none', async () => {
    await world.startWatching();
    await world.service.stop();
    for (let n = 0; n < 300; n++) world.chain.mine(n % 25 === 0 ? transferTo(WATCHED) : {});
    await world.start();
    await world.expectOracle(1);
    const order = world.sink.requests
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
    expect(order).toHaveLength(12);
  }, 180_000);

  test('matches an address from exactly the block in the response, while blocks arrive', async () => {
    const streamId = await world.startWatching();
    const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
    let mining = true;
    const miner = (async () => {
      while (mining) {
        world.chain.mine({
          transactions: [
            scripted.transfer({ from: OTHER, to: TOKEN, value: 1n }),
            scripted.transfer({ from: OTHER, to: `0x${'e'.repeat(40)}`, value: 1n }),
          ],
        });
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
    })();
    await world.until('some blocks', async () => Number(world.chain.head.number) > 20);
    const from = (await client.streams.addAddress(streamId, TOKEN)).effectiveFrom![CHAIN]!;
    await world.until('more blocks', async () => Number(world.chain.head.number) > from + 20);
    const to = (await client.streams.removeAddress(streamId, TOKEN)).effectiveFrom![CHAIN]!;
    await world.until('more blocks', async () => Number(world.chain.head.number) > to + 10);
    mining = false;
    await miner;
    await world.caughtUp();
    const numbers = (await world.readDeliveries())
      .filter((each) => each.phase === 'unconfirmed')
      .map((each) => each.blockNumber)
      .toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: to - from }, (_, n) => from + n));
  });
});

describe('internal transactions', () => {
  const watchInternal = async (): Promise<string> => {
    const id = await world.startWatching({}, false);
    const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
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
    world.sink.requests
      .map((request) => JSON.parse(request.body) as { streamId: string; txsInternal: unknown[] })
      .filter((body) => body.streamId !== '');

  test('are delivered if the node traces blocks', async () => {
    await watchInternal();
    const block = world.chain.mine(withCall());
    await world.caughtUp();
    await world.until('it is delivered', async () => bodies().length === 1);
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

  test('a node without traces delays nothing, and stream and chain report it', async () => {
    const id = await watchInternal();
    world.chain.trouble({
      kind: 'error',
      code: -32601,
      message: 'method not found',
      methods: ['debug_traceBlockByHash', 'trace_block'],
    });
    world.chain.mine(withCall());
    world.chain.mine(tokenTransfer());
    await world.caughtUp();
    await world.until('the log is delivered', async () => bodies().length === 1);
    expect(bodies()[0]).toMatchObject({ logs: [{ address: TOKEN }], txsInternal: [] });
    expect(
      await world.until('the chain reports it', async () => (await world.health()).message),
    ).toContain('debug_traceBlockByHash or trace_block');
    const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
    expect((await client.streams.get(id)).statusMessage).toMatch(
      /^No internal transactions on 0x7a69: add a node that supports/,
    );
  });

  test('are awaited if the node fails for a while', async () => {
    await watchInternal();
    world.chain.mine(withCall());
    await world.caughtUp();
    world.chain.trouble({ kind: 'error', methods: ['debug_traceBlockByHash'] });
    world.chain.mine(withCall());
    await world.until(
      'the outage is reported',
      async () => (await world.health()).state === 'down',
    );
    expect((await world.health()).checkpoint).toBe(1);
    world.chain.heal();
    await world.caughtUp();
    await world.until('both are delivered', async () => bodies().length === 2);
  });
});

describe('reorgs', () => {
  // The window has 256 blocks, so the last one is the deepest reorg that can be followed.
  test.each([1, 2, 12, 64, 255])(
    'of depth %i leave exactly the deliveries of the new branch',
    async (depth) => {
      await world.startWatching();
      for (let n = 0; n < depth + 2; n++)
        world.chain.mine(n % 2 === 0 ? transferTo(WATCHED) : tokenTransfer());
      await world.caughtUp();
      world.chain.fork({
        depth,
        blocks: Array.from({ length: depth + 1 }, (_, n) =>
          n % 3 === 0 ? transferTo(WATCHED) : {},
        ),
      });
      world.chain.mineMany(CONFIRMATIONS);
      await world.expectOracle(1);
      expect(world.log.some((line) => line.includes(`removed=${depth}`))).toBe(true);
    },
    180_000,
  );

  test('to a branch of the same height are detected', async () => {
    await world.startWatching();
    world.chain.mine(transferTo(WATCHED));
    await world.caughtUp();
    world.chain.fork({ depth: 1, blocks: [tokenTransfer()] });
    await world.expectOracle(1);
  });

  test('that flip back (A, B, A) deliver nothing twice', async () => {
    await world.startWatching();
    world.chain.mine();
    const a = world.chain.mine(transferTo(WATCHED));
    await world.expectOracle(1);
    world.chain.fork({ depth: 1, blocks: [tokenTransfer()] });
    await world.expectOracle(1);
    world.chain.switchTo(a.hash);
    await world.caughtUp();
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
    const ids = world.sink.requests.map((request) => request.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each([4, 255])(
    'of depth %i that happen while it is down are detected at startup',
    async (depth) => {
      await world.startWatching();
      for (let n = 0; n < depth + 2; n++) world.chain.mine(n % 2 === 0 ? transferTo(WATCHED) : {});
      await world.expectOracle(1);
      await world.service.stop();
      world.chain.fork({
        depth,
        blocks: Array.from({ length: depth + 3 }, (_, n) =>
          n % 3 === 1 ? transferTo(WATCHED) : {},
        ),
      });
      await world.start();
      await world.expectOracle(1);
    },
    180_000,
  );

  test('a head that goes back and returns changes nothing', async () => {
    await world.startWatching();
    for (let n = 0; n < 5; n++) world.chain.mine(transferTo(WATCHED));
    await world.expectOracle(1);
    const tip = world.chain.head.hash;
    world.chain.rollBack(3);
    await world.until('the lower head is reported', async () => (await world.health()).head === 2);
    expect((await world.health()).checkpoint).toBe(5);
    world.chain.switchTo(tip);
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
  });
});

describe('removal webhooks', () => {
  interface Body {
    confirmed: boolean;
    removed?: true;
    streamId: string;
    block: { hash: string };
    retries: number;
  }
  const received = (): (Body & { id: string })[] =>
    world.sink.requests
      .map((request) => ({ ...(JSON.parse(request.body) as Body), id: request.id }))
      .filter((body) => body.streamId !== '');

  /** Returns the phase of each webhook that the receiver got for this block, in order. */
  const phasesOf = (hash: string): string[] =>
    received()
      .filter((body) => body.block.hash === hash)
      .map((body) => (body.removed ? 'removed' : body.confirmed ? 'confirmed' : 'unconfirmed'));

  const watchRemovals = async (): Promise<void> => {
    const id = await world.startWatching();
    const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
    await client.streams.update(id, { notifyRemoved: true });
  };

  test('follow deliveries of a block that left the chain, and the block may come back', async () => {
    await watchRemovals();
    world.chain.mine();
    const a = world.chain.mine(transferTo(WATCHED));
    await world.until('the block is delivered', async () => phasesOf(a.hash).length === 1);
    world.chain.fork({ depth: 1, blocks: [tokenTransfer()] });
    await world.until('the removal is delivered', async () => phasesOf(a.hash).length === 2);
    expect(phasesOf(a.hash)).toEqual(['unconfirmed', 'removed']);
    world.chain.switchTo(a.hash);
    await world.until('the block is delivered again', async () => phasesOf(a.hash).length === 3);
    world.chain.mineMany(CONFIRMATIONS);
    await world.until('it is confirmed', async () => phasesOf(a.hash).length === 4);
    expect(phasesOf(a.hash)).toEqual(['unconfirmed', 'removed', 'unconfirmed', 'confirmed']);
    const ids = received().map((body) => body.id);
    expect(new Set(ids).size).toBe(ids.length);
    const [first, removal] = received().filter((body) => body.block.hash === a.hash);
    const { id: _, removed, ...taken } = removal!;
    const { id: __, ...original } = first!;
    expect(removed).toBe(true);
    expect(taken).toEqual(original);
  });

  test('also follow confirmed deliveries if a reorg is deeper than the confirmations', async () => {
    await watchRemovals();
    const old = world.chain.mine(transferTo(WATCHED));
    world.chain.mineMany(CONFIRMATIONS + 2);
    await world.until('it is confirmed', async () => phasesOf(old.hash).includes('confirmed'));
    world.chain.fork({ depth: CONFIRMATIONS + 3, blocks: CONFIRMATIONS + 4 });
    await world.until('the removal is delivered', async () =>
      phasesOf(old.hash).includes('removed'),
    );
    expect(phasesOf(old.hash).toSorted()).toEqual(['confirmed', 'removed', 'unconfirmed']);
  });
});

test('a block takes at most two commits, however often rules change', async () => {
  const store = await openSqliteStore(world.folder);
  const source = createEvmSource({
    chain: CHAIN,
    urls: [world.chain.url],
    pollMs: 20,
    log: createLog(() => {}),
  });
  const { id } = await store.createStream(
    plain({
      family: 'evm',
      tag: '',
      description: '',
      webhookUrl: world.sink.url,
      chainIds: [CHAIN],
      options: DEFAULT_OPTIONS,
      ...DEFAULT_DELIVERY,
    }),
  );
  const commits = new Map<number, number>();
  const moving: Store = {
    ...store,
    async commitBlock(commit) {
      const { number } = commit.block;
      commits.set(number, (commits.get(number) ?? 0) + 1);
      await store.setStreamStatus(id, 'active', '');
      return store.commitBlock(commit);
    },
  };
  const ingest = createIngest(
    { chain: CHAIN, flag: '--chain', epoch: await takeChain(store, CHAIN) },
    {
      source,
      store: moving,
      matcher: {
        refresh: async () => (await store.readRules(Number.MAX_SAFE_INTEGER, 'evm')).revision,
        needs: () => ({ logs: false, transactions: false, traces: false }),
        ...NO_MATCHES,
      },
      log: createLog(() => {}),
      listener: {
        onBlock: () => {},
        onReorg: () => {},
        onReport: () => {},
        onLostLease: () => {},
      },
    },
  );
  ingest.start();
  await world.until('a checkpoint', async () => (await store.readCheckpoint(CHAIN)) !== undefined);
  world.chain.mineMany(5);
  const reached = async () => (await store.readCheckpoint(CHAIN))?.number === 5;
  await world.until('five blocks', reached);
  await ingest.stop();
  await source.stop();
  expect([...commits]).toEqual([1, 2, 3, 4, 5].map((number) => [number, 2]));
  await store.close();
});

test('no block is committed while the disk is full, and all are afterwards', async () => {
  let full: string | undefined;
  const store = await openSqliteStore(world.folder);
  const source = createEvmSource({
    chain: CHAIN,
    urls: [world.chain.url],
    pollMs: 20,
    log: createLog(() => {}),
  });
  const states: string[] = [];
  const ingest = createIngest(
    { chain: CHAIN, flag: '--chain', epoch: await takeChain(store, CHAIN) },
    {
      source,
      store,
      matcher: {
        refresh: async () => (await store.readRules(Number.MAX_SAFE_INTEGER, 'evm')).revision,
        needs: () => ({ logs: false, transactions: false, traces: false }),
        ...NO_MATCHES,
      },
      log: createLog(() => {}),
      refuseBlocks: () => full,
      listener: {
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
  world.chain.mineMany(3);
  while (!states.includes('down 3 MiB left')) await new Promise((done) => setTimeout(done, 20));
  expect(await checkpoint()).toBe(0);
  full = undefined;
  await reaches(3);
  await ingest.stop();
  await source.stop();
  await store.close();
});

describe('a node', () => {
  test('of another chain is rejected with its chain id', async () => {
    world.chain.trouble({ kind: 'wrongChainId', chainId: 5 });
    await world.start();
    const down = await world.until('it is down', async () => {
      const now = await world.health();
      return now.state === 'down' && now;
    });
    expect(down.message).toMatch(/serves chain 0x5, not 0x7a69. Correct --chain/);
    world.chain.heal();
    await world.until('it recovers by itself', async () => (await world.health()).state === 'live');
  });

  test('that returns receipts only one by one is read that way', async () => {
    world.chain.trouble({
      kind: 'error',
      code: -32601,
      message: 'the method eth_getBlockReceipts does not exist',
      methods: ['eth_getBlockReceipts'],
    });
    await world.startWatching();
    world.chain.mine(tokenTransfer());
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
    expect(world.chain.calls['eth_getTransactionReceipt']).toBeGreaterThan(0);
  });

  test('that fails is replaced by the next provider', async () => {
    const same = createScriptedChain();
    const bad = await startScriptedChain({ chain: same });
    const good = await startScriptedChain({ chain: same });
    bad.trouble({ kind: 'httpError', status: 503 });
    await world.start({ urls: [bad.url, good.url] });
    same.mineMany(3);
    await world.until(
      'the good node is followed',
      async () => (await world.health()).checkpoint === 3,
    );
    await world.service.stop();
    await bad.stop();
    await good.stop();
  });
});

describe('several nodes', () => {
  const more: RunningScriptedChain[] = [];
  afterEach(async () => {
    await Promise.all(more.splice(0).map((each) => each.stop()));
  });
  /** Starts another node, of the same chain or of a separate one. */
  const startNode = async (of: ScriptedChain = world.chain): Promise<RunningScriptedChain> => {
    const node = await startScriptedChain({ chain: of });
    more.push(node);
    return node;
  };
  const providerOf = async (node: RunningScriptedChain): Promise<ProviderHealth> =>
    (await world.health()).providers.find(({ name }) => name === new URL(node.url).host)!;
  const outages = (): string[] => world.log.filter((line) => line.includes('chain down'));

  // On a development chain, a lower head may also mean that the chain went back.
  test.each([
    'fault 18: a balancer alternates between a node at the head and one three blocks behind',
    'fault 18: the same with the nodes of a development chain, which is not rolled back',
  ])('%s', async (title) => {
    await world.startWatching({ resetWhenReplaced: title.includes('development') });
    world.chain.trouble({
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
    for (let n = 0; n < 12; n++)
      world.chain.mine(n % 2 === 0 ? tokenTransfer() : transferTo(WATCHED));
    await world.expectOracle(1);
    expect(world.log.filter((line) => line.includes('warn reorg'))).toEqual([]);
  });

  test('fault 19: one of three nodes is outvoted if its blocks differ', async () => {
    const lying = createScriptedChain();
    const liar = await startNode(lying);
    const honest = await startNode();
    await world.startWatching({ urls: [liar.url, world.chain.url, honest.url] });
    for (let n = 0; n < 6; n++) {
      // The lying node has each block first, and its blocks are consistent.
      lying.mine({ transactions: [...transferTo(WATCHED).transactions], timestamp: 1n });
      world.chain.mine(n % 2 === 0 ? tokenTransfer() : {});
      await world.caughtUp();
    }
    await world.expectOracle(1);
    const lies = new Set<string>(lying.canonical().map(({ hash }) => hash));
    const details = await Promise.all(
      (await world.readDeliveries()).map((each) => world.sluice.getDelivery(each.id)),
    );
    expect(details.filter(({ blockHash }) => lies.has(blockHash))).toEqual([]);
    expect((await providerOf(liar)).disagreements).toBeGreaterThan(0);
    expect((await providerOf(world.chain)).disagreements).toBe(0);
    expect((await providerOf(honest)).disagreements).toBe(0);
    // The scores also identify the lying node.
    const { score, isPrimary } = await providerOf(liar);
    expect(score.doubt).toBeGreaterThan(0);
    expect(score.total).toBeGreaterThanOrEqual(score.doubt);
    expect((await providerOf(honest)).score.doubt).toBe(0);
    expect(isPrimary).toBe(false);
  });

  test('fault 19: two nodes that disagree are named, and nothing is delivered', async () => {
    const lying = createScriptedChain();
    const liar = await startNode(lying);
    await world.startWatching({ urls: [world.chain.url, liar.url] });
    lying.mine({ ...transferTo(WATCHED), timestamp: 1n });
    world.chain.mine(tokenTransfer());
    const held = await world.until('the chain is down', async () => {
      const now = await world.health();
      return now.state === 'down' && now;
    });
    expect(held.message).toMatch(
      /providers disagree about block 1 \(.* has 0x.*, .* has 0x.*\): no block is accepted/,
    );
    expect(held.checkpoint).toBe(0);
    expect(held.agreement).toEqual({ blockNumber: 1, state: 'disagreed' });
    expect(held.providers.map(({ disagreements }) => disagreements)).toEqual([1, 1]);
    expect(await world.readDeliveries()).toEqual([]);
    await liar.stop();
    more.splice(more.indexOf(liar), 1);
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
    await world.until(
      'the stopped node is reported as down',
      async () => (await providerOf(liar)).state === 'down',
    );
  });

  test('fault 21: a gap of 300 blocks is read in order, with one node down and one behind', async () => {
    const down = await startNode();
    const behind = await startNode();
    const urls = [down.url, behind.url, world.chain.url];
    await world.startWatching({ urls });
    await world.service.stop();
    for (let n = 0; n < 300; n++) world.chain.mine(n % 25 === 0 ? transferTo(WATCHED) : {});
    down.trouble({ kind: 'httpError', status: 503 });
    behind.trouble({
      kind: 'lag',
      blocks: 120,
      methods: ['eth_getBlockByHash', 'eth_getBlockByNumber', 'eth_getBlockReceipts'],
    });
    await world.start({ urls });
    const seen: ChainHealth[] = [];
    await world.until(
      'the service has caught up',
      async () => {
        seen.push(await world.health());
        return seen.at(-1)!.blocks[0]?.hash === world.chain.head.hash;
      },
      60_000,
    );
    await world.expectOracle(1);
    const order = world.sink.requests
      .map(({ body }) => JSON.parse(body) as { confirmed: boolean; block: { number: string } })
      .filter((body) => body.block.number !== '' && !body.confirmed);
    expect(order).toHaveLength(12);
    const heights = seen.map(({ checkpoint }) => checkpoint ?? 0);
    expect(heights).toEqual(heights.toSorted((a, b) => a - b));
    const progress = seen.flatMap(({ progress }) => progress ?? []);
    expect(progress.some(({ perSecond }) => perSecond > 0)).toBe(true);
    for (const each of progress) expect(each.to).toBeGreaterThan(each.from);
    expect(world.log.join('')).toMatch(/info catching up .*from=0/);
    expect(world.log.join('')).toMatch(/info caught up .*blocks=300 seconds=/);
  }, 180_000);

  test('a node with another chain id or block 0 is excluded, and the others continue', async () => {
    const otherId = await startNode(createScriptedChain({ chainId: 5 }));
    const otherGenesis = await startNode(createScriptedChain({ genesisTimestamp: 1n }));
    await world.startWatching();
    await world.service.stop();
    await world.start({ urls: [otherId.url, otherGenesis.url, world.chain.url] });
    world.chain.mine(transferTo(WATCHED));
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
    await world.until('both are excluded', async () => {
      const states = (await world.health()).providers.map(({ state }) => state);
      return states.join() === 'wrong-chain,wrong-chain,good';
    });
    expect((await providerOf(otherId)).message).toMatch(/serves chain 0x5, not 0x7a69/);
    expect((await providerOf(otherGenesis)).message).toMatch(
      /its block 0 is 0x.*a different chain/,
    );
    expect(outages()).toEqual([]);
  });

  test('a new chain does not start on two nodes that differ in block 0', async () => {
    const other = await startNode(createScriptedChain({ genesisTimestamp: 1n }));
    await world.start({ urls: [world.chain.url, other.url] });
    const down = await world.until('the chain is down', async () => {
      const now = await world.health();
      return now.state === 'down' && now;
    });
    expect(down.message).toMatch(/different chains with the ID 0x7a69. Remove the wrong --chain/);
    expect(down.checkpoint).toBe(null);
  });

  test('a node that recovers is used again, and keys in its URL are never shown', async () => {
    const other = await startNode();
    other.trouble({ kind: 'httpError', status: 503 });
    await world.startWatching({
      urls: [world.chain.url, `${other.url}/v2/SECRETKEY?token=SECRETKEY`],
    });
    await world.until('it is down', async () => (await providerOf(other)).state === 'down');
    expect(JSON.stringify(await world.health())).not.toContain('SECRETKEY');
    expect(world.log.join('')).not.toContain('SECRETKEY');
    other.heal();
    await world.until('it is back', async () => (await providerOf(other)).state === 'good');
    await world.chain.stop();
    world.chain.mine(transferTo(WATCHED));
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
  });
});

describe('finality', () => {
  test('with confirmations=finalized, matches are confirmed up to the finalized block', async () => {
    await world.startWatching({ confirmations: 'finalized', pollMs: 20 });
    world.chain.mine(transferTo(WATCHED));
    world.chain.mineMany(20);
    await world.caughtUp();
    world.chain.mine(transferTo(WATCHED));
    await world.caughtUp();
    const phases = async (): Promise<string[]> =>
      (await world.readDeliveries())
        .map(({ blockNumber, phase }) => `${blockNumber} ${phase}`)
        .toSorted();
    expect(await phases()).toEqual(['1 unconfirmed', '22 unconfirmed']);
    expect((await world.health()).confirmations).toBe('finalized');
    // The scripted chain finalizes blocks at a depth of 64.
    world.chain.mineMany(43);
    await world.until(
      'block 1 is finalized',
      async () => (await world.health()).confirmedUpTo === 1,
    );
    world.chain.mine();
    await world.until(
      'block 1 is confirmed with the next block',
      async () => (await phases()).length === 3,
    );
    expect(await phases()).toEqual(['1 confirmed', '1 unconfirmed', '22 unconfirmed']);
    expect((await world.health()).confirmedUpTo).toBeLessThan(22);
  });

  test('a node without a finalized block confirms nothing, and the chain reports it', async () => {
    world.chain.trouble({ kind: 'unknownTags' });
    await world.startWatching({ confirmations: 'finalized' });
    world.chain.mine(transferTo(WATCHED));
    world.chain.mineMany(100);
    await world.caughtUp();
    expect((await world.readDeliveries()).map(({ phase }) => phase)).toEqual(['unconfirmed']);
    expect(
      await world.until('the chain reports it', async () => (await world.health()).message),
    ).toMatch(/reports a finalized block, so nothing is confirmed. Set --chain …,confirmations=N/);
  });

  const streams = () => createClient({ apiKey: API_KEY, baseUrl: world.service.url }).streams;
  const phases = async (): Promise<string[]> =>
    (await world.readDeliveries())
      .map(({ blockNumber, phase }) => `${blockNumber} ${phase}`)
      .toSorted();

  test('a stream that waits for the safe block is confirmed with it, not with its chain', async () => {
    const id = await world.startWatching({ pollMs: 20 });
    await streams().update(id, { confirmations: 'safe' });
    world.chain.mine(transferTo(WATCHED));
    world.chain.mineMany(20);
    await world.caughtUp();
    expect(await phases()).toEqual(['1 unconfirmed']);
    expect((await world.health()).confirmedUpTo).toBeGreaterThan(1);
    // The scripted chain's safe block is 32 blocks below the head.
    await world.until('block 1 is confirmed', async () => {
      world.chain.mine();
      await world.caughtUp();
      return (await phases()).length > 1;
    });
    expect(await phases()).toEqual(['1 confirmed', '1 unconfirmed']);
    expect(world.chain.head.number).toBeGreaterThan(32);
  });

  test('a stream that waits for a tag that no node reports has a message, until it waits for blocks', async () => {
    world.chain.trouble({ kind: 'unknownTags' });
    const id = await world.startWatching();
    await streams().update(id, { confirmations: 'finalized' });
    world.chain.mine(transferTo(WATCHED));
    world.chain.mineMany(100);
    await world.caughtUp();
    expect(await phases()).toEqual(['1 unconfirmed']);
    const statusMessage = async () => (await streams().get(id)).statusMessage;
    await world.until('the stream says so', async () =>
      (await statusMessage()).startsWith(
        `Confirms nothing on ${CHAIN}: no node reports a finalized`,
      ),
    );
    await streams().update(id, { confirmations: 5 });
    expect(await statusMessage()).not.toContain('Confirms nothing');
    world.chain.mine();
    await world.until('block 1 is confirmed', async () => (await phases()).length === 2);
  });

  test('a stream of latest gets each block once, and a removal webhook after a reorg', async () => {
    const id = await world.startWatching();
    await streams().update(id, { confirmations: 'latest', notifyRemoved: true });
    world.chain.mine(transferTo(WATCHED));
    await world.until('the webhook is sent', async () =>
      (await world.readDeliveries()).some(({ state }) => state === 'succeeded'),
    );
    expect(await phases()).toEqual(['1 confirmed']);
    world.chain.fork({ depth: 1, blocks: 2 });
    await world.until('the removal webhook is sent', async () => (await phases()).length === 2);
    expect(await phases()).toEqual(['1 confirmed', '1 removed']);
  });
});
