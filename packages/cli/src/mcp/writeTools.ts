/** The tools that change streams or send webhooks. */
import {
  createAptosStreamSchema,
  createEvmStreamSchema,
  createReplaySchema,
} from '@sluice/kit/calls';
import * as z from 'zod';
import type { Connection } from '../connection/connection.ts';
import { findStream } from '../streams/findStream.ts';
import { createStream } from '../streams/saveStream.ts';
import { type Fields, familyOfFields } from '../streams/streamFields.ts';
import { CommandError } from '../terminal/errors.ts';
import { streamName, toShownStream } from './readTools.ts';
import { type Tool, defineTool } from './tool.ts';

const addresses = z
  .array(z.string().max(100))
  .max(1_000)
  .default([])
  .describe('Addresses to watch, at most 1,000.');

const createEvmStream = defineTool('create_evm_stream', {
  title: 'Create an EVM stream',
  description: 'Creates a stream on EVM chains. Try its rule with dry_run_evm_rule first.',
  writes: true,
  input: z.strictObject({ stream: createEvmStreamSchema, addresses }),
  call: ({ stream, addresses }, connection) => create({ ...stream }, addresses, connection),
});

const createAptosStream = defineTool('create_aptos_stream', {
  title: 'Create an Aptos stream',
  description: 'Creates a stream on Aptos. Try its rule with dry_run_aptos_rule first.',
  writes: true,
  input: z.strictObject({ stream: createAptosStreamSchema, addresses }),
  call: ({ stream, addresses }, connection) => create({ ...stream }, addresses, connection),
});

async function create(
  fields: Fields,
  addresses: readonly string[],
  { api, sluice }: Connection,
): Promise<unknown> {
  const stream = await createStream(api, fields);
  if (addresses.length > 0) {
    const listed = addresses.map((address) => ({ address }));
    await sluice.importAddresses({
      streamId: stream.id,
      family: familyOfFields(fields),
      addresses: listed,
    });
  }
  return { ...toShownStream(stream), amountOfAddresses: addresses.length };
}

const setStreamStatus = defineTool('set_stream_status', {
  title: 'Pause or resume a stream',
  description: 'Pauses or resumes a stream. A paused stream neither matches nor delivers.',
  writes: true,
  input: z.strictObject({ stream: streamName, status: z.enum(['paused', 'active']) }),
  async call({ stream, status }, connection) {
    const { id, family, tag } = await findStream(connection, stream);
    await connection.api.streams.setStatus(id, status, { networkType: family });
    return { id, tag, status };
  },
});

const replayDeliveries = defineTool('replay_deliveries', {
  title: 'Replay deliveries',
  description:
    'Sends past deliveries to their receivers again, with the same IDs. Fails without sending if more than atMost match the filter.',
  writes: true,
  input: z.strictObject({
    replay: createReplaySchema,
    atMost: z
      .int()
      .min(1)
      .max(10_000)
      .describe(
        'Maximum number of deliveries that the filter may match. Count them with list_deliveries.',
      ),
  }),
  async call({ replay, atMost }, { sluice }) {
    const { deliveries } = await sluice.estimateReplay(replay.filter);
    if (deliveries > atMost) {
      throw new CommandError(
        'usage',
        `The filter matches ${deliveries} deliveries, more than atMost (${atMost})`,
        'narrow the filter, or raise atMost',
      );
    }
    return await sluice.createReplay(replay);
  },
});

export const WRITE_TOOLS: readonly Tool[] = [
  createEvmStream,
  createAptosStream,
  setStreamStatus,
  replayDeliveries,
];
