import * as z from 'zod';
import { namedRequest, requestShape } from '../named.ts';
import {
  FEED_LEASE_MS,
  FEED_LIMIT,
  MAX_FEED_LEASE_MS,
  MAX_FEED_LIMIT,
  MAX_FEED_WAIT_MS,
  MIN_FEED_LEASE_MS,
  isConsumerName,
} from '../rules/feed.ts';
import type {
  AcknowledgeFeed,
  FeedOptions,
  FeedStart,
  ReadFeedOptions,
  ReleaseFeed,
  ResetFeedConsumer,
} from '../shapes.generated.ts';
import { WHOLE_NUMBER, anyChain, queryCount, wholeNumber, wholeNumberText } from './fields.ts';

export const CONSUMER_NAME =
  'should be 1 to 63 lowercase letters, digits, dots, dashes and underscores, e.g. billing';

const consumer = z.string({ error: CONSUMER_NAME }).refine(isConsumerName, CONSUMER_NAME);

const OF_DESTINATION =
  'Number of the additional destination whose feed it is. Default: the `webhookUrl`.';
const destination = wholeNumber.optional().describe(OF_DESTINATION);

/** Selects the feed of a stream. */
export const feedQuerySchema: z.ZodType<FeedOptions> = requestShape(
  'FeedOptions',
  'Which feed of a stream.',
  z.object({
    destination: wholeNumberText.optional().meta({ ...WHOLE_NUMBER, description: OF_DESTINATION }),
  }),
);

const feedMode = z.enum(['share', 'each'], { error: 'should be share or each' });

type ReadFeed = ReadFeedOptions & {
  limit: number;
  waitMs: number;
  leaseMs: number;
  mode: 'share' | 'each';
};

export const readFeedQuerySchema: z.ZodType<ReadFeed> = requestShape(
  'ReadFeedOptions',
  'Which deliveries of a feed to read, and how long to wait for them.',
  z
    .object({
      consumer: consumer
        .optional()
        .describe(
          'Name of the consumer, which the first read creates. Required in the mode `share`.',
        ),
      mode: feedMode
        .default('share')
        .describe(
          '`share`, the default: each delivery is leased to one reader of the consumer until it is acknowledged or its lease ends. `each`: every reader gets all deliveries, without leases.',
        ),
      after: wholeNumberText.optional().meta({
        ...WHOLE_NUMBER,
        description:
          "Only in the mode `each`: the position after which to read, such as `nextPosition` of the previous response. Default: the consumer's position, or the end of the feed without a consumer.",
      }),
      destination: wholeNumberText
        .optional()
        .meta({ ...WHOLE_NUMBER, description: OF_DESTINATION }),
      limit: queryCount(1, MAX_FEED_LIMIT, FEED_LIMIT).describe(
        `Maximum number of deliveries, 1 to ${MAX_FEED_LIMIT}. Default: ${FEED_LIMIT}.`,
      ),
      waitMs: queryCount(0, MAX_FEED_WAIT_MS, 0).describe(
        `How long to wait for a delivery if there is none, 0 to ${MAX_FEED_WAIT_MS}. Default: 0.`,
      ),
      leaseMs: queryCount(MIN_FEED_LEASE_MS, MAX_FEED_LEASE_MS, FEED_LEASE_MS).describe(
        `Only in the mode \`share\`: time to acknowledge the deliveries before they are returned again, ${MIN_FEED_LEASE_MS} to ${MAX_FEED_LEASE_MS}. Default: ${FEED_LEASE_MS}.`,
      ),
    })
    .refine(({ consumer: name, mode }) => mode === 'each' || name !== undefined, {
      path: ['consumer'],
      error: 'should be the name of the consumer; only the mode each works without one',
    })
    .refine(({ after, mode }) => mode === 'each' || after === undefined, {
      path: ['after'],
      error: 'should be omitted; only the mode each starts after a given position',
    }),
);

const acknowledged = { error: `should name 1 to ${MAX_FEED_LIMIT} deliveries` };

export const acknowledgeFeedSchema: z.ZodType<AcknowledgeFeed> = namedRequest(
  'AcknowledgeFeed',
  'The processed deliveries of a feed, by exactly one of `ids`, `positions` and `upTo`. Positions are cheaper than IDs.',
  z
    .strictObject({
      consumer,
      destination,
      ids: z
        .array(z.uuid({ error: 'should be a delivery ID, a UUID' }))
        .min(1, acknowledged)
        .max(MAX_FEED_LIMIT, acknowledged)
        .optional()
        .describe('IDs of deliveries.'),
      positions: z
        .array(wholeNumber)
        .min(1, acknowledged)
        .max(MAX_FEED_LIMIT, acknowledged)
        .optional()
        .describe('Positions of deliveries.'),
      upTo: wholeNumber.optional().describe('Acknowledges all deliveries up to this position.'),
    })
    .refine(
      ({ ids, positions, upTo }) =>
        [ids, positions, upTo].filter((each) => each !== undefined).length === 1,
      { error: 'should have exactly one of ids, positions and upTo' },
    ),
);

export const releaseFeedSchema: z.ZodType<ReleaseFeed> = namedRequest(
  'ReleaseFeed',
  'Deliveries of one response that a reader will not process.',
  z.strictObject({
    consumer,
    destination,
    leaseEndsAt: wholeNumber.describe(
      'The `leaseEndsAt` of the response. Deliveries that another reader has leased since are ignored.',
    ),
    positions: z
      .array(wholeNumber)
      .min(1, acknowledged)
      .max(MAX_FEED_LIMIT, acknowledged)
      .describe('Positions of deliveries.'),
  }),
);

const feedStart: z.ZodType<FeedStart> = requestShape(
  'FeedStart',
  'Where a consumer continues: at the oldest delivery that is kept, after the newest, at the first delivery that was created at a time or later (Unix milliseconds), at the first delivery of a block or a later one of its chain, or after a position.',
  z.union(
    [
      z.enum(['start', 'end']),
      z.strictObject({ time: wholeNumber }),
      z.strictObject({ chainId: anyChain, block: wholeNumber }),
      z.strictObject({ position: wholeNumber }),
    ],
    { error: 'should be start, end, {time}, {chainId, block} or {position}' },
  ),
);

export const resetFeedConsumerSchema: z.ZodType<ResetFeedConsumer> = namedRequest(
  'ResetFeedConsumer',
  'Where the consumer of a feed continues.',
  z.strictObject({ to: feedStart, destination }),
);
