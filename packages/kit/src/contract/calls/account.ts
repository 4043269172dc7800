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
  chainId,
  pageOf,
  idOf,
  tagged,
} from './basics.ts';
import { component, named, shape, typed } from '../named.ts';
import { chainFamily, deliveryStatus, region, scope } from '../requests/enums.ts';
import {
  listHistoryQuerySchema,
  listLogsQuerySchema,
  settingsSchema,
  createApiKeySchema,
  listQuerySchema,
} from '../index.ts';

const historyRecord = named(
  'HistoryRecord',
  'A webhook that could not be delivered, EVM or Aptos.',
  z.strictObject({
    id: uuid,
    date: dateTime.describe('ISO 8601.'),
    payload: typed(
      'Partial<EvmWebhook> & Readonly<Record<string, unknown>>',
      z.record(text, z.unknown()).exactOptional(),
    ).describe(
      'The webhook as it was to be sent; absent with `excludePayload`. One of an Aptos stream has other fields.',
    ),
    tinyPayload: z.strictObject({
      chainId,
      confirmed: flag,
      block: text.describe('Number of the block, decimal.'),
      records: count.describe('Transactions, logs and internal transactions in the webhook.'),
      retries: count,
    }),
    errorMessage: text,
    webhookUrl: text.describe('Login and values of the query are `***`.'),
    streamId: uuid,
    tag: text,
  }),
);

const deliveryLog = named(
  'DeliveryLog',
  'A webhook that was attempted, and how the last attempt ended.',
  z.strictObject({
    id: uuid,
    streamId: uuid,
    chain: chainId.describe('Chain id in hex; of an Aptos network one of `APTOS_CHAINS`.'),
    webhookUrl: text.describe('Login and values of the query are `***`.'),
    tag: text,
    retries: count,
    deliveryStatus,
    blockNumber: count,
    errorMessage: text,
    type: chainFamily,
    createdAt: dateTime.describe('ISO 8601.'),
    updatedAt: dateTime.exactOptional().describe('ISO 8601.'),
  }),
);

const settings = named(
  'Settings',
  'The settings of an account.',
  z.strictObject({
    region: region.optional(),
    secretKey: text
      .optional()
      .describe('The streams secret, which signs every webhook of the account.'),
  }),
);

const counters = {
  totalWebhooksDelivered: count,
  totalWebhooksFailed: count.describe('Given up after the last attempt'),
  totalLogsProcessed: count.describe('Of confirmed webhooks, failed ones too'),
  totalTxsProcessed: count,
  totalTxsInternalProcessed: count,
};

shape(
  'StatsCounters',
  'Webhooks that failed are counted in the three `…Processed` numbers too.',
  z.strictObject(counters),
);

const period = {
  createdAt: dateTime.exactOptional().describe('ISO 8601: the beginning of what is counted.'),
  updatedAt: dateTime.exactOptional().describe('ISO 8601: the end of it.'),
};

const stats = named(
  'Stats',
  'Of all streams together.',
  z.strictObject({
    ...counters,
    streams: z
      .array(z.strictObject({ streamId: uuid, ...counters }))
      .exactOptional()
      .describe('And of each.'),
    ...period,
  }),
);

const streamStats = named(
  'StreamStats',
  'The counters of one stream.',
  z.strictObject({
    streamId: uuid.exactOptional(),
    ...counters,
    ...period,
  }),
);

const about = named(
  'About',
  'What runs here, and for how long it keeps what happened.',
  z.strictObject({
    version: text,
    environment: z
      .enum(['dev', 'prod'])
      .describe("`dev`: it is one's own, of `sluice dev`; `prod`: others may rely on it."),
    store: z.enum(['sqlite', 'postgres']).describe('What the ledger is kept in.'),
    deliveredMs: number.describe(
      'Milliseconds that a delivery is kept which reached its receiver or was cancelled.',
    ),
    undeliveredMs: number.describe('Milliseconds that every other is kept.'),
    retryWaitsMs: z
      .array(number)
      .describe(
        'Milliseconds that a delivery waits at least after each attempt that failed, and by chance up to a tenth more; behind the last of them it has failed.',
      ),
    quickRetryMs: number
      .nullable()
      .describe(
        'Before those: after a first attempt that met no receiver, or a 5xx; null where there is none.',
      ),
    oldestDeliveryAt: unixMs
      .nullable()
      .describe('When the oldest delivery was made that is still kept; null without any.'),
    abiChains: z
      .array(chainId)
      .describe('Chains that a source of ABIs is named for: `ContractAbi` can be asked of these.'),
  }),
);

const expiry = named(
  'Expiry',
  'What is about to be forgotten: deliveries that are older than they are kept when that is done next. PostgreSQL forgets a day of blocks at once, up to a day later.',
  z.strictObject({
    at: unixMs.nullable().describe('When that is; null before it was done once.'),
    deliveries: count,
    bodyBytes: count.describe('Of their bodies, as they were sent.'),
    isCapped: flag.describe('Only the 100,000 oldest deliveries were looked at, and more are old.'),
  }),
);

const historyPage = component('HistoryPage', pageOf(historyRecord));

const deliveryLogPage = component('DeliveryLogPage', pageOf(deliveryLog));

export const historyCalls = tagged('History', {
  listHistory: {
    method: 'GET',
    path: '/history',
    scope: 'history:read',
    summary: 'List webhooks that could not be delivered, newest first',
    description:
      'Those whose last attempt failed: given up, or still to be retried. One that is delivered later is here no more.',
    query: listHistoryQuerySchema,
    answer: historyPage,
    errors: [422],
  },
  replayHistory: {
    method: 'POST',
    path: '/history/replay/{streamId}/{id}',
    scope: 'replay',
    params: { streamId: idOf('stream'), id: idOf('history') },
    summary: 'Send a webhook again at once, with its id and body',
    description:
      'Also one that was delivered. After the last attempt of the schedule it is tried once more.',
    answer: historyRecord,
    errors: [404, 409, 422],
  },
  listLogs: {
    method: 'GET',
    path: '/history/logs',
    scope: 'history:read',
    summary: 'List webhooks that were attempted, newest first, with how the last attempt ended',
    query: listLogsQuerySchema,
    answer: deliveryLogPage,
    errors: [422],
  },
});

