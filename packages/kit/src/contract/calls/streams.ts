import * as z from 'zod';
import {
  text,
  secretText,
  flag,
  uuid,
  count,
  unixMs,
  texts,
  chainId,
  idOf,
  tagged,
} from './basics.ts';
import { component, named, shape } from '../named.ts';
import { STREAM_CHANGE_KINDS } from '../index.ts';
import { chainFamily, streamStatus } from '../requests/enums.ts';
import { rotateStreamSecretSchema } from '../requests/streams.ts';

const streamChange = shape(
  'StreamChange',
  'A change to a stream or its status. Address changes are not included.',
  z.strictObject({
    at: unixMs.describe('Unix milliseconds.'),
    kind: shape(
      'StreamChangeKind',
      'The service sets `failed`, `recovered` and `terminated` when a receiver fails or recovers; callers cause the others.',
      z.enum(STREAM_CHANGE_KINDS),
    ),
    fields: z.array(text).describe('For `edited`: the changed fields, by their wire names.'),
    by: text
      .nullable()
      .describe(
        'Name of the API key that made the change, `bootstrap` for the key of `--api-key`; null for the service itself.',
      ),
  }),
);

const backOff = shape(
  'BackOff',
  'A receiver that is backed off: due deliveries wait without using up attempts. If the reason is `failures`, replaying a delivery ends the wait, and one delivery is sent as a probe at once.',
  z.strictObject({
    reason: shape(
      'BackOffReason',
      '`failures`: the receiver fails or the stream is in `error`; one delivery is sent as a probe afterwards · `throttled`: the receiver returned a 429; all deliveries resume afterwards.',
      z.enum(['failures', 'throttled']),
    ),
    since: unixMs,
    until: unixMs.describe('In the past while the probe is in flight.'),
  }),
);

const queue = count.describe('Deliveries waiting to be sent or retried.');
const lastDeliveryAt = unixMs
  .nullable()
  .describe('Time of the newest delivery, null before the first.');
const currentBackOff = backOff.nullable().describe('Null unless its receiver is backed off.');

const destinationSummary = named(
  'DestinationSummary',
  'The state of an additional destination of a stream.',
  z.strictObject({
    destination: count.describe('Number of the destination within its stream, from 1.'),
    webhookUrl: text.describe('Credentials and query values are masked as `***`.'),
    status: streamStatus,
    statusMessage: text.describe('Human-readable reason for the status.'),
    queue,
    lastDeliveryAt,
    backOff: currentBackOff,
  }),
);

const streamSummary = shape(
  'StreamSummary',
  'A stream with recent statistics.',
  z.strictObject({
    id: uuid,
    family: chainFamily,
    tag: text,
    description: text,
    webhookUrl: text.describe(
      'Credentials and query values are masked as `***`; read the stream for the complete URL.',
    ),
    status: streamStatus,
    statusMessage: text.describe(
      'Human-readable problem, or the reason why the stream is not active; empty otherwise.',
    ),
    chainIds: z.array(chainId),
    allAddresses: flag,
    amountOfAddresses: count,
    amountOfChildren: count.describe('Number of children of its factories, on all chains'),
    topic0: texts,
    amountOfFactories: count.describe('Entries of `factories`.'),
    amountOfReads: count.describe('Entries of `reads`.'),
    createdAt: unixMs,
    queue,
    delivered24h: count.describe('Deliveries that got their first 2xx in the last 24 hours.'),
    redelivered24h: count.describe(
      'Further 2xx of deliveries, after replays, for the same period.',
    ),
    failedAttempts24h: count.describe('Failed attempts in the last 24 hours.'),
    deliveredSeries: z
      .array(count)
      .describe(
        'Deliveries that got their first 2xx, per 5 minutes, oldest first, 24 numbers for the last 2 hours.',
      ),
    hourlyDelivered: z
      .array(count)
      .describe(
        'Deliveries that got their first 2xx in each of 23 clock hours, oldest first, and in the last 60 minutes.',
      ),
    hourlyFailed: z.array(count).describe('Failed attempts, for the same periods.'),
    p95Ms: count
      .nullable()
      .describe(
        '95th percentile of the duration of attempts with a 2xx in the last 24 hours, estimated from a histogram; null if there were none.',
      ),
    lastDeliveryAt,
    failingSince: unixMs
      .nullable()
      .describe(
        'The first minute with a failed attempt since the last 2xx, at most two days back; null if there is none.',
      ),
    paused: z
      .strictObject({ at: unixMs, by: text })
      .nullable()
      .describe(
        'When it was paused and by whom, as in `StreamChange`; null if it is not paused or was created paused.',
      ),
    backOff: currentBackOff,
    certificateEndsAt: unixMs
      .nullable()
      .describe(
        'When the certificate of its receiver expires, if less than 14 days remained at the last connection; null otherwise.',
      ),
    destinations: z
      .array(destinationSummary)
      .describe('Its additional destinations, oldest first.'),
  }),
);

