import * as z from 'zod';
import { count, headers, idOf, param, tagged, text, unixMs, uuid } from './basics.ts';
import { component, named, shape } from '../named.ts';
import {
  CONSUMER_NAME,
  acknowledgeFeedSchema,
  feedQuerySchema,
  readFeedQuerySchema,
  releaseFeedSchema,
  resetFeedConsumerSchema,
} from '../requests/feeds.ts';
import { isConsumerName } from '../rules/feed.ts';

const consumerName = param((given) => (isConsumerName(given) ? given : undefined), CONSUMER_NAME, {
  type: 'string',
  description: 'Consumer name, e.g. billing',
});

const feedDelivery = shape(
  'FeedDelivery',
  'A webhook in a feed.',
  z.strictObject({
    id: uuid.describe('The `webhook-id`, the same whenever the delivery is returned.'),
    position: count.describe('Increases by one per delivery of the stream, in order of delivery.'),
    headers: headers.describe('As a receiver gets them, signed when the delivery was read.'),
    body: text.describe('The bytes that were signed.'),
  }),
);

const feedPage = named(
  'FeedPage',
  'The next deliveries of a feed: at least one if there is any, and at most 2 MiB of bodies unless the first is larger.',
  z.strictObject({
    deliveries: z.array(feedDelivery).describe('By position. Empty if there are none.'),
    nextPosition: count.describe(
      'Position of the last delivery, or the one after which the read looked for deliveries. In the mode `each`, pass it as `after`.',
    ),
    newestPosition: count.describe('Position of the newest delivery; 0 before the first.'),
    leaseEndsAt: unixMs
      .nullable()
      .describe(
        'When the deliveries are returned again unless they are acknowledged, in Unix milliseconds by the clock of the service; null without deliveries, and in the mode `each`.',
      ),
  }),
);

const feedAcknowledgement = named(
  'FeedAcknowledgement',
  'The progress of a consumer after an acknowledgement.',
  z.strictObject({
    acknowledged: count.describe(
      'How many of the named deliveries are acknowledged now. Those that the feed does not have, or that a replay moved to a new position, are not counted.',
    ),
    position: count.describe('The last position before the first unacknowledged delivery.'),
  }),
);

const feedRelease = named(
  'FeedRelease',
  'The result of releasing deliveries.',
  z.strictObject({
    released: count.describe('How many of the deliveries were leased until then.'),
  }),
);

const feedConsumer = named(
  'FeedConsumer',
  'The progress of a consumer of a feed.',
  z.strictObject({
    name: text,
    position: count.describe('The last position before the first unacknowledged delivery.'),
    unread: count.describe('Deliveries that are neither acknowledged nor leased.'),
    leased: count.describe('Deliveries that were returned and are not acknowledged.'),
    missed: count.describe('Deliveries that expired before the consumer acknowledged them.'),
    oldestAt: unixMs
      .nullable()
      .describe('Creation time of the first unacknowledged delivery; null if there is none.'),
    createdAt: unixMs,
    activeAt: unixMs.describe(
      'Time of its last acknowledgement, reset, or response with deliveries.',
    ),
  }),
);

const feedConsumerList = component(
  'FeedConsumerList',
  z.strictObject({ result: z.array(feedConsumer) }),
);

export const feedsCalls = tagged('Sluice', {
  readFeed: {
    method: 'GET',
    path: '/sluice/streams/{id}/feed',
    scope: 'feed:read',
    params: { id: idOf('stream') },
    summary:
      'Read the next deliveries of a stream or destination whose webhookUrl is sluice://feed',
    description:
      'Each delivery is returned at least once per consumer, and again under the same `webhook-id` until it is acknowledged. A process lets at most 1,000 reads wait per key, and 5,000 in total; others get a 503 with `Retry-After`.',
    query: readFeedQuerySchema,
    response: feedPage,
    errors: [404, 409, 422, 503],
  },
  acknowledgeFeed: {
    method: 'POST',
    path: '/sluice/streams/{id}/feed/ack',
    scope: 'feed:read',
    repeatable: true,
    params: { id: idOf('stream') },
    summary: 'Acknowledge deliveries of a feed',
    body: acknowledgeFeedSchema,
    response: feedAcknowledgement,
    errors: [400, 404, 422],
  },
  releaseFeed: {
    method: 'POST',
    path: '/sluice/streams/{id}/feed/release',
    scope: 'feed:read',
    repeatable: true,
    params: { id: idOf('stream') },
    summary: 'Return deliveries of a feed to other readers before their lease ends',
    body: releaseFeedSchema,
    response: feedRelease,
    errors: [400, 404, 422],
  },
  listFeedConsumers: {
    method: 'GET',
    path: '/sluice/streams/{id}/feed/consumers',
    scope: 'feed:read',
    params: { id: idOf('stream') },
    summary: 'List the consumers of a feed by name, with their progress',
    query: feedQuerySchema,
    response: feedConsumerList,
    errors: [404, 422],
  },
  resetFeedConsumer: {
    method: 'POST',
    path: '/sluice/streams/{id}/feed/consumers/{name}/reset',
    scope: 'feed:read',
    repeatable: true,
    audited: true,
    params: { id: idOf('stream'), name: consumerName },
    summary: 'Move a consumer of a feed to another position; creates the consumer',
    body: resetFeedConsumerSchema,
    response: feedConsumer,
    errors: [400, 404, 409, 422],
  },
  deleteFeedConsumer: {
    method: 'DELETE',
    path: '/sluice/streams/{id}/feed/consumers/{name}',
    scope: 'feed:read',
    repeatable: true,
    audited: true,
    params: { id: idOf('stream'), name: consumerName },
    summary: 'Delete a consumer of a feed and its position',
    query: feedQuerySchema,
    errors: [404, 422],
  },
});
