import * as z from 'zod';
import {
  text,
  secretText,
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
  urlOrigin,
  urlTestResult,
} from './basics.ts';
import { component, named, shape, typed } from '../named.ts';
import { chainFamily, deliveryStatus, region, scope } from '../requests/enums.ts';
import {
  listHistoryQuerySchema,
  listLogsQuerySchema,
  settingsSchema,
  signInSchema,
  alertUrlSchema,
  createApiKeySchema,
  listQuerySchema,
} from '../requests/account.ts';
import { rotateStreamSecretSchema } from '../requests/streams.ts';

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
      'The webhook; absent with `excludePayload`. A webhook of an Aptos stream has other fields.',
    ),
    tinyPayload: z.strictObject({
      chainId,
      confirmed: flag,
      block: text.describe('Block number, decimal.'),
      records: count.describe('Transactions, logs and internal transactions in the webhook.'),
      retries: count,
    }),
    errorMessage: text,
    webhookUrl: text.describe('Credentials and query values are masked as `***`.'),
    streamId: uuid,
    tag: text,
  }),
);

const deliveryLog = named(
  'DeliveryLog',
  'An attempted webhook, with the result of the last attempt.',
  z.strictObject({
    id: uuid,
    streamId: uuid,
    chain: chainId.describe('Chain ID in hex; for an Aptos network, one of `APTOS_CHAINS`.'),
    webhookUrl: text.describe('Credentials and query values are masked as `***`.'),
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
    secretKey: secretText
      .optional()
      .describe('The streams secret, which signs every webhook of the account.'),
  }),
);

const counters = {
  totalWebhooksDelivered: count,
  totalWebhooksFailed: count.describe('Failed after the last attempt'),
  totalLogsProcessed: count.describe('In confirmed webhooks, including failed ones'),
  totalTxsProcessed: count,
  totalTxsInternalProcessed: count,
};

shape(
  'StatsCounters',
  'The three `…Processed` counts include failed webhooks.',
  z.strictObject(counters),
);

const period = {
  createdAt: dateTime.exactOptional().describe('Start of the counted period, ISO 8601.'),
  updatedAt: dateTime.exactOptional().describe('End of the counted period, ISO 8601.'),
};

