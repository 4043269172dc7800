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
  unverifiedCodes,
} from './basics.ts';
import { component, named, shape, typed } from '../named.ts';
import { confirmations, deliveryPhase, deliveryState } from '../requests/enums.ts';
import { EXPLAIN_KINDS, EXPLAIN_OUTCOMES, EXPLAIN_STAGES, EXPLAIN_VERDICTS } from '../index.ts';
import {
  deliveryCountsQuerySchema,
  listDeliveriesQuerySchema,
  sendCopySchema,
  explainQuerySchema,
} from '../requests/deliveries.ts';

export const aboutBody = text.describe(
  'Human-readable summary of the body: `Transfer 250 USDC 0x28c6…1d60 → 0x5a52…efcb +2`',
);

const deliverySummaryFields = {
  id: uuid.describe('The `webhook-id` of every attempt.'),
  streamId: uuid,
  destination: count
    .exactOptional()
    .describe('Number of the additional destination; absent for the `webhookUrl`.'),
  matchId: uuid.describe(
    'Shared by the deliveries of one block to one destination, and its removal webhook.',
  ),
  tag: text,
  chainId,
  blockNumber: count,
  phase: deliveryPhase,
  state: deliveryState,
  records: count.describe('Logs, transactions and internal transactions in the body.'),
  about: aboutBody.describe(
    'One-line summary of the body, by `describeWebhook`; empty if nothing is known.',
  ),
  attempts: count.describe('HTTP attempts so far.'),
  status: count
    .nullable()
    .describe('HTTP status of the last attempt; null before the first, or without a response.'),
  error: textOrNull.describe(
    'Human-readable reason why the last attempt failed; null if it did not.',
  ),
  durationMs: number
    .nullable()
    .describe('Duration of the last attempt, from the first byte sent to the end of the response.'),
  createdAt: unixMs,
  updatedAt: unixMs,
  nextAttemptAt: unixMs.nullable().describe('When the next attempt is due; null if none is.'),
};

const deliverySummary = named(
  'DeliverySummary',
  'A row of a delivery list, without the body: about 400 bytes of JSON.',
  z.strictObject(deliverySummaryFields),
);

const attemptTimings = shape(
  'AttemptTimings',
  'The parts of an attempt in order, in milliseconds; null for a part that did not happen. A reused connection has only the last two parts; a failed attempt has none after the part that failed. All are null if the attempt failed before the first part.',
  z.strictObject({
    dnsMs: number.nullable().describe('DNS lookup.'),
    connectMs: number
      .nullable()
      .describe(
        'TCP connection. With a proxy: the time until the tunnel is open, including the lookup of the proxy and the connection to it.',
      ),
    tlsMs: number.nullable().describe('TLS handshake with the receiver, also through a tunnel.'),
    waitMs: number.nullable().describe('From the request to the headers of the response.'),
    bodyMs: number.nullable().describe('From the headers to the end of the response.'),
  }),
);

export const receiverCertificate = shape(
  'ReceiverCertificate',
  'The certificate that a receiver presented in a TLS handshake.',
  z.strictObject({
    subject: text.describe('Such as `CN=api.acme.io`.'),
    issuer: text,
    names: z.array(text).describe('The first 20 names and IP addresses it is valid for.'),
    validFrom: unixMs,
    expiresAt: unixMs,
    expiresSoon: z
      .boolean()
      .describe(
        'Whether it had expired, or had less than 14 days left, at the time of the attempt.',
      ),
  }),
);

const deliveryAttempt = shape(
  'DeliveryAttempt',
  'One HTTP request of a delivery.',
  z.strictObject({
    number: count.describe('1 for the first.'),
    webhookUrl: text.describe('Credentials and query values are masked as `***`.'),
    startedAt: unixMs,
    durationMs: number,
    status: count.nullable(),
    error: textOrNull,
    responseBody: text.describe('The first 4 KiB of the response, as text.'),
    parts: attemptTimings
      .nullable()
      .describe('Null for an inbox, or if the process ended during the attempt.'),
    address: textOrNull.describe(
      'IP address and port of a new connection or a failed one; null for a reused connection.',
    ),
    certificate: receiverCertificate
      .nullable()
      .describe(
        'Set for a new or failed connection; for a reused one, only while it `expiresSoon`.',
      ),
  }),
);

