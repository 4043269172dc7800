import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ChainConfig } from '../families/evm/config/chains.ts';
import { WATCHED, createIngestWorld, tokenTransfer, transferTo } from './ingestWorld.test-only.ts';

test.each<[string, (urls: { url: string; wsUrl: string }) => Partial<ChainConfig>]>([
  ['over HTTP', ({ url }) => ({ urls: [url], pollMs: undefined })],
  ['over WebSocket', ({ wsUrl }) => ({ urls: [wsUrl], pollMs: 5_000 })],
  ['with proofs', ({ url }) => ({ urls: [url], pollMs: undefined, trust: 'strict' })],
])(
  'five blocks a second with shared timestamps, and times in milliseconds, are delivered %s',
  async (_, config) => {
    const options = { blockTimeSeconds: 0.2, showsMs: true };
    const world = await createIngestWorld(undefined, options);
    try {
      await world.startWatching(config(world.chain));
      for (let block = 0; block < 25; block++) {
        await wait(40);
        world.chain.mine(block % 3 === 0 ? tokenTransfer() : transferTo(WATCHED));
      }
      const timestamps = new Set(world.chain.canonical().map(({ timestamp }) => timestamp));
      expect(timestamps.size).toBe(6);
      await world.expectOracle(1);
    } finally {
      await world.stop();
    }
  },
);
