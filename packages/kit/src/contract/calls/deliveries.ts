import * as z from 'zod';
import {
  text,
  flag,
  uuid,
  count,
  number,
  unixMs,
  textOrNull,
  chainId,
  idOf,
  tagged,
} from './basics.ts';
import { named, shape } from '../named.ts';
import { deliveryPhase, deliveryState } from '../requests/enums.ts';
import {
  deliveryFacetsQuerySchema,
  listDeliveriesQuerySchema,
  EXPLAIN_KINDS,
  EXPLAIN_OUTCOMES,
  EXPLAIN_STAGES,
  EXPLAIN_VERDICTS,
  explainQuerySchema,
} from '../index.ts';

export const aboutBody = text.describe(
  'What its body says, for people: `Transfer 250 USDC 0x28c6…1d60 → 0x5a52…efcb +2`',
);

const deliverySummaryFields = {
  id: uuid.describe('The `webhook-id` of every attempt.'),
  streamId: uuid,
  matchId: uuid.describe('The same for the deliveries of one block and the notice of its removal.'),
  tag: text,
  chainId,
  blockNumber: count,
  phase: deliveryPhase,
  state: deliveryState,
  records: count.describe('Logs, transactions and internal transactions in the body.'),
  about: aboutBody.describe(
    'What its body says, in a line for people, as `describeWebhook` puts it; empty where nothing is known.',
  ),
  attempts: count.describe('HTTP attempts so far.'),
  status: count
    .nullable()
    .describe('HTTP status of the last attempt; null before the first and when no answer came.'),
  error: textOrNull.describe('Why the last attempt failed, for people; null when it did not.'),
  durationMs: number
    .nullable()
    .describe('Of the last attempt, from the first byte sent to the end of the answer.'),
  createdAt: unixMs,
  updatedAt: unixMs,
  nextAttemptAt: unixMs.nullable().describe('When the next attempt is due; null when none is.'),
};

const deliverySummary = named(
  'DeliverySummary',
  'A row of a delivery list: some 400 bytes as JSON for ordinary names, never with the body.',
  z.strictObject(deliverySummaryFields),
);

const attemptParts = shape(
  'AttemptParts',
  'Where the time of an attempt went, one after the other, in milliseconds; null where there was no such part. On an open connection there are only the last two, and of an attempt that failed none behind the one it failed in. All are null where nothing was tried.',
  z.strictObject({
    dnsMs: number.nullable().describe('Looking up the name.'),
    connectMs: number
      .nullable()
      .describe(
        'TCP. Through a proxy: all until its tunnel stood, so also what the proxy looked up and connected.',
      ),
    tlsMs: number.nullable().describe('With the receiver, also in a tunnel.'),
    waitMs: number.nullable().describe('From the request to the first byte of the answer.'),
    bodyMs: number.nullable().describe('From there to the end of the answer.'),
  }),
);

const receiverCertificate = shape(
  'ReceiverCertificate',
  'What a receiver showed of itself as a TLS connection was made.',
  z.strictObject({
    subject: text.describe('Such as `CN=api.acme.io`.'),
    issuer: text,
    names: z.array(text).describe('Names and IP addresses it is good for, the first 20.'),
    validFrom: unixMs,
    expiresAt: unixMs,
    expiresSoon: z
      .boolean()
      .describe('When the attempt was made, it had less than 14 days left, or was over.'),
  }),
);

const deliveryAttempt = shape(
  'DeliveryAttempt',
  'One HTTP try of a delivery.',
  z.strictObject({
    number: count.describe('1 for the first.'),
    webhookUrl: text.describe('Login and values of the query are `***`.'),
    startedAt: unixMs,
    durationMs: number,
    status: count.nullable(),
    error: textOrNull,
    responseBody: text.describe('The first 4 KiB of the answer, as text.'),
    parts: attemptParts
      .nullable()
      .describe('Null for an inbox of the service itself, and where nobody lived to tell.'),
    address: textOrNull.describe(
      'IP address and port that a connection was made to, or tried; null on an open connection.',
    ),
    certificate: receiverCertificate
      .nullable()
      .describe('Told when a connection is made, or fails; on an open one while it `expiresSoon`.'),
  }),
);