const stats = named(
  'Stats',
  'The counters of all streams.',
  z.strictObject({
    ...counters,
    streams: z
      .array(z.strictObject({ streamId: uuid, ...counters }))
      .exactOptional()
      .describe('The counters of each stream.'),
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

const serviceDetails = named(
  'ServiceDetails',
  'The version, environment and retention of the service.',
  z.strictObject({
    version: text,
    commit: text.describe('Commit of the program in 12 hex digits, or `unknown`.'),
    environment: z
      .enum(['dev', 'prod'])
      .describe('`dev`: a local service, from `sluice dev`; `prod`: one that others may rely on.'),
    database: z.enum(['sqlite', 'postgres']).describe('The database of the ledger.'),
    deliveredMs: number.describe(
      'Retention of succeeded and canceled deliveries, in milliseconds.',
    ),
    undeliveredMs: number.describe('Retention of all other deliveries, in milliseconds.'),
    retryWaitsMs: z
      .array(number)
      .describe(
        'Minimum wait after each failed attempt, in milliseconds; up to 10% is added at random. If the attempt after the last wait fails, the delivery fails.',
      ),
    fastRetryMs: number
      .nullable()
      .describe(
        'Wait before the additional retry of a first attempt that got no response or a 5xx; null without such a retry.',
      ),
    oldestDeliveryAt: unixMs
      .nullable()
      .describe('When the oldest stored delivery was created; null if there is none.'),
    abiChains: z
      .array(chainId)
      .describe('Chains with an ABI source, which `getContractAbi` can read.'),
    allowsNodeChanges: flag.describe('Whether it was started with --allow-node-changes.'),
    explorers: z
      .record(text, text)
      .describe(
        'Base URLs of block explorers by chain ID. To link to a page, append its path: `/tx/<hash>`, `/address/<address>` or `/block/<number>`; on Aptos `/txn`, `/account` and `/block`.',
      ),
  }),
);

const expiry = named(
  'ExpiringDeliveries',
  'Deliveries that expire before the next retention run, which deletes them. PostgreSQL deletes the deliveries of a day together, which can be up to a day later.',
  z.strictObject({
    at: unixMs.nullable().describe('Time of the next run; null before the first.'),
    deliveries: count,
    bodyBytes: count.describe('Size of their bodies, as sent.'),
    isCapped: flag.describe(
      'Whether more may expire, because only the 100,000 oldest deliveries are checked.',
    ),
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
      'Webhooks whose last attempt failed, whether or not a retry follows. Webhooks delivered later are no longer listed.',
    query: listHistoryQuerySchema,
    response: historyPage,
    errors: [422],
  },
  replayHistory: {
    method: 'POST',
    path: '/history/replay/{streamId}/{id}',
    scope: 'replay',
    params: { streamId: idOf('stream'), id: idOf('history') },
    summary: 'Send a webhook again immediately, with the same ID and body',
    description:
      'Delivered webhooks can be sent again, too. A webhook that used up its schedule gets one more attempt.',
    response: historyRecord,
    errors: [404, 409, 422],
  },
  listLogs: {
    method: 'GET',
    path: '/history/logs',
    scope: 'history:read',
    summary: 'List attempted webhooks with the result of the last attempt, newest first',
    query: listLogsQuerySchema,
    response: deliveryLogPage,
    errors: [422],
  },
});

export const accountCalls = tagged('Account', {
  readSettings: {
    method: 'GET',
    path: '/settings',
    scope: 'settings:admin',
    audited: true,
    summary: 'Read the region and the streams secret',
    response: settings,
    errors: [],
  },
  setSettings: {
    method: 'POST',
    path: '/settings',
    scope: 'settings:admin',
    summary: 'Change the region or the streams secret, and return both',
    description: 'A secret that was set with --secret can only be changed there.',
    body: settingsSchema,
    response: settings,
    errors: [400, 409, 422],
  },
  getStats: {
    method: 'GET',
    path: '/stats',
    scope: 'history:read',
    summary: 'Read delivery counters, in total and for each stream',
    response: stats,
    errors: [],
  },
  getStreamStats: {
    method: 'GET',
    path: '/stats/{streamId}',
    scope: 'history:read',
    params: { streamId: idOf('stream') },
    summary: 'Read the delivery counters of a stream',
    response: streamStats,
    errors: [404, 422],
  },
});

export const serviceCalls = tagged('Sluice', {
  createSession: {
    method: 'POST',
    path: '/sluice/session',
    scope: 'open',
    audited: true,
    summary: 'Exchange an API key for the session cookie of the console',
    body: signInSchema,
    errors: [400, 422],
  },
  checkSession: {
    method: 'GET',
    path: '/sluice/session',
    scope: 'any',
    summary: 'Check whether the request has a valid key or session',
    errors: [],
  },
  deleteSession: {
    method: 'DELETE',
    path: '/sluice/session',
    scope: 'open',
    repeatable: true,
    summary: 'End the console session and invalidate its cookie',
    errors: [],
  },
  getAbout: {
    method: 'GET',
    path: '/sluice/about',
    scope: 'streams:read',
    summary: 'Read the version, environment and retention of the service',
    response: serviceDetails,
    errors: [],
  },
  getExpiry: {
    method: 'GET',
    path: '/sluice/expiry',
    scope: 'streams:read',
    summary: 'Read what retention will delete next, and when',
    response: expiry,
    errors: [],
  },
});

const apiKeyFields = {
  id: text.describe('The middle part of the key, `sluice_<id>_…`.'),
  name: text,
  scopes: z.array(scope),
  cidrs: texts.describe(
    'Networks from which the key is accepted, such as `10.0.0.0/8`; empty for any.',
  ),
  createdAt: unixMs,
  expiresAt: unixMs.nullable().describe('Null for never.'),
  lastUsedAt: unixMs.nullable().describe('Accurate to the minute; null before the first use.'),
  revokedAt: unixMs.nullable().describe('Null unless revoked.'),
};

const apiKey = named('ApiKey', 'An API key, without the key itself.', z.strictObject(apiKeyFields));

const issuedApiKey = named(
  'IssuedApiKey',
  'A new API key, including the key itself, which is returned only once.',
  z.strictObject({ ...apiKeyFields, key: secretText.describe('`sluice_<id>_<secret>`.') }),
);

const auditRecord = shape(
  'AuditRecord',
  'One record of the audit log: who did what, when and from where.',
  z.strictObject({
    seq: count.describe('Sequence number, from 1, without gaps.'),
    at: unixMs,
    action: text.describe(
      'The name of the call, such as `revokeApiKey`; `authFailures` for a burst of rejected requests.',
    ),
    keyId: text.describe(
      'ID of the key that made the call; `bootstrap` for the key of `--api-key`, empty without a key.',
    ),
    sessionName: text.describe(
      'Name given to the console session at sign-in; empty if there is none.',
    ),
    address: text.describe('IP address of the caller.'),
    target: text.describe(
      'ID of the object that was read or changed, for nodes and alert URLs with the host; empty if there is none.',
    ),
    previousHash: text.describe('Hash of the previous record; empty for the first.'),
    hash: text.describe('`hashAuditRecord` of this record.'),
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

const alertUrl = named(
  'AlertUrl',
  'A URL to which the service POSTs alerts.',
  z.strictObject({
    id: text.describe('A UUID; `configured` for the URL of --notify-url.'),
    host: text.describe('Host of the URL, whose path and query may contain keys.'),
    ...urlOrigin,
  }),
);

const alertUrlList = component('AlertUrlList', z.strictObject({ result: z.array(alertUrl) }));

const publicKey = named(
  'PublicKey',
  'The public key of a key pair (Ed25519) whose private key signs all webhooks.',
  z.strictObject({
    id: uuid,
    publicKey: text.describe('`whpk_` and base64, as in Standard Webhooks.'),
    createdAt: unixMs,
    endsAt: unixMs.nullable().describe('When the private key stops signing; null for the newest.'),
  }),
);

const publicKeyList = component(
  'PublicKeyList',
  z.strictObject({ result: z.array(publicKey).describe('Newest first.') }),
);

export const publicKeyCalls = tagged('Sluice', {
  listPublicKeys: {
    method: 'GET',
    path: '/sluice/public-keys',
    scope: 'open',
    summary: 'List the public keys that verify webhooks, newest first, without an API key',
    response: publicKeyList,
    errors: [],
  },
  createPublicKey: {
    method: 'POST',
    path: '/sluice/public-keys',
    scope: 'settings:admin',
    summary: 'Create a key pair that signs all webhooks; the old ones keep signing for a while',
    description: 'At most five key pairs sign; another one ends the oldest early.',
    body: rotateStreamSecretSchema,
    response: publicKey,
    errors: [400, 422],
  },
  removePublicKey: {
    method: 'DELETE',
    path: '/sluice/public-keys/{publicKeyId}',
    scope: 'settings:admin',
    params: { publicKeyId: z.string().describe('Public key ID') },
    summary: 'Stop signing with a key pair now',
    description: 'Without any key pair, webhooks have only HMAC signatures.',
    errors: [404],
  },
});

export const alertCalls = tagged('Sluice', {
  listAlertUrls: {
    method: 'GET',
    path: '/sluice/alert-urls',
    scope: 'settings:admin',
    summary: 'List the URLs that get alerts and where each one is configured',
    response: alertUrlList,
    errors: [],
  },
  addAlertUrl: {
    method: 'POST',
    path: '/sluice/alert-urls',
    scope: 'settings:admin',
    hidesBody: true,
    summary: 'Send alerts to another URL, starting with all current problems',
    description:
      'The URL must be allowed for webhooks. Requires --allow-node-changes. At most 10 URLs can be added.',
    body: alertUrlSchema,
    response: alertUrl,
    errors: [400, 409, 422],
  },
  testAlertUrl: {
    method: 'POST',
    path: '/sluice/alert-urls/test',
    scope: 'settings:admin',
    hidesBody: true,
    summary: 'Send the alert `alert.test` to a URL',
    description: 'Requires --allow-node-changes.',
    body: alertUrlSchema,
    response: urlTestResult,
    errors: [400, 422, 503],
  },
  removeAlertUrl: {
    method: 'DELETE',
    path: '/sluice/alert-urls/{alertUrlId}',
    scope: 'settings:admin',
    params: { alertUrlId: z.string().describe('Alert URL ID') },
    summary: 'Stop sending alerts to a URL that was added',
    description: 'Requires --allow-node-changes.',
    errors: [404, 409],
  },
});

export const accessCalls = tagged('Sluice', {
  listApiKeys: {
    method: 'GET',
    path: '/sluice/keys',
    scope: 'settings:admin',
    summary: 'List all API keys, including revoked ones, newest first, without the keys themselves',
    response: apiKeyList,
    errors: [],
  },
  createApiKey: {
    method: 'POST',
    path: '/sluice/keys',
    scope: 'settings:admin',
    summary: 'Create an API key, which is returned only once',
    body: createApiKeySchema,
    response: issuedApiKey,
    errors: [400, 422],
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/sluice/keys/{keyId}',
    scope: 'settings:admin',
    repeatable: true,
    params: { keyId: z.string().describe('API key ID') },
    summary: 'Revoke an API key and end the console sessions opened with it',
    description: 'All processes reject the key within 5 seconds.',
    response: apiKey,
    errors: [404],
  },
  listAudit: {
    method: 'GET',
    path: '/sluice/audit',
    scope: 'settings:admin',
    summary: 'List the audit log, newest first',
    description: 'Each record contains the hash of the previous one.',
    query: listQuerySchema,
    response: auditPage,
    errors: [422],
  },
});
