/** Tests the proofs in the webhooks of a complete service. */
import { createClient, verifyLogProof, type EvmWebhook } from '@sluice/kit';
import { expect, test } from 'vitest';
import {
  API_KEY,
  CHAIN,
  CONFIRMATIONS,
  createIngestWorld,
  tokenTransfer,
} from '../../../../ingest/ingestWorld.test-only.ts';

test('a stream with includeProofs gets proofs on a proven chain, others none', async () => {
  const world = await createIngestWorld();
  try {
    const proven = await world.startWatching();
    const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
    const read = async (from: number): Promise<EvmWebhook> => {
      world.chain.mine(tokenTransfer());
      await world.expectOracle(from);
      return JSON.parse(world.sink.requests.at(-1)!.body) as EvmWebhook;
    };
    expect(await read(1)).not.toHaveProperty('proofs');
    const { includeProofs } = await client.streams.update(proven, { includeProofs: true });
    expect(includeProofs).toBe(true);
    const webhook = await read(1);
    expect(webhook.proofs!.receipts).toHaveLength(1);
    const blockHash = world.chain.head.hash;
    expect(verifyLogProof(webhook, { blockHash })).toEqual({ isVerified: true, blockHash });
    expect((await world.health()).proof).toEqual({ isProven: true, reason: '' });

    await world.service.stop();
    await world.start({ trust: 'node' });
    expect(await read(1)).not.toHaveProperty('proofs');
  } finally {
    await world.stop();
  }
}, 120_000);

test('a block that is sent on request, and a backfill, have proofs', async () => {
  const world = await createIngestWorld();
  try {
    const streamId = await world.startWatching();
    const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
    await client.streams.update(streamId, { includeProofs: true });
    world.chain.mine(tokenTransfer());
    const at = { chainId: CHAIN, streamId };
    const blockHash = world.chain.head.hash;
    const blockNumber = Number(world.chain.head.number);
    world.chain.mineMany(CONFIRMATIONS);
    await world.caughtUp();
    const sent = async (origin: string): Promise<EvmWebhook> =>
      world.until(`a webhook by ${origin}`, async () => {
        const found = world.sink.requests.find(
          (each) => each.headers['x-sluice-origin'] === origin,
        );
        return found && (JSON.parse(found.body) as EvmWebhook);
      });
    await client.streams.sendBlock({ ...at, blockNumber });
    expect(verifyLogProof(await sent('replay'), { blockHash }).isVerified).toBe(true);
    const range = { blockFrom: blockNumber, blockTo: blockNumber };
    await client.streams.createHistoricalJob({ ...at, ...range });
    expect(verifyLogProof(await sent('backfill'), { blockHash }).isVerified).toBe(true);
  } finally {
    await world.stop();
  }
}, 120_000);