const deliveryDetail = named(
  'DeliveryDetail',
  'A delivery with every attempt. Read its body with `getDeliveryBody`.',
  z.strictObject({
    ...deliverySummaryFields,
    blockHash: text,
    blockTime: unixMs.describe(
      "The block's own timestamp. On EVM chains, it is in full seconds and set by the block's producer.",
    ),
    committedAt: unixMs.describe(
      'When the service committed the match of the block; for a backfill, when it searched the block.',
    ),
    confirmations: confirmations
      .nullable()
      .describe('Confirmations of its match; null for those of the chain.'),
    unverified: unverifiedCodes,
    witnesses: count
      .nullable()
      .describe(
        'Number of operators whose nodes returned the same unverified block; null if it is verified.',
      ),
    webhookUrl: text.describe('Credentials and query values are masked as `***`.'),
    bodyBytes: number.describe('Size of its body.'),
    attemptList: z.array(deliveryAttempt),
    labels: z
      .record(text, text)
      .describe('Current labels of watched addresses in the body, by address in lowercase.'),
    pair: deliverySummary
      .nullable()
      .describe(
        'The delivery of the same match in the other phase: for an unconfirmed one, the confirmed one or the removal webhook; for these, the unconfirmed one. Null if there is none.',
      ),
    remainingWaitsMs: z
      .array(number)
      .describe(
        'Scheduled waits after the next attempt, if each attempt fails, in milliseconds; up to 10% is added at random. Empty if the next attempt is the last, or none is due.',
      ),
  }),
);

const deliveryPage = named(
  'DeliveryPage',
  'A page of the list of deliveries.',
  z.strictObject({
    result: z.array(deliverySummary).describe('In the requested order.'),
    cursor: text.exactOptional().describe('Absent on the last page.'),
    searchedTo: unixMs
      .exactOptional()
      .describe('For a search that is not complete: creation time of the last checked delivery.'),
  }),
);

const sentCopy = named(
  'SentCopy',
  'The response to an edited copy of a delivery.',
  z.strictObject({
    webhookId: uuid.describe('The `webhook-id` of the copy, which is not the ID of the delivery.'),
    durationMs: number,
    status: count.nullable().describe('HTTP status; null without a response.'),
    error: textOrNull.describe('Reason why it failed; null if the response is a 2xx.'),
    responseBody: text.describe('The first 4 KiB of the response, as text.'),
  }),
);

const valueCount = shape(
  'ValueCount',
  'The number of deliveries with this value.',
  z.strictObject({ value: text, count }),
);

const valueCounts = z.array(valueCount);

