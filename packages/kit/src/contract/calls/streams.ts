import * as z from 'zod';
import {
  text,
  flag,
  uuid,
  count,
  number,
  dateTime,
  unixMs,
  texts,
  headers,
  chainId,
  pageOf,
  idOf,
  tagged,
} from './basics.ts';
import { component, named, shape } from '../named.ts';
import { aptosNetwork, chainFamily, deliverMode, streamStatus } from '../requests/enums.ts';
import { LIMITS } from '../requests/streamFields.ts';
import {
  STREAM_CHANGE_KINDS,
  abiItemSchema,
  advancedOptionSchema,
  createAptosStreamSchema,
  createEvmStreamSchema,
  listStreamsQuerySchema,
  nativeBalanceSelectionSchema,
  rotateStreamSecretSchema,
  streamStatusSchema,
  triggerSchema,
  updateAptosStreamSchema,
  updateEvmStreamSchema,
} from '../index.ts';

const limits = {
  maxInFlight: z.int().nullable().describe(LIMITS.maxInFlight),
  maxPerSecond: number.nullable().describe(LIMITS.maxPerSecond),
  strictOrder: flag.describe(LIMITS.strictOrder),
};

shape(
  'StreamLimits',
  "How gently a stream's receiver is treated. Ours; the hosted service refuses the keys.",
  z.strictObject(limits),
);

const evmStream = named(
  'EvmStream',
  'An EVM stream, as the service answers it.',
  z.strictObject({
    id: uuid,
    webhookUrl: text,
    description: text,
    tag: text,
    chainIds: z.array(chainId),
    topic0: texts.nullable(),
    allAddresses: flag,
    includeNativeTxs: flag,
    includeContractLogs: flag,
    includeInternalTxs: flag,
    includeAllTxLogs: flag,
    getNativeBalances: z.array(nativeBalanceSelectionSchema),
    abi: z.array(abiItemSchema).nullable(),
    advancedOptions: z.array(advancedOptionSchema).nullable(),
    demo: flag,
    triggers: z.array(triggerSchema).nullable(),
    filterPossibleSpamAddresses: flag,
    deliver: deliverMode,
    notifyRemoved: flag,
    headers,
    ...limits,
    status: streamStatus,
    statusMessage: text,
    isErrorSince: dateTime.nullable().describe('ISO 8601; null while the status is not `error`.'),
    createdAt: dateTime.describe('ISO 8601.'),
    updatedAt: dateTime.describe('ISO 8601.'),
    amountOfAddresses: count,
  }),
);

const aptosStream = named(
  'AptosStream',
  'An Aptos stream as the service answers it.',
  z.strictObject({
    id: uuid,
    webhookUrl: text,
    description: text,
    tag: text,
    network: z.array(aptosNetwork),
    functions: texts,
    events: texts,
    includePayload: flag,
    includeEvents: flag,
    includeChanges: flag,
    demo: flag,
    allAddresses: flag,
    headers,
    ...limits,
    status: streamStatus,
    statusMessage: text,
    isErrorSince: dateTime.nullable().describe('ISO 8601; null while all is well.'),
    amountOfAddresses: count,
  }),
);

const aptosStreamStatus = named(
  'AptosStreamStatus',
  'What setting the status of an Aptos stream answers; an EVM stream is answered whole.',
  z.strictObject({
    status: streamStatus,
    statusMessage: text,
  }),
);

const streamChange = shape(
  'StreamChange',
  'Something that was done to a stream, or became of it; changes of its addresses are none.',
  z.strictObject({
    at: unixMs.describe('In Unix milliseconds.'),
    kind: shape(
      'StreamChangeKind',
      '`failed`, `recovered` and `terminated` are what the service itself says of a stream whose receiver fails; the others somebody did.',
      z.enum(STREAM_CHANGE_KINDS),
    ),
    fields: z
      .array(text)
      .describe('Of `edited`: what has another value since, in the names of the contract.'),
    by: text
      .nullable()
      .describe(
        'Name of the API key that did it, `bootstrap` for the one of `--api-key`; null: the service itself.',
      ),
  }),
);

