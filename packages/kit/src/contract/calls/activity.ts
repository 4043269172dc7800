import * as z from 'zod';
import { text, flag, count, unixMs, chainId, tagged } from './basics.ts';
import { component, named, shape } from '../named.ts';
import { activityQuerySchema, listTapesSchema } from '../index.ts';

const activityPoint = shape(
  'ActivityPoint',
  'Attempts that ended within one step.',
  z.strictObject({
    at: unixMs.describe('Where the step begins, in Unix milliseconds.'),
    delivered: count.describe('Deliveries that got a 2xx.'),
    failed: count.describe('Deliveries that were given up.'),
    failedAttempts: count.describe('Attempts that failed, those of later success included.'),
    retries: count.describe('Attempts that were not the first of their delivery.'),
    failures: z
      .strictObject({ none: count, '3xx': count, '4xx': count, '5xx': count })
      .describe('Failed attempts by the first digit of their status; `none`: no answer came.'),
    p50Ms: count
      .nullable()
      .describe(
        'Of the attempts that got a 2xx, from the first byte sent to the end of the answer, to a fifth; null without any.',
      ),
    p95Ms: count.nullable(),
  }),
);

const activity = named(
  'Activity',
  'Attempts over time, of one stream or of all.',
  z.strictObject({
    stepMinutes: shape(
      'ActivityStep',
      'Minutes that a point of a chart stands for.',
      z.union([z.literal(1), z.literal(5), z.literal(60)]),
    ),
    result: z
      .array(activityPoint)
      .describe('Oldest first, without gaps; the last one is not over.'),
  }),
);

const activityBreakdown = named(
  'ActivityBreakdown',
  'What the attempts and the matched records of some time consisted of, of one stream or of all.',
  z.strictObject({
    from: unixMs.describe('Where the first step begins, in Unix milliseconds.'),
    statuses: z
      .array(z.strictObject({ status: count.nullable(), attempts: count }))
      .describe(
        'Attempts by what was answered, most first; null: no answer came, or it did not come to its end.',
      ),
    chains: z
      .array(
        z.strictObject({
          ...{ chainId, delivered: count, failedAttempts: count, matched: count },
          p95Ms: count
            .nullable()
            .describe('Of the attempts that got a 2xx, to a fifth; null without any.'),
        }),
      )
      .describe('By chain, most attempts first.'),
    records: z
      .array(
        z.strictObject({
          what: text,
          signature: text
            .nullable()
            .describe(
              "Of an EVM event that the stream's ABI or a token standard knows, such as `Transfer(address,address,uint256)`.",
            ),
          matched: count,
        }),
      )
      .describe(
        'Records by what they are, most first, counted once when their block is matched. Of EVM the topic0 of the event, `anonymous` for logs without topics, `transaction`, `internalTransaction`. Of Aptos the function that a transaction calls, or `transaction`, and the type of each event where the stream gets events. `other` for all beyond the 20 most frequent ones of a webhook.',
      ),
  }),
);

const tapeBlock = shape(
  'TapeBlock',
  'A block that a stream matched, and what became of that.',
  z.strictObject({
    number: count,
    hash: text,
    matches: count.describe('Webhooks that it was matched into: one, or its parts.'),
    delivered: count.describe(
      'Their deliveries by how they stand; `waiting` are those under way or still to come.',
    ),
    waiting: count,
    failed: count,
    cancelled: count,
    confirmed: flag.describe('Enough blocks have followed.'),
    removed: flag.describe('It left the chain.'),
  }),
);

const streamTape = shape(
  'StreamTape',
  'What a stream matched in the newest blocks of its chains.',
  z.strictObject({
    streamId: text,
    chains: z
      .array(
        z.strictObject({
          chainId,
          from: count.describe('The oldest block that was looked at.'),
          blocks: z
            .array(tapeBlock)
            .describe('Newest first; blocks that nothing matched in are left out.'),
        }),
      )
      .describe(
        'In the order that the stream names them; without those of which no block is kept.',
      ),
  }),
);

const streamTapeList = component('StreamTapeList', z.strictObject({ result: z.array(streamTape) }));

export const activityCalls = tagged('Sluice', {
  getActivity: {
    method: 'GET',
    path: '/sluice/activity',
    scope: 'history:read',
    summary: 'Attempts over time, of one stream or of all, oldest first',
    description:
      'As they were counted two seconds ago. Kept are two days by the minute and eight by the hour: of steps of 5 minutes 576 at most, of an hour 192.',
    query: activityQuerySchema,
    answer: activity,
    errors: [404, 422],
  },
  getActivityBreakdown: {
    method: 'GET',
    path: '/sluice/activity/breakdown',
    scope: 'history:read',
    summary:
      'What the attempts and matches of the same time consisted of: statuses, chains, events',
    description:
      'Statuses and records come most frequent first. Records are counted once, when their block is matched.',
    query: activityQuerySchema,
    answer: activityBreakdown,
    errors: [404, 422],
  },
  listTapes: {
    method: 'POST',
    path: '/sluice/tapes',
    scope: 'history:read',
    repeatable: true,
    summary: 'What became of the newest blocks of several streams',
    description:
      'Of each stream, in the order asked for, the blocks of its chains that it matched. A stream that is not there is left out.',
    body: listTapesSchema,
    answer: streamTapeList,
    errors: [400, 422],
  },
});
