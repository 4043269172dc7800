/**
 * Tests nodes that lag, lie, fail or refuse a method. Without a second node, nothing is delivered
 * until the node recovers, unless it has the data in another form; otherwise, the second node is
 * read instead.
 */
import { type Trouble, startScriptedChain } from '@sluice/testkit';
import { test as base, expect } from 'vitest';
import {
  CONFIRMATIONS,
  type IngestWorld,
  WATCHED,
  createIngestWorld,
  tokenTransfer,
  transferTo,
} from '../ingestWorld.test-only.ts';

/**
 * Gives each test its own world, so that the tests can run concurrently. They mostly wait for
 * retries.
 */
const test = base.extend<{ world: IngestWorld }>({
  // oxlint-disable-next-line no-empty-pattern
  world: async ({}, use) => {
    const world = await createIngestWorld();
    await use(world);
    await world.stop();
  },
});

const ofOnlyNode: [string, Trouble, boolean][] = [
  ['withholds the block by hash', { kind: 'withhold' }, true],
  ['has no receipts yet', { kind: 'nullReceipts' }, true],
  ['omits a log', { kind: 'missingLog' }, true],
  ['returns a wrong parent', { kind: 'wrongParentHash' }, true],
  ['omits a log of a log-only stream', { kind: 'missingLog' }, false],
  [
    'lags behind its own head',
    {
      kind: 'lag',
      blocks: 1,
      methods: ['eth_getLogs', 'eth_getBlockReceipts', 'eth_getTransactionReceipt'],
    },
    false,
  ],
  ['rate limits', { kind: 'rateLimit', retryAfterSeconds: 1 }, true],
  ['returns errors', { kind: 'error' }, true],
  ['returns truncated JSON', { kind: 'malformedJson' }, true],
  ['is behind a broken proxy', { kind: 'httpError', status: 502 }, true],
];
test.concurrent.for(ofOnlyNode)(
  'the only node %s: nothing is delivered until it recovers',
  { timeout: 120_000 },
  async ([, trouble, native], { world }) => {
    await world.startWatching({}, native);
    world.chain.trouble(trouble);
    world.chain.mine(tokenTransfer());
    const isReported = async (): Promise<boolean> =>
      ['down', 'settling'].includes((await world.health()).state);
    await world.until('the outage is reported', isReported);
    expect(await world.readDeliveries()).toEqual([]);
    expect((await world.health()).checkpoint).toBe(0);
    expect((await world.health()).message).not.toBe('');
    world.chain.heal();
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
    await world.until(
      'the chain is live again',
      async () => (await world.health()).state === 'live',
    );
  },
);

test.concurrent.for([
  [-32601, 'the method eth_getLogs does not exist'],
  [-32005, 'limit exceeded'],
  [-32602, 'Archive requests require a personal token'],
  [-32602, 'invalid params'],
] as const)(
  'the only node refuses all logs with %i %s: each block is delivered from its receipts',
  { timeout: 120_000 },
  async ([code, message], { world }) => {
    await world.startWatching({}, false);
    world.chain.trouble({ kind: 'error', methods: ['eth_getLogs'], code, message });
    for (let block = 0; block < 5; block++) world.chain.mine(tokenTransfer());
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
    expect(world.log.filter((line) => line.includes('chain down'))).toEqual([]);
  },
);

const ofFirstNode: [string, Trouble][] = [
  ['withholds blocks', { kind: 'withhold' }],
  ['has no receipts', { kind: 'nullReceipts' }],
  ['truncates receipts', { kind: 'truncatedReceipts' }],
  ['omits the last log', { kind: 'missingLog' }],
  ['omits the first log', { kind: 'missingFirstLog' }],
  ['returns logs of another block', { kind: 'foreignLogs' }],
  ['returns a wrong parent', { kind: 'wrongParentHash' }],
  ['returns another block than requested', { kind: 'wrongHash' }],
  ['returns errors', { kind: 'error' }],
  ['returns truncated JSON', { kind: 'malformedJson' }],
  ['is behind a broken proxy', { kind: 'httpError', status: 502 }],
  ['rate limits', { kind: 'rateLimit', retryAfterSeconds: 60 }],
  [
    'lags by three blocks on every second request',
    { kind: 'lag', blocks: 3, methods: ['eth_getBlockByHash', 'eth_getBlockByNumber'], every: 2 },
  ],
];
test.concurrent.for(ofFirstNode)(
  'the first of two nodes %s: the second is read instead',
  { timeout: 120_000 },
  async ([, trouble], { world }) => {
    const good = await startScriptedChain({ chain: world.chain });
    await world.startWatching({ urls: [world.chain.url, good.url] });
    world.chain.trouble(trouble);
    for (let n = 0; n < 8; n++)
      world.chain.mine(n % 2 === 0 ? tokenTransfer() : transferTo(WATCHED));
    await world.expectOracle(1);
    expect(world.log.filter((line) => line.includes('chain down'))).toEqual([]);
    await world.service.stop();
    await good.stop();
  },
);