const spared = shape(
  'Spared',
  'A receiver that is sent nothing for a while. What is due waits, and uses up no attempt. A delivery that is sent again by hand ends it where the reason is `failures`: one tries at once.',
  z.strictObject({
    reason: shape(
      'SparedReason',
      '`failures`: the receiver fails, or the stream is in `error`; then one delivery tries · `throttled`: it asked for patience with a 429; then all goes on.',
      z.enum(['failures', 'throttled']),
    ),
    since: unixMs,
    until: unixMs.describe('A moment ago while the delivery that tries is under way.'),
  }),
);

const streamSummary = shape(
  'StreamSummary',
  'A stream with its recent numbers.',
  z.strictObject({
    id: uuid,
    family: chainFamily,
    tag: text,
    description: text,
    webhookUrl: text.describe(
      'Login and values of the query are `***`; the stream itself has them.',
    ),
    status: streamStatus,
    statusMessage: text.describe(
      'For people: what is wrong, or why it is not active; empty while all is well.',
    ),
    chainIds: z.array(chainId),
    allAddresses: flag,
    amountOfAddresses: count,
    topic0: texts,
    createdAt: unixMs,
    queue: count.describe('Deliveries waiting to be sent or retried.'),
    delivered24h: count.describe('Deliveries that got a 2xx in the last 24 hours.'),
    failedAttempts24h: count.describe('Failed attempts in the last 24 hours.'),
    deliveredSeries: z
      .array(count)
      .describe(
        'Deliveries that got a 2xx, per 5 minutes, oldest first, 24 numbers for the last 2 hours.',
      ),
    hourlyDelivered: z
      .array(count)
      .describe(
        'Deliveries that got a 2xx in each of 23 hours of the clock, oldest first, and in the last 60 minutes.',
      ),
    hourlyFailed: z.array(count).describe('Failed attempts, likewise.'),
    p95Ms: count
      .nullable()
      .describe(`Of the last 24 hours' attempts that got a 2xx, to a fifth; null without any.`),
    lastDeliveryAt: unixMs
      .nullable()
      .describe('Time of the newest delivery, null before the first.'),
    failingSince: unixMs
      .nullable()
      .describe(
        'The first minute with a failed attempt after the last one with a 2xx, two days back at most; null while none failed since.',
      ),
    paused: z
      .strictObject({ at: unixMs, by: text })
      .nullable()
      .describe(
        'Since when it is paused, and by whom, as in a `StreamChange`; null while it is not, and of one that was made paused.',
      ),
    spared: spared.nullable().describe('Null while its receiver is sent what is due.'),
    certificateEndsAt: unixMs
      .nullable()
      .describe(
        'When the certificate of its receiver ends, where that was less than 14 days ahead when it was shown last; null otherwise.',
      ),
  }),
);

const streamSecret = named(
  'StreamSecret',
  "What signs the `webhook-signature` of a stream's webhooks, beside the account's streams secret.",
  z.strictObject({
    streamId: uuid,
    secret: text.describe('`whsec_` and base64, as Standard Webhooks has it.'),
    createdAt: unixMs,
    previous: z
      .array(z.strictObject({ secret: text, endsAt: unixMs }))
      .describe('Older secrets that sign beside it until their time is over; the newest first.'),
  }),
);

const evmStreamPage = component('EvmStreamPage', pageOf(evmStream));

const aptosStreamPage = component('AptosStreamPage', pageOf(aptosStream));

const streamSummaryList = component(
  'StreamSummaryList',
  z.strictObject({ result: z.array(streamSummary) }),
);

const streamChangeList = component(
  'StreamChangeList',
  z.strictObject({ result: z.array(streamChange) }),
);

const tested =
  'First sends the test webhook to the URL, which must answer with a 2xx: otherwise a 400 and nothing is stored.';

