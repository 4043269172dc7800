import * as z from 'zod';
import { text, flag, count, unixMs, chainId, tagged } from './basics.ts';
import { component, named, shape } from '../named.ts';
import { attemptResult } from '../requests/enums.ts';
import {
  activityQuerySchema,
  blocksQuerySchema,
  listTimelinesSchema,
  responseTimesQuerySchema,
} from '../requests/activity.ts';

const activityStep = shape(
  'ActivityStep',
  'Minutes per point of a chart.',
  z.union([z.literal(1), z.literal(5), z.literal(60)]),
);

const activityPoint = shape(
  'ActivityPoint',
  'Attempts that ended within one step.',
  z.strictObject({
    at: unixMs.describe('Start of the step, in Unix milliseconds.'),
    delivered: count.describe('Deliveries that got their first 2xx.'),
    redelivered: count.describe('Further 2xx of deliveries, after replays.'),
    failed: count.describe('Deliveries that failed permanently.'),
    failedAttempts: count.describe(
      'Failed attempts, including those of deliveries that succeeded later.',
    ),
    retries: count.describe('Attempts other than the first one of a delivery.'),
    failures: z
      .strictObject({ none: count, '3xx': count, '4xx': count, '5xx': count })
      .describe('Failed attempts by the first digit of their status; `none`: no response.'),
    p50Ms: count
      .nullable()
      .describe(
        'Median duration of attempts with a 2xx, from the first byte sent to the end of the response, estimated from a histogram; null if there were none.',
      ),
    p95Ms: count.nullable(),
  }),
);

const activity = named(
  'Activity',
  'Attempts over time, of one stream or all.',
  z.strictObject({
    stepMinutes: activityStep,
    result: z.array(activityPoint).describe('Oldest first, without gaps.'),
    isPartial: flag.describe('Whether the last step is still in progress.'),
  }),
);

const activityBreakdown = named(
  'ActivityBreakdown',
  'Breakdown of the attempts and matched records of a period, for one stream or all.',
  z.strictObject({
    from: unixMs.describe('Start of the first step, in Unix milliseconds.'),
    statuses: z
      .array(z.strictObject({ status: count.nullable(), attempts: count }))
      .describe(
        'Attempts by response status, most frequent first; null for a missing or incomplete response.',
      ),
    chains: z
      .array(
        z.strictObject({
          chainId,
          delivered: count,
          redelivered: count,
          failedAttempts: count,
          matched: count,
          p95Ms: count
            .nullable()
            .describe(
              '95th percentile of the duration of attempts with a 2xx, estimated from a histogram; null if there were none.',
            ),
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
              "For an EVM event in the stream's ABI or a token standard, e.g. `Transfer(address,address,uint256)`.",
            ),
          matched: count,
        }),
      )
      .describe(
        'Records by kind, most frequent first, counted once when their block is matched. On EVM: the topic0 of the event, `anonymous` for logs without topics, `transaction` or `internalTransaction`. On Aptos: the function that a transaction calls, or `transaction`, and the type of each event if the stream includes events. `other` for all beyond the 20 most frequent of a webhook.',
      ),
  }),
);

const chainActivity = named(
  'ChainActivity',
  'Matches and attempts over time, by chain. Each list has one number per step, oldest first.',
  z.strictObject({
    stepMinutes: activityStep,
    from: unixMs.describe('Start of the first step, in Unix milliseconds.'),
    points: count.describe('Number of steps.'),
    isPartial: flag.describe('Whether the last step is still in progress.'),
    chains: z
      .array(
        shape(
          'ChainSteps',
          'The counts of one chain.',
          z.strictObject({
            chainId,
            matched: z
              .array(count)
              .describe('Matched records, counted once when their block is matched.'),
            delivered: z.array(count).describe('Deliveries that got their first 2xx.'),
            failedAttempts: z.array(count),
            slowestMs: z
              .array(count.nullable())
              .describe(
                'Longest duration of an attempt with a 2xx, estimated from a histogram; null if there were none.',
              ),
          }),
        ),
      )
      .describe('Chains without counts are left out.'),
  }),
);

const responseTimes = named(
  'ResponseTimes',
  'Attempts over time by duration and result.',
  z.strictObject({
    stepMinutes: activityStep.describe(
      'Minutes per step: 60 for a receiver with more than 20 destinations, otherwise as requested.',
    ),
    from: unixMs.describe('Start of the first step, in Unix milliseconds.'),
    points: count.describe('Number of steps.'),
    isPartial: flag.describe('Whether the last step is still in progress.'),
    p50Ms: count
      .nullable()
      .describe('Median duration of attempts with a 2xx, estimated; null if there were none.'),
    p95Ms: count.nullable(),
    rows: z
      .array(
        shape(
          'ResponseTimeRow',
          'The attempts of one result and, if they succeeded, of one range of durations.',
          z.strictObject({
            result: attemptResult,
            fromMs: count.describe('Shortest duration of the row, in milliseconds.'),
            toMs: count
              .nullable()
              .describe('Longest duration, included; null for any duration from `fromMs`.'),
            attempts: z.array(count).describe('One number per step, oldest first.'),
          }),
        ),
      )
      .describe('Successes by duration, shortest first, then failures. Empty rows are left out.'),
  }),
);