export const accountCalls = tagged('Account', {
  readSettings: {
    method: 'GET',
    path: '/settings',
    scope: 'settings:admin',
    audited: true,
    summary: 'Read region and streams secret',
    answer: settings,
    errors: [],
  },
  setSettings: {
    method: 'POST',
    path: '/settings',
    scope: 'settings:admin',
    summary: 'Change region or streams secret; answers with both',
    description: 'A secret that was given with --secret is changed there.',
    body: settingsSchema,
    answer: settings,
    errors: [400, 409, 422],
  },
  getStats: {
    method: 'GET',
    path: '/stats',
    scope: 'history:read',
    summary: 'What was delivered, of all streams together and of each',
    answer: stats,
    errors: [],
  },
  getStreamStats: {
    method: 'GET',
    path: '/stats/{streamId}',
    scope: 'history:read',
    params: { streamId: idOf('stream') },
    summary: 'What was delivered of one stream',
    answer: streamStats,
    errors: [404, 422],
  },
});

export const serviceCalls = tagged('Sluice', {
  createSession: {
    method: 'POST',
    path: '/sluice/session',
    scope: 'open',
    audited: true,
    summary: 'Trade an API key for the session cookie of the console',
    body: component('SignIn', z.strictObject({ apiKey: z.string() })),
    errors: [400, 422],
  },
  checkSession: {
    method: 'GET',
    path: '/sluice/session',
    scope: 'any',
    summary: 'Whether the request carries a valid key or session',
    errors: [],
  },
  deleteSession: {
    method: 'DELETE',
    path: '/sluice/session',
    scope: 'open',
    repeatable: true,
    summary: 'End the session of the console, for every copy of its cookie',
    errors: [],
  },
  getAbout: {
    method: 'GET',
    path: '/sluice/about',
    scope: 'streams:read',
    summary: 'Which version runs, on what, and how long deliveries are kept',
    answer: about,
    errors: [],
  },
  getExpiry: {
    method: 'GET',
    path: '/sluice/expiry',
    scope: 'streams:read',
    summary: 'What retention is about to forget, and when',
    answer: expiry,
    errors: [],
  },
});

const apiKeyFields = {
  id: text.describe('The middle part of the key, `sluice_<id>_…`.'),
  name: text,
  scopes: z.array(scope),
  cidrs: texts.describe('Networks it may be used from, such as `10.0.0.0/8`; empty for anywhere.'),
  createdAt: unixMs,
  expiresAt: unixMs.nullable().describe('Null for never.'),
  lastUsedAt: unixMs.nullable().describe('To the minute; null before the first use.'),
  revokedAt: unixMs.nullable().describe('Null while it is good.'),
};

const apiKey = named(
  'ApiKey',
  'An API key, as it is listed: everything but the key itself.',
  z.strictObject(apiKeyFields),
);

const createdApiKey = named(
  'CreatedApiKey',
  'A key that was made, and the one time that it is told.',
  z.strictObject({ ...apiKeyFields, key: text.describe('`sluice_<id>_<secret>`.') }),
);

const auditRecord = shape(
  'AuditRecord',
  'One record of the audit log: who did what, when and from where.',
  z.strictObject({
    seq: count.describe('1 for the first, without gaps.'),
    at: unixMs,
    action: text.describe(
      'The name of the call, such as `revokeApiKey`; `authFailures` for a burst of refused callers.',
    ),
    keyId: text.describe(
      'Id of the key that made the call; `bootstrap` for the one of `--api-key`, empty for nobody.',
    ),
    address: text.describe('IP address of the caller.'),
    target: text.describe('Id of what it was done to; empty where the action says it all.'),
    previousHash: text.describe('Hash of the record before; empty for the first.'),
    hash: text.describe('`hashAuditRecord` of this one.'),
  }),
);

const auditPage = named(
  'AuditPage',
  'A page of the audit log.',
  z.strictObject({
    result: z.array(auditRecord).describe('Newest first.'),
    cursor: text.exactOptional().describe('Absent on the last page.'),
  }),
);

const apiKeyList = component('ApiKeyList', z.strictObject({ result: z.array(apiKey) }));

export const accessCalls = tagged('Sluice', {
  listApiKeys: {
    method: 'GET',
    path: '/sluice/keys',
    scope: 'settings:admin',
    summary: 'Every API key there is or was, newest first, without the keys themselves',
    answer: apiKeyList,
    errors: [],
  },
  createApiKey: {
    method: 'POST',
    path: '/sluice/keys',
    scope: 'settings:admin',
    summary: 'Make an API key; the answer tells it this once',
    body: createApiKeySchema,
    answer: createdApiKey,
    errors: [400, 422],
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/sluice/keys/{keyId}',
    scope: 'settings:admin',
    repeatable: true,
    params: { keyId: z.string().describe('Id of an API key') },
    summary: 'End an API key, and the console sessions that were opened with it',
    description: 'No process takes it any more 5 seconds later.',
    answer: apiKey,
    errors: [404],
  },
  listAudit: {
    method: 'GET',
    path: '/sluice/audit',
    scope: 'settings:admin',
    summary: 'Who did what, newest first',
    description: 'Each record carries the hash of the one before it.',
    query: listQuerySchema,
    answer: auditPage,
    errors: [422],
  },
});