const deliveryDetail = named(
  'DeliveryDetail',
  'A delivery with every attempt. Its body is an answer of its own: `getDeliveryBody`.',
  z.strictObject({
    ...deliverySummaryFields,
    blockHash: text,
    webhookUrl: text.describe('Login and values of the query are `***`.'),
    bodyBytes: number.describe('Length of its body.'),
    attemptList: z.array(deliveryAttempt),
    labels: z
      .record(text, text)
      .describe(
        'Of the addresses in the body, in lower case, those that the stream watches under a label now.',
      ),
    pair: deliverySummary
      .nullable()
      .describe(
        'The delivery of the same match in the other phase: of an unconfirmed one the confirmed, or the notice of its removal; of these the unconfirmed. Null while there is none.',
      ),
    laterWaitsMs: z
      .array(number)
      .describe(
        'Of one that waits: milliseconds between the attempts that follow the next one, by the schedule, should each of them fail; a tenth may be added at random. Empty where the next one is the last, and of one that does not wait.',
      ),
  }),
);

const deliveryPage = named(
  'DeliveryPage',
  'A page of the list of deliveries.',
  z.strictObject({
    result: z.array(deliverySummary).describe('In the order that was asked for.'),
    cursor: text.exactOptional().describe('Absent on the last page.'),
  }),
);

const facetCount = shape(
  'FacetCount',
  'How many deliveries have this value.',
  z.strictObject({ value: text, count }),
);

const facet = z.array(facetCount);

const deliveryFacets = named(
  'DeliveryFacets',
  'What the deliveries that a filter finds have in their fields, most frequent first. Each field counts as if the filter did not name it, so that it tells what else could be chosen.',
  z.strictObject({
    total: count.describe('Deliveries that the whole filter finds.'),
    isCapped: flag.describe(
      'Only the newest 25,000 of the streams, time, replay and ids were looked at, and there are more.',
    ),
    state: facet,
    status: facet.describe(
      'The status of the last attempt, or `none` where no answer came; untried ones are left out.',
    ),
    streamId: facet,
    chainId: facet,
    phase: facet,
    reorged: facet.describe('`true` where the block left the chain.'),
    attempts: facet.describe('How many attempts there were.'),
    age: facet.describe(
      'Made in the last `15m`, `1h`, `24h`, `7d`, or `older`; each without those of the shorter one.',
    ),
  }),
);

export const deliveriesCalls = tagged('Sluice', {
  listDeliveries: {
    method: 'GET',
    path: '/sluice/deliveries',
    scope: 'history:read',
    summary: 'List deliveries, newest first',
    query: listDeliveriesQuerySchema,
    answer: deliveryPage,
    errors: [422],
  },
  getDeliveryFacets: {
    method: 'GET',
    path: '/sluice/facets',
    scope: 'history:read',
    summary: 'How many deliveries there are of each state, status, stream and so on',
    query: deliveryFacetsQuerySchema,
    answer: deliveryFacets,
    errors: [422],
  },
  getDelivery: {
    method: 'GET',
    path: '/sluice/deliveries/{id}',
    scope: 'history:read',
    params: { id: idOf('delivery') },
    summary: 'A delivery with every attempt, without its body',
    answer: deliveryDetail,
    errors: [404, 422],
  },
  getDeliveryBody: {
    method: 'GET',
    path: '/sluice/deliveries/{id}/body',
    scope: 'history:read',
    params: { id: idOf('delivery') },
    summary: 'The body of a delivery, byte by byte as it is sent',
    description: 'That of the last attempt, or of the first one to come. There is no envelope.',
    answer: z.string(),
    mediaType: 'application/json',
    errors: [404, 422],
  },
  stopDelivery: {
    method: 'POST',
    path: '/sluice/deliveries/{id}/stop',
    scope: 'replay',
    params: { id: idOf('delivery') },
    summary: 'Give up a delivery that waits for its next attempt: it has failed',
    answer: deliverySummary,
    errors: [404, 409, 422],
  },
  liveEvents: {
    method: 'GET',
    path: '/sluice/events',
    scope: 'history:read',
    summary: 'What happens, as server-sent events',
    description:
      'Each event has an increasing id and JSON in data; a client that reconnects with last-event-id gets what it missed, or an event `reset`.',
    answer: z.string(),
    mediaType: 'text/event-stream',
    errors: [],
  },
});

