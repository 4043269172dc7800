import * as z from 'zod';
import { namedRequest, requestShape, typed } from '../named.ts';
import type { ActivityStep } from '../shapes.generated.ts';
import { MAX_POINTS } from '../values.ts';
import {
  anyChain,
  queryCount,
  receiver,
  streamId,
  WHOLE_NUMBER,
  wholeNumberText,
} from './fields.ts';

const steps = {
  streamId: streamId.optional(),
  step: typed(
    'ActivityStep',
    z
      .enum(['1', '5', '60'], { error: 'should be one of 1, 5, 60 (minutes)' })
      .default('5')
      .transform((step): ActivityStep => Number(step) as ActivityStep),
  ).describe('Minutes per point.'),
  points: queryCount(1, MAX_POINTS[1], 288).describe(
    'At most `MAX_POINTS` for the step: 1,500, 576 or 720.',
  ),
  until: wholeNumberText.optional().meta({
    ...WHOLE_NUMBER,
    description: 'The last step contains this time, in Unix milliseconds. Default: now.',
  }),
};

function checkPoints(
  { step, points }: { step: ActivityStep; points: number },
  context: z.RefinementCtx,
): void {
  if (points <= MAX_POINTS[step]) return;
  context.addIssue({
    code: 'custom',
    path: ['points'],
    message: `should be at most ${MAX_POINTS[step]} for steps of ${step} minutes: older counts are not kept`,
  });
}

export const activityQuerySchema = requestShape(
  'ActivityQuery',
  'The stream, resolution and length of a chart of attempts.',
  z.object(steps).superRefine(checkPoints),
);

export const responseTimesQuerySchema = requestShape(
  'ResponseTimesQuery',
  'The stream or the receiver, and the resolution and length of a chart of response times.',
  z
    .object({
      ...steps,
      streamId: streamId.optional().describe('The stream, without additional destinations.'),
      receiver: receiver
        .optional()
        .describe('The host or inbox of destinations, as in the filter of deliveries.'),
    })
    .superRefine(checkPoints)
    .refine((it) => (it.streamId === undefined) !== (it.receiver === undefined), {
      path: ['receiver'],
      error: 'should be used instead of streamId: exactly one of them is needed',
    }),
);

/** Maximum number of streams per request. A browser handles a response of this size quickly. */
const MAX_TIMELINES = 200;
const timelineLimitError = { error: 'should be a whole number from 1 to 200' };

export const listTimelinesSchema = namedRequest(
  'TimelineQuery',
  'The streams, and the number of newest blocks per chain.',
  z.strictObject({
    streamIds: typed(
      'readonly string[]',
      z
        .array(streamId, { error: 'should be an array of stream IDs' })
        .min(1, { error: 'should name at least one' })
        .max(MAX_TIMELINES, {
          error: `should name at most ${MAX_TIMELINES}: request the others in a second call`,
        }),
    ).describe('At most 200; unknown IDs are left out.'),
    limit: z
      .int(timelineLimitError)
      .min(1, timelineLimitError)
      .max(200, timelineLimitError)
      .default(60)
      .describe('At most 200. Default: 60.'),
  }),
);

export const blocksQuerySchema = requestShape(
  'BlocksQuery',
  'The chain, the stream and the number of newest blocks.',
  z.object({
    chain: anyChain.optional().describe('Default: all chains.'),
    streamId: streamId.optional().describe('Counts only its matches. Default: all streams.'),
    limit: queryCount(1, 200, 60).describe('At most 200 for each chain. Default: 60.'),
  }),
);

/** Query parameters of the lists of reorgs and gaps. */
export const chainLogQuerySchema = z.object({
  chain: anyChain.optional(),
  limit: queryCount(1, 100, 100),
});
