/** Tests a chain that has no block at some heights, such as Filecoin, with a complete service. */
import { createClient } from '@sluice/kit';
import { expect, test } from 'vitest';
import { API_KEY, WATCHED, createIngestWorld } from '../../../ingest/ingestWorld.test-only.ts';
import type { Json } from '../../../ingest/json.ts';
import {
  FULL_BLOOM,
  createBlock,
  createBlockLog,
  createReceipt,
  createTransaction,
  startFakeNode,
} from './fakeNode.test-only.ts';

const nullRound = (height: number) =>
  Object.assign(new Error(`requested epoch was a null round (${height})`), { code: 12 });

test(
  'heights without a block are skipped, live and in a backfill',
  { timeout: 120_000 },
  async () => {
    const world = await createIngestWorld();
    const contents = [{ block: createBlock(0) }, { block: createBlock(10) }] as Parameters<
      typeof startFakeNode
    >[0][number][];
    const node = await startFakeNode(contents, {
      eth_getBlockByNumber: (at: string, isFull: boolean) => {
        const found =
          at === 'latest' ? contents.at(-1) : contents.find(({ block }) => block['number'] === at);
        if (found === undefined) throw nullRound(Number(at));
        const transactions = found.block['transactions'] as Json[];
        return {
          ...found.block,
          transactions: isFull ? transactions : transactions.map(({ hash }) => hash),
        };
      },
    });
    /** Adds a block with a log of the watched address on the newest block. */
    const mine = (number: number): void => {
      const plain = createBlock(number, {
        parentHash: contents.at(-1)!.block['hash'],
        logsBloom: FULL_BLOOM,
        transactions: [createTransaction(number)],
      });
      const log = createBlockLog(plain, number, 0, { address: WATCHED });
      contents.push({ block: plain, receipts: [createReceipt(plain, number, [log])] });
    };
    try {
      const streamId = await world.startWatching({ urls: [node.url], confirmations: 1 });
      for (const number of [11, 14, 15, 18]) mine(number);
      const confirmed = async () =>
        (await world.readDeliveries())
          .filter(({ phase }) => phase === 'confirmed')
          .map(({ blockNumber }) => blockNumber);
      await world.until('the blocks are delivered', async () => (await confirmed()).length === 3);
      expect((await confirmed()).toSorted((a, b) => a - b)).toEqual([11, 14, 15]);
      expect(await world.sluice.listGaps()).toEqual([]);
      expect((await world.health()).state).toBe('live');

      const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
      await client.streams.createHistoricalJob({
        streamId,
        chainId: '0x7a69',
        blockFrom: 11,
        blockTo: 15,
      });
      await world.until('the backfill is delivered', async () => (await confirmed()).length === 6);
    } finally {
      await world.stop();
      await node.stop();
    }
  },
);
