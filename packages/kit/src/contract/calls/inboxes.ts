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
import { inboxResponseSchema } from '../requests/inboxes.ts';
import { listQuerySchema } from '../requests/account.ts';

const inboxResponse = shape(
  'InboxResponse',
  'How an inbox responds.',
  z.strictObject({
    status: count.describe('200 to 599.'),
    delayMs: count.describe('Wait before the response, at most 20,000.'),
    body: text.describe('At most 1,000 characters.'),
    failFirst: count.describe(
      'Respond with `failStatus` to this many webhooks first, counted since the response was set.',
    ),
    failEvery: count.describe('Respond with `failStatus` to every nth webhook, too; 0 for never.'),
    failStatus: count.describe('200 to 599.'),
  }),
);

const inbox = named(
  'Inbox',
  'An inbox and how it responds.',
  z.strictObject({
    name: text,
    url: text.describe('The `webhookUrl` of its streams.'),
    response: inboxResponse,
    received: count.describe('Webhooks received since the response was set.'),
    stored: count.describe(
      'Stored webhooks, including earlier ones: the newest 500, at most 16 MiB.',
    ),
    lastAt: unixMs.nullable().describe('When the newest was received; null before the first.'),
  }),
);

const inboxDelivery = shape(
  'InboxDelivery',
  'The delivery of a webhook in an inbox, as of its receipt.',
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
  webhookId: text.describe('Its `webhook-id`: the ID of the delivery, except for test webhooks.'),
  delivery: inboxDelivery.nullable().describe('Null for a test webhook.'),
  verified: flag.describe('Whether its `x-signature` matches its body and the streams secret.'),
  status: count.describe('Status of the response.'),
  sizeBytes: count,
};

const inboxRequestSummary = shape(
  'InboxRequestSummary',
  'A webhook in an inbox.',
  z.strictObject(inboxRequestFields),
);

const inboxRequest = named(
  'InboxRequest',
  'A webhook in an inbox, with headers and body.',
  z.strictObject({
    ...inboxRequestFields,
    answer: z
      .strictObject({ body: text, delayMs: count })
      .describe('Body and delay of the response.'),
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
    summary: 'List the built-in receivers by name',
    description: 'A stream with the webhookUrl sluice://inbox/<name> delivers to an inbox.',
    response: inboxList,
    errors: [],
  },
  setInbox: {
    method: 'PUT',
    path: '/sluice/inboxes/{name}',
    scope: 'streams:write',
    repeatable: true,
    params: { name: inboxName },
    summary: 'Create an inbox or change its response; omitted fields get their defaults',
    description: 'At most 100 inboxes exist, including those that webhooks created.',
    body: inboxResponseSchema,
    response: inbox,
    errors: [400, 409, 422],
  },
  deleteInbox: {
    method: 'DELETE',
    path: '/sluice/inboxes/{name}',
    scope: 'streams:write',
    repeatable: true,
    params: { name: inboxName },
    summary: 'Delete an inbox and its webhooks',
    errors: [404, 422],
  },
  listInboxRequests: {
    method: 'GET',
    path: '/sluice/inboxes/{name}/requests',
    scope: 'history:read',
    params: { name: inboxName },
    summary: 'List the webhooks of an inbox, newest first',
    query: listQuerySchema,
    response: inboxPage,
    errors: [422],
  },
  getInboxRequest: {
    method: 'GET',
    path: '/sluice/inboxes/{name}/requests/{id}',
    scope: 'history:read',
    params: { name: inboxName, id: idOf('request') },
    summary: 'Read a webhook of an inbox, with headers and body',
    response: inboxRequest,
    errors: [404, 422],
  },
  clearInbox: {
    method: 'DELETE',
    path: '/sluice/inboxes/{name}/requests',
    scope: 'streams:write',
    repeatable: true,
    params: { name: inboxName },
    summary: 'Delete the webhooks of an inbox',
    errors: [422],
  },
});