const timelineBlock = shape(
  'TimelineBlock',
  'A block that a stream matched, with its deliveries.',
  z.strictObject({
    number: count,
    hash: text,
    matches: count.describe('Number of webhooks for the block: one, or the number of parts.'),
    delivered: count.describe(
      'Number of deliveries by state. `waiting`: in flight or not sent yet.',
    ),
    waiting: count,
    failed: count,
    cancelled: count,
    confirmed: flag.describe('Whether enough blocks have followed to confirm it.'),
    removed: flag.describe('Whether it left the chain.'),
  }),
);

const streamTimeline = shape(
  'StreamTimeline',
  'The newest blocks that a stream matched, by chain.',
  z.strictObject({
    streamId: text,
    chains: z
      .array(
        z.strictObject({
          chainId,
          from: count.describe('The oldest block that was checked.'),
          blocks: z
            .array(timelineBlock)
            .describe('Newest first; blocks without a match are left out.'),
        }),
      )
      .describe('In the order of the stream; chains without stored blocks are left out.'),
  }),
);

const recentBlock = shape(
  'RecentBlock',
  'A block with its matches and deliveries.',
  z.strictObject({
    number: count,
    hash: text,
    timestamp: unixMs.describe(
      'Time of the block in Unix milliseconds; for a removed block, when it was matched.',
    ),
    matches: count.describe('Number of webhooks for the block, one per stream or part.'),
    records: count.describe('Matched records.'),
    delivered: count.describe(
      'Number of deliveries by state, without removal webhooks. `waiting`: in flight or not sent yet · `retrying`: failed, and wait for a retry.',
    ),
    waiting: count,
    retrying: count,
    failed: count,
    cancelled: count,
    undone: count.describe('Number of removal webhooks.'),
    slowestMs: count.nullable().describe('Longest last attempt; null before the first.'),
    removed: flag.describe('Whether it left the chain.'),
    unverified: z
      .array(text)
      .describe(
        'Codes of checks that the block did not pass; empty if it is verified. `docs/nodes.md` lists them.',
      ),
  }),
);

const recentBlockList = component(
  'RecentBlockList',
  z.strictObject({
    result: z.array(
      shape(
        'RecentBlocks',
        'The newest blocks of a chain.',
        z.strictObject({
          chainId,
          blocks: z
            .array(recentBlock)
            .describe('Newest first. Removed blocks are listed only if a stream matched them.'),
        }),
      ),
    ),
  }),
);

const streamTimelineList = component(
  'StreamTimelineList',
  z.strictObject({ result: z.array(streamTimeline) }),
);

export const activityCalls = tagged('Sluice', {
  getActivity: {
    method: 'GET',
    path: '/sluice/activity',
    scope: 'history:read',
    summary: 'Read attempts over time, of one stream or all, oldest first',
    description:
      'Counts lag by two seconds. They are kept for 2 days per minute and 30 days per hour: at most 576 steps of 5 minutes, or 720 of an hour. Earlier steps are empty.',
    query: activityQuerySchema,
    response: activity,
    errors: [404, 422],
  },
  getActivityBreakdown: {
    method: 'GET',
    path: '/sluice/activity/breakdown',
    scope: 'history:read',
    summary: 'Break down the attempts and matches of the same period by status, chain and event',
    description:
      'Statuses and records are sorted by frequency. Records are counted once, when their block is matched.',
    query: activityQuerySchema,
    response: activityBreakdown,
    errors: [404, 422],
  },
  getChainActivity: {
    method: 'GET',
    path: '/sluice/activity/chains',
    scope: 'history:read',
    summary: 'Read matches and attempts over time by chain, of one stream or all',
    description: 'The periods are those of `getActivity`. Counts lag by two seconds.',
    query: activityQuerySchema,
    response: chainActivity,
    errors: [404, 422],
  },
  getResponseTimes: {
    method: 'GET',
    path: '/sluice/activity/response-times',
    scope: 'history:read',
    summary: 'Read the attempts of a stream or a receiver over time, by duration and result',
    description:
      'Durations are counted in 26 ranges up to 15 s and above. The periods are those of `getActivity`. Counts lag by two seconds.',
    query: responseTimesQuerySchema,
    response: responseTimes,
    errors: [404, 422],
  },
  listBlocks: {
    method: 'GET',
    path: '/sluice/blocks',
    scope: 'history:read',
    summary: 'List the newest blocks of each chain with their matches and deliveries',
    description: 'Includes blocks that left the chain.',
    query: blocksQuerySchema,
    response: recentBlockList,
    errors: [404, 422],
  },
  listTimelines: {
    method: 'POST',
    path: '/sluice/timelines',
    scope: 'history:read',
    repeatable: true,
    summary: 'Read the timelines of several streams',
    description:
      'Returns the blocks that each stream matched, in the requested order. Unknown streams are left out.',
    body: listTimelinesSchema,
    response: streamTimelineList,
    errors: [400, 422],
  },
});
