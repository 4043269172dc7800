/** The tools that change streams or send webhooks. */
import { CREATE_STREAM_TOOLS } from '../families/tools.ts';
import { addDestinationSchema, createReplaySchema } from '@sluice/kit/calls';
import * as z from 'zod';
import { findStream } from '../streams/findStream.ts';
import { CommandError } from '../terminal/errors.ts';
import { withMaskedHeaders } from './maskedHeaders.ts';
import { streamName } from './readTools.ts';
import { type Tool, defineTool } from './tool.ts';

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

const addDestination = defineTool('add_destination', {
  title: 'Add a destination',
  description:
    'Sends the webhooks of a stream to another URL as well, from the next block on. The URL must accept a test webhook.',
  writes: true,
  input: z.strictObject({ stream: streamName, destination: addDestinationSchema }),
  async call({ stream, destination }, { sluice }) {
    const { id } = await findStream({ sluice }, stream);
    return withMaskedHeaders(await sluice.addDestination(id, destination));
  },
});

const replayDeliveries = defineTool('replay_deliveries', {
  title: 'Replay deliveries',
  description:
    'Sends past deliveries to their receivers again, with the same IDs. To replay those of one destination, pass its number in the filter, with streamId. Fails without sending if more than atMost match the filter.',
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
  ...CREATE_STREAM_TOOLS,
  setStreamStatus,
  addDestination,
  replayDeliveries,
];