const deliveryCounts = named(
  'DeliveryCounts',
  'Counts of the field values of deliveries that match a filter, most frequent first. The counts of a field ignore the filter on that field, to show the alternatives.',
  z.strictObject({
    total: count.describe('Deliveries that match the complete filter.'),
    isCapped: flag.describe(
      'Whether older deliveries were not counted: only the newest 25,000 of the requested streams, time, replay, transaction and IDs are counted.',
    ),
    state: valueCounts,
    status: valueCounts.describe(
      'The status of the last attempt, or `none` without a response; deliveries without an attempt are left out.',
    ),
    streamId: valueCounts,
    destination: valueCounts.describe(
      'The number of the destination, `0` for the `webhookUrl`. Empty unless the filter selects a stream that has, or had, additional destinations.',
    ),
    chainId: valueCounts,
    phase: valueCounts,
    reorged: valueCounts.describe('`true` if the block left the chain.'),
    attempts: valueCounts.describe('Number of attempts.'),
    age: valueCounts.describe(
      'Created in the last `15m`, `1h`, `24h` or `7d`, or `older`; each excludes the shorter periods.',
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
    response: deliveryPage,
    errors: [422],
  },
  getDeliveryCounts: {
    method: 'GET',
    path: '/sluice/counts',
    scope: 'history:read',
    summary: 'Count deliveries by state, status, stream and other fields',
    query: deliveryCountsQuerySchema,
    response: deliveryCounts,
    errors: [422],
  },
  getDelivery: {
    method: 'GET',
    path: '/sluice/deliveries/{id}',
    scope: 'history:read',
    params: { id: idOf('delivery') },
    summary: 'Read a delivery with every attempt, without its body',
    response: deliveryDetail,
    errors: [404, 422],
  },
  getDeliveryBody: {
    method: 'GET',
    path: '/sluice/deliveries/{id}/body',
    scope: 'history:read',
    params: { id: idOf('delivery') },
    summary: 'Read the exact body of a delivery',
    description:
      'Returns the body of the last attempt, or of the first attempt if there was none yet, without an envelope.',
    response: z.string(),
    mediaType: 'application/json',
    errors: [404, 422],
  },
  stopDelivery: {
    method: 'POST',
    path: '/sluice/deliveries/{id}/stop',
    scope: 'replay',
    params: { id: idOf('delivery') },
    summary: 'Stop a held delivery, or one that waits for its next attempt; it counts as failed',
    response: deliverySummary,
    errors: [404, 409, 422],
  },
  releaseDelivery: {
    method: 'POST',
    path: '/sluice/deliveries/{id}/release',
    scope: 'replay',
    params: { id: idOf('delivery') },
    summary: 'Send a held delivery, although no other node has confirmed its block',
    description:
      'Also releases the other deliveries of the stream in this block, now and later: the confirmed one, and the other parts of a large match.',
    response: component('ReleasedDeliveries', z.strictObject({ result: z.array(deliverySummary) })),
    errors: [404, 409, 422],
  },
  sendCopy: {
    method: 'POST',
    path: '/sluice/deliveries/{id}/copy',
    scope: 'replay',
    params: { id: idOf('delivery') },
    summary: 'Send an edited copy of a delivery to an inbox or a test URL',
    description:
      "The copy is sent once and is not stored. It is signed only with the given test secret, never with the secrets of the stream or the account, and has none of the stream's headers. The header `x-sluice-copy-of` has the ID of the delivery.",
    body: sendCopySchema,
    hidesBody: true,
    response: sentCopy,
    errors: [400, 404, 422, 503],
  },
  liveEvents: {
    method: 'GET',
    path: '/sluice/events',
    scope: 'history:read',
    summary: 'Receive live events as server-sent events',
    description:
      'Each event has an increasing ID and JSON in data; a client that reconnects with last-event-id gets the events it missed, or a `reset` event. A process serves at most 2,000 clients per key, and 10,000 in total; others get a 503 with `Retry-After`.',
    response: z.string(),
    mediaType: 'text/event-stream',
    errors: [503],
  },
});

const explainedCondition = shape(
  'ExplainedCondition',
  'A requirement of a stream, next to the value that was compared with it.',
  z.strictObject({
    name: text.describe(
      'Name of the compared value: `contract`, `event`, or a parameter such as `value`.',
    ),
    rule: text.describe('Requirement of the stream: `> 1000`, `watched`.'),
    value: textOrNull.describe('The value of the record; null if it has none.'),
    holds: flag,
    alternative: flag.describe('Whether it starts an alternative to the conditions before it.'),
  }),
);

const explainReason = shape(
  'ExplainReason',
  'The outcome of one check.',
  z.strictObject({
    stage: shape(
      'ExplainStage',
      'A check on the way from a block to a delivery.',
      z.enum(EXPLAIN_STAGES),
    ),
    outcome: shape('ExplainOutcome', 'The outcome of a check.', z.enum(EXPLAIN_OUTCOMES)),
    message: text.describe('Human-readable, with the compared values.'),
    conditions: z
      .array(explainedCondition)
      .exactOptional()
      .describe(
        'The first 20 compared addresses and values; only for checks of addresses, events and filters, and for the first 50 records of a stream.',
      ),
  }),
);

const explainedTransaction = shape(
  'ExplainedTransaction',
  'The transaction that is explained.',
  z.strictObject({
    hash: text,
    status: z
      .enum(['succeeded', 'failed'])
      .nullable()
      .describe('Null if the chain did not report it.'),
    from: textOrNull.describe('Null for an Aptos transaction without a sender.'),
    to: textOrNull.describe(
      'Null if it creates a contract; on Aptos, the recipient of a payment, otherwise null.',
    ),
    createdContract: textOrNull,
    value: textOrNull.describe(
      'Native currency in its smallest unit; null if the network omits it, and on Aptos unless it is a payment in APT.',
    ),
    currency: z.strictObject({
      symbol: text.describe('Empty if unknown.'),
      decimals: count,
    }),
    selector: textOrNull.describe(
      'First four bytes of the input; null if it has fewer, and on Aptos.',
    ),
    function: textOrNull.describe(
      'Signature of the called function, from the ABI of a stream that watches the contract or a list of common ones; on Aptos, its full name. Null if unknown.',
    ),
    addressCount: count.describe('The number of addresses that it involves.'),
    addresses: z
      .array(
        shape(
          'ExplainedAddress',
          'An address that the transaction involves.',
          z.strictObject({
            name: text.describe('Where it appears first: `from`, `log 214`, `signer`.'),
            address: text,
          }),
        ),
      )
      .describe('The first 100 of these.'),
  }),
);

const explainedResult = shape(
  'ExplainedResult',
  'A value, and the last block in whose state it was read.',
  z.strictObject({
    block: count,
    value: typed(
      'unknown',
      z.unknown().describe('Integers are decimal text, bytes are hex, and structs are arrays.'),
    ),
  }),
);

const explainedRecord = shape(
  'ExplainedRecord',
  'A log, transaction, internal transaction or call of the block, checked for one stream.',
  z.strictObject({
    kind: z.enum(['log', 'transaction', 'internalTransaction', 'call']),
    index: count.describe(
      'For a log, its index in the block; for an internal transaction, its index in the transaction; for a call, the index of its transaction; on Aptos, the ledger version.',
    ),
    traceAddress: z
      .array(count)
      .exactOptional()
      .describe("Only for calls: position in the transaction's tree of calls."),
    transactionHash: text,
    included: flag.describe('Whether it is in the webhook.'),
    reasons: z.array(explainReason),
  }),
);

export const explainedValue = shape(
  'ExplainedValue',
  'A value on chain that a stream reads, and why it was sent in the block or not.',
  z.strictObject({
    chainId,
    name: text.describe(
      'The function or balance, and its condition: `totalSupply() of 0x…, below 1,000`.',
    ),
    block: count,
    before: explainedResult
      .nullable()
      .describe('The last known value before the block; null if there is none.'),
    after: explainedResult.nullable().describe('The value in the block; null if it is not known.'),
    decimals: count.nullable().describe('Decimals of the value; null if they are unknown.'),
    included: flag.describe('Whether its condition holds, so that it is in a webhook.'),
    reason: explainReason,
  }),
);

const streamVerdict = shape(
  'StreamVerdict',
  'The verdict for one stream, with its reasons.',
  z.strictObject({
    streamId: uuid,
    tag: text,
    changedAt: unixMs.describe(
      'When the stream was last changed: earlier blocks may have been matched with other rules.',
    ),
    verdict: shape(
      'ExplainVerdict',
      'The result of Explain for one stream.',
      z.enum(EXPLAIN_VERDICTS),
    ),
    reason: explainReason.describe('The deciding reason.'),
    stages: z.array(explainReason).describe('Every stage that was reached, in order.'),
    recordCount: count.describe('The number of records that concern the stream.'),
    records: z
      .array(explainedRecord)
      .describe(
        'The first 50 of these, starting with those in the webhook; for a delivery, the first 20,000 from its transactions.',
      ),
    valueCount: count.describe('The number of values on chain that the stream reads there.'),
    values: z
      .array(explainedValue)
      .describe(
        'The first 50 of these, starting with those that were sent. Empty for a transaction; for an address, those that concern it, in the last committed block.',
      ),
    deliveries: z
      .array(deliverySummary)
      .describe('The deliveries of the block; for a transaction, only those that contain it.'),
  }),
);

const explanation = named(
  'Explanation',
  'Why a webhook was or was not sent.',
  z.strictObject({
    query: text.describe('The query, as sent.'),
    kind: z.enum(EXPLAIN_KINDS),
    chainId: chainId.nullable().describe('Null if it was not found on any chain.'),
    block: z
      .strictObject({
        number: count,
        hash: text,
        timestamp: count
          .nullable()
          .describe('Unix seconds; null if the nodes no longer have the block.'),
        committedAt: unixMs
          .nullable()
          .describe('When the service committed the block; null unless it is a recent one.'),
        unverified: unverifiedCodes,
      })
      .nullable()
      .describe('Null if none was found.'),
    transactionHash: textOrNull,
    transaction: explainedTransaction
      .nullable()
      .describe('Set if the query concerns a single transaction and the nodes have its block.'),
    message: text.describe('Human-readable result, or what to try instead.'),
    stages: z.array(explainReason).describe('The checks of the block: seen, fetched, committed.'),
    streams: z.array(streamVerdict).describe('Matching streams first, at most 200.'),
  }),
);

export const explainCalls = tagged('Sluice', {
  explain: {
    method: 'GET',
    path: '/sluice/explain',
    scope: 'history:read',
    summary: 'Explain why a webhook was or was not sent, for each stream',
    description:
      'Takes a transaction or block hash, a block number, a ledger version, an address, a name that ends in .eth, or a delivery ID. A query without a result also returns a 200, with the reason.',
    query: explainQuerySchema,
    response: explanation,
    errors: [422],
  },
});