export const evmStreamsCalls = tagged('EVM streams', {
  listEvmStreams: {
    method: 'GET',
    path: '/streams/evm',
    scope: 'streams:read',
    summary: 'List streams, newest first',
    query: listStreamsQuerySchema,
    answer: evmStreamPage,
    errors: [422],
  },
  createEvmStream: {
    method: 'PUT',
    path: '/streams/evm',
    scope: 'streams:write',
    summary: 'Create a stream',
    description: tested,
    body: createEvmStreamSchema,
    answer: evmStream,
    errors: [400, 422],
  },
  getEvmStream: {
    method: 'GET',
    path: '/streams/evm/{id}',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'Read a stream',
    answer: evmStream,
    errors: [404, 422],
  },
  updateEvmStream: {
    method: 'POST',
    path: '/streams/evm/{id}',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Change the given fields of a stream',
    description: `Where webhookUrl or headers are given: ${tested}`,
    body: updateEvmStreamSchema,
    answer: evmStream,
    errors: [400, 404, 422],
  },
  deleteEvmStream: {
    method: 'DELETE',
    path: '/streams/evm/{id}',
    scope: 'streams:write',
    audited: true,
    params: { id: idOf('stream') },
    summary: 'Delete a stream; answers with it as it was',
    description: 'What was not sent is cancelled; its history stays.',
    answer: evmStream,
    errors: [404, 422],
  },
  setEvmStreamStatus: {
    method: 'POST',
    path: '/streams/evm/{id}/status',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Pause a stream or make it active',
    description: `To become active: ${tested}`,
    body: streamStatusSchema,
    answer: evmStream,
    errors: [400, 404, 422],
  },
  duplicateEvmStream: {
    method: 'POST',
    path: '/streams/evm/{id}/duplicate',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Create a stream with the fields and addresses of this one',
    description: `The duplicate of a paused stream is paused. Of any other: ${tested}`,
    answer: evmStream,
    errors: [400, 404, 422],
  },
});

export const aptosStreamsCalls = tagged('Aptos streams', {
  listAptosStreams: {
    method: 'GET',
    path: '/streams/aptos',
    scope: 'streams:read',
    summary: 'List streams, newest first',
    query: listStreamsQuerySchema,
    answer: aptosStreamPage,
    errors: [422],
  },
  createAptosStream: {
    method: 'PUT',
    path: '/streams/aptos',
    scope: 'streams:write',
    summary: 'Create a stream',
    description: tested,
    body: createAptosStreamSchema,
    answer: aptosStream,
    errors: [400, 422],
  },
  getAptosStream: {
    method: 'GET',
    path: '/streams/aptos/{id}',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'Read a stream',
    answer: aptosStream,
    errors: [404, 422],
  },
  updateAptosStream: {
    method: 'POST',
    path: '/streams/aptos/{id}',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Change the given fields of a stream',
    description: `Where webhookUrl or headers are given: ${tested}`,
    body: updateAptosStreamSchema,
    answer: aptosStream,
    errors: [400, 404, 422],
  },
  deleteAptosStream: {
    method: 'DELETE',
    path: '/streams/aptos/{id}',
    scope: 'streams:write',
    audited: true,
    params: { id: idOf('stream') },
    summary: 'Delete a stream',
    answer: z.literal(true),
    errors: [404, 422],
  },
  setAptosStreamStatus: {
    method: 'POST',
    path: '/streams/aptos/{id}/status',
    scope: 'streams:write',
    params: { id: idOf('stream') },
    summary: 'Pause a stream or make it active',
    description: `To become active: ${tested}`,
    body: streamStatusSchema,
    answer: aptosStreamStatus,
    errors: [400, 404, 422],
  },
});

export const streamsCalls = tagged('Sluice', {
  listStreamSummaries: {
    method: 'GET',
    path: '/sluice/streams',
    scope: 'streams:read',
    summary: 'Every stream with its recent numbers, newest first',
    answer: streamSummaryList,
    errors: [],
  },
  listStreamChanges: {
    method: 'GET',
    path: '/sluice/streams/{id}/changes',
    scope: 'streams:read',
    params: { id: idOf('stream') },
    summary: 'What was done to a stream, or became of it, newest first, at most 100',
    description:
      'Edits with the fields they changed, pauses, new secrets, and what the service did itself when the receiver failed. Addresses are not among it.',
    answer: streamChangeList,
    errors: [404, 422],
  },
  getStreamSecret: {
    method: 'GET',
    path: '/sluice/streams/{id}/secret',
    scope: 'settings:admin',
    audited: true,
    params: { id: idOf('stream') },
    summary: 'What signs the webhook-signature of a stream',
    answer: streamSecret,
    errors: [404, 422],
  },
  rotateStreamSecret: {
    method: 'POST',
    path: '/sluice/streams/{id}/secret',
    scope: 'settings:admin',
    params: { id: idOf('stream') },
    summary: 'Give a stream a new secret; the old ones sign beside it for a while',
    body: rotateStreamSecretSchema,
    answer: streamSecret,
    errors: [400, 404, 422],
  },
});
