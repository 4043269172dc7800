/** Nodes that lag and lie: alone, nothing is delivered of what they say; with another, that one is read. */
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

/** A world for each, as most of the time is waiting until it is asked again. */
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
  ['loses a log', { kind: 'missingLog' }, true],
  ['gives logs of another block', { kind: 'foreignLogs' }, true],
  ['names a wrong parent', { kind: 'wrongParentHash' }, true],
  ['loses a log of a log-only stream', { kind: 'missingLog' }, false],
  [
    'lags behind its own head',
    { kind: 'lag', blocks: 1, methods: ['eth_getLogs', 'eth_getBlockReceipts'] },
    false,
  ],
  ['limits the rate', { kind: 'rateLimit', retryAfterSeconds: 1 }, true],
  ['answers errors', { kind: 'error' }, true],
  ['answers half a JSON', { kind: 'malformedJson' }, true],
  ['sits behind a broken proxy', { kind: 'httpError', status: 502 }, true],
];
test.concurrent.for(ofOnlyNode)(
  'the only node %s: nothing is delivered from it, and all is after',
  { timeout: 120_000 },
  async ([, trouble, native], { world }) => {
    await world.startWatching({}, native);
    world.chain.trouble(trouble);
    world.chain.mine(tokenTransfer());
    const isDown = async (): Promise<boolean> => (await world.health()).state === 'down';
    await world.until('it is called an outage', isDown);
    expect(await world.readDeliveries()).toEqual([]);
    expect((await world.health()).checkpoint).toBe(0);
    expect((await world.health()).message).not.toBe('');
    world.chain.heal();
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(1);
    await world.until('it is live again', async () => (await world.health()).state === 'live');
  },
);

const ofFirstNode: [string, Trouble][] = [
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
test.concurrent.for(ofFirstNode)(
  'the first of two nodes %s: the second one is read instead',
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