const streamSecret = named(
  'StreamSecret',
  "The secrets of a stream's `webhook-signature`, in addition to the account's streams secret.",
  z.strictObject({
    streamId: uuid,
    secret: secretText.describe('`whsec_` and base64, as in Standard Webhooks.'),
    createdAt: unixMs,
    previous: z
      .array(z.strictObject({ secret: secretText, endsAt: unixMs }))
      .describe('Older secrets that also sign until they expire, newest first.'),
  }),
);

const streamSecretTimes = named(
  'StreamSecretTimes',
  'When the secrets of a stream were created and stop signing, without the secrets.',
  z.strictObject({
    streamId: uuid,
    createdAt: unixMs.describe('When the current secret was created.'),
    previous: z
      .array(z.strictObject({ createdAt: unixMs, endsAt: unixMs }))
      .describe('Older secrets that also sign until they expire, newest first.'),
  }),
);

/** Description of calls that send the test webhook. */
export const TEST_WEBHOOK_NOTE =
  'Sends the test webhook to the URL first. Unless the response is a 2xx, the call fails with a 400 and stores nothing.';

const streamSummaryList = component(
  'StreamSummaryList',
  z.strictObject({ result: z.array(streamSummary) }),
);

const streamChangeList = component(
  'StreamChangeList',
  z.strictObject({ result: z.array(streamChange) }),
);

export const streamsCalls = tagged('Sluice', {
  listStreamSummaries: {
    method: 'GET',
    path: '/sluice/streams',
    scope: 'streams:read',
    summary: 'List streams with recent statistics, newest first',
    response: streamSummaryList,
    errors: [],
  },
  listStreamChanges: {
    method: 'GET',
    path: '/sluice/streams/{id}/changes',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'List changes to a stream, newest first, at most 100',
    description:
      'Includes edits with the changed fields, pauses, new secrets, and status changes by the service when the receiver failed. Excludes address changes.',
    response: streamChangeList,
    errors: [404, 422],
  },
  getStreamSecret: {
    method: 'GET',
    path: '/sluice/streams/{id}/secret',
    scope: 'settings:admin',
    audited: true,
    params: { id: idOf('stream') },
    summary: "Read the secrets that sign a stream's webhook-signature",
    response: streamSecret,
    errors: [404, 422],
  },
  rotateStreamSecret: {
    method: 'POST',
    path: '/sluice/streams/{id}/secret',
    scope: 'settings:admin',
    params: { id: idOf('stream') },
    summary: 'Rotate the secret of a stream; the old ones keep signing for a while',
    body: rotateStreamSecretSchema,
    response: streamSecret,
    errors: [400, 404, 422],
  },
  getStreamSecretTimes: {
    method: 'GET',
    path: '/sluice/streams/{id}/secret/previous',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: "Read when a stream's previous secrets stop signing, without the secrets",
    response: streamSecretTimes,
    errors: [404, 422],
  },
  endStreamSecretOverlap: {
    method: 'DELETE',
    path: '/sluice/streams/{id}/secret/previous',
    scope: 'settings:admin',
    repeatable: true,
    params: { id: idOf('stream') },
    summary: "End the overlap of a rotation now: a stream's previous secrets stop signing",
    description:
      'Attempts that a process has already claimed are still signed with the previous secrets.',
    response: streamSecretTimes,
    errors: [404, 422],
  },
});
