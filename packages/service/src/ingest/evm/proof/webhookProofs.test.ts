/** Tests the proofs in the webhooks of a complete service. */
import { createClient, verifyLogProof, type EvmWebhook } from '@sluice/kit';
import { expect, test } from 'vitest';
import { API_KEY, createIngestWorld, tokenTransfer } from '../../ingestWorld.test-only.ts';

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
