import * as z from 'zod';
import {
  text,
  flag,
  uuid,
  count,
  unixMs,
  headers,
  chainId,
  idOf,
  inboxName,
  tagged,
} from './basics.ts';
import { aboutBody } from './deliveries.ts';
import { component, named, shape } from '../named.ts';
import { deliveryPhase } from '../requests/enums.ts';
import { inboxAnswerSchema, listQuerySchema } from '../index.ts';

const inboxAnswer = shape(
  'InboxAnswer',
  'How an inbox answers.',
  z.strictObject({
    status: count.describe('200 to 599.'),
    delayMs: count.describe('Before it answers, at most 20,000.'),
    body: text.describe('At most 1,000 characters.'),
    failFirst: count.describe(
      'So many of the first webhooks since the answer was set are answered with `failStatus`.',
    ),
    failEvery: count.describe('And every so many; 0 for none.'),
    failStatus: count.describe('200 to 599.'),
  }),
);

const inbox = named(
  'Inbox',
  'An inbox and how it answers.',
  z.strictObject({
    name: text,
    url: text.describe('The `webhookUrl` of its streams.'),
    answer: inboxAnswer,
    received: count.describe('Webhooks that came since the answer was set.'),
    kept: count.describe(
      'Of these and earlier ones, how many are kept: the newest 500, at most 64 MiB.',
    ),
    lastAt: unixMs.nullable().describe('When the newest came; null before the first.'),
  }),
);

const inboxDelivery = shape(
  'InboxDelivery',
  'The delivery that a webhook in an inbox was of, as it was then.',
  z.strictObject({
    streamId: uuid,
    tag: text,
    chainId,
    blockNumber: count,
    phase: deliveryPhase,
    about: aboutBody,
  }),
);

const inboxRequestFields = {
  id: uuid,
  inbox: text,
  receivedAt: unixMs,
  webhookId: text.describe('Its `webhook-id`: the id of the delivery, but of test webhooks.'),
  delivery: inboxDelivery.nullable().describe('What of; null of a test webhook.'),
  verified: flag.describe('Whether its `x-signature` is that of its body and the streams secret.'),
  status: count.describe('How it was answered.'),
  sizeBytes: count,
};

const inboxRequestSummary = shape(
  'InboxRequestSummary',
  'A webhook that came into an inbox.',
  z.strictObject(inboxRequestFields),
);

const inboxRequest = named(
  'InboxRequest',
  'A webhook that came into an inbox, whole.',
  z.strictObject({
    ...inboxRequestFields,
    answer: z
      .strictObject({ body: text, delayMs: count })
      .describe('With which body it was answered, and after what wait.'),
    headers,
    body: text.describe('The bytes that were signed.'),
  }),
);

const inboxPage = named(
  'InboxPage',
  'A page of an inbox.',
  z.strictObject({
    result: z.array(inboxRequestSummary).describe('Newest first.'),
    cursor: text.exactOptional().describe('Absent on the last page.'),
  }),
);

const inboxList = component('InboxList', z.strictObject({ result: z.array(inbox) }));

export const inboxesCalls = tagged('Sluice', {
  listInboxes: {
    method: 'GET',
    path: '/sluice/inboxes',
    scope: 'history:read',
    summary: 'The built-in receivers, by name',
    description: 'A stream with the webhookUrl sluice://inbox/<name> delivers into one.',
    answer: inboxList,
    errors: [],
  },
  setInbox: {
    method: 'PUT',
    path: '/sluice/inboxes/{name}',
    scope: 'streams:write',
    repeatable: true,
    params: { name: inboxName },
    summary: 'Make an inbox, or change how it answers; what is left out takes its default',
    body: inboxAnswerSchema,
    answer: inbox,
    errors: [400, 422],
  },
  deleteInbox: {
    method: 'DELETE',
    path: '/sluice/inboxes/{name}',
    scope: 'streams:write',
    repeatable: true,
    params: { name: inboxName },
    summary: 'Forget an inbox and what came into it',
    errors: [404, 422],
  },
  listInboxRequests: {
    method: 'GET',
    path: '/sluice/inboxes/{name}/requests',
    scope: 'history:read',
    params: { name: inboxName },
    summary: 'What came into an inbox, newest first',
    query: listQuerySchema,
    answer: inboxPage,
    errors: [422],
  },
  getInboxRequest: {
    method: 'GET',
    path: '/sluice/inboxes/{name}/requests/{id}',
    scope: 'history:read',
    params: { name: inboxName, id: idOf('request') },
    summary: 'A webhook that came into an inbox, with headers and body',
    answer: inboxRequest,
    errors: [404, 422],
  },
  clearInbox: {
    method: 'DELETE',
    path: '/sluice/inboxes/{name}/requests',
    scope: 'streams:write',
    repeatable: true,
    params: { name: inboxName },
    summary: 'Forget what came into an inbox',
    errors: [422],
  },
});