const explainReason = shape(
  'ExplainReason',
  'One question with its answer.',
  z.strictObject({
    stage: shape(
      'ExplainStage',
      'One question on the way from a block to a delivery.',
      z.enum(EXPLAIN_STAGES),
    ),
    outcome: shape('ExplainOutcome', 'How a question was answered.', z.enum(EXPLAIN_OUTCOMES)),
    what: text.describe('For people, with the values that were compared.'),
  }),
);

const explainedRecord = shape(
  'ExplainedRecord',
  'A log, a transaction or an internal transaction of the block, as one stream sees it.',
  z.strictObject({
    kind: z.enum(['log', 'transaction', 'internalTransaction']),
    index: count.describe(
      'Of a log its index in the block, of an internal transaction that in its transaction, of Aptos the ledger version.',
    ),
    transactionHash: text,
    taken: flag.describe('Whether it is in the webhook.'),
    reasons: z.array(explainReason),
  }),
);

const streamVerdict = shape(
  'StreamVerdict',
  'What became of it for one stream, and why.',
  z.strictObject({
    streamId: uuid,
    tag: text,
    changedAt: unixMs.describe(
      'When the stream was last changed: what came before was judged by other rules, perhaps.',
    ),
    verdict: shape('ExplainVerdict', 'What became of it for one stream.', z.enum(EXPLAIN_VERDICTS)),
    because: explainReason.describe('The reason that decided.'),
    stages: z.array(explainReason).describe('Every stage that was reached, in order.'),
    recordCount: count.describe('How many concern the stream.'),
    records: z
      .array(explainedRecord)
      .describe(
        'Of these the first 50, those in the webhook before others; of a delivery 20,000, of its transactions alone.',
      ),
    deliveries: z
      .array(deliverySummary)
      .describe('Of this block, and of this transaction where one was asked for.'),
  }),
);

const explanation = named(
  'Explanation',
  'Why a webhook was sent, or not.',
  z.strictObject({
    query: text.describe('As it was asked.'),
    kind: z.enum(EXPLAIN_KINDS),
    chainId: chainId.nullable().describe('Null where it was found on no chain.'),
    block: z
      .strictObject({
        number: count,
        hash: text,
        timestamp: count
          .nullable()
          .describe('Unix seconds; null where the nodes do not have it any more.'),
      })
      .nullable()
      .describe('Null where none was found.'),
    transactionHash: textOrNull,
    message: text.describe('For people: what was found, or what to try.'),
    stages: z.array(explainReason).describe('Of the block: seen, fetched, committed.'),
    streams: z.array(streamVerdict).describe('Those that matched first; at most 200.'),
  }),
);

export const explainCalls = tagged('Sluice', {
  explain: {
    method: 'GET',
    path: '/sluice/explain',
    scope: 'history:read',
    summary: 'Why a webhook was sent, or not, stream by stream',
    description:
      'Of the hash of a transaction or block, a block number, a ledger version, an address, a name that ends in .eth, or the id of a delivery. What cannot be found is part of the answer.',
    query: explainQuerySchema,
    answer: explanation,
    errors: [422],
  },
});
