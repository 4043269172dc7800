/** The fields that streams of all chain families have. */
import * as z from 'zod';
import { retries, streamStatus } from '../requests/enums.ts';
import { bounded, given, text } from '../requests/fields.ts';
import { FEED_URL } from '../rules/feed.ts';
import { readInboxName } from '../rules/inbox.ts';
import { QUEUE_FORMS, queueBrokerOf, queueUrlProblem } from '../rules/queues/queues.ts';
import { isTablesUrl, tablesUrlProblem } from '../rules/tables.ts';
import { type Fields, boolean, optionalNumber } from './field.ts';
import { oauth2Client, oauth2Credentials } from './oauth2Fields.ts';

const webhookUrl = text(2048).superRefine((text, { addIssue }) => {
  const problem = urlProblem(text);
  if (problem !== undefined) addIssue({ code: 'custom', message: problem });
});

function urlProblem(text: string): string | undefined {
  if (queueBrokerOf(text) !== undefined) return queueUrlProblem(text);
  if (isTablesUrl(text)) return tablesUrlProblem(text);
  const isHttp = /^https?:\/\//i.test(text) && URL.canParse(text);
  return isHttp || readInboxName(text) !== undefined || text === FEED_URL
    ? undefined
    : `should be an absolute http:// or https:// URL, sluice://inbox/<name>, sluice://feed, ${QUEUE_FORMS}, or postgres:// with a schema`;
}

const HEADER_LIMIT = 20;
/**
 * Matches the names of headers that users cannot set, because the contract, HTTP or the service
 * defines them.
 */
const RESERVED_HEADERS =
  /^(host|connection|content-.*|transfer-encoding|expect|upgrade|http2-settings|keep-alive|te|trailer|via|max-forwards|proxy-.*|traceparent|accept-encoding|user-agent|webhook-.*|x-signature|x-region|x-queue-size|x-records-charged|x-sluice-.*)$/i;

const headers = bounded(
  z.record(
    z
      .string()
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, { error: 'should be a header name' })
      .refine((name) => !RESERVED_HEADERS.test(name), {
        error: 'should be a different name: the service sets this header',
      }),
    text(1024).regex(/^[\x20-\x7e]*$/, { error: 'should be printable ASCII' }),
  ),
  (given) => Object.keys(given ?? {}).length <= HEADER_LIMIT,
  `should have at most ${HEADER_LIMIT} entries`,
)
  // Header names are case-insensitive. Lowercasing them also removes duplicates.
  .transform((it) =>
    Object.fromEntries(Object.entries(it).map(([name, value]) => [name.toLowerCase(), value])),
  );

export const destinationFields = {
  webhookUrl: {
    kind: 'text',
    description:
      'Receiver of the webhooks: `http:`, `https:` or `sluice://inbox/<name>`; `sluice://feed` for consumers that read them; `nats://host:4222/subject` or `tls:` for NATS JetStream; `amqps://host/vhost?routingKey=QUEUE` for RabbitMQ; `kafka://host:9092/topic` or `kafka+ssl:` for Kafka; `postgres://host/database?schema=NAME` for tables.',
    accepts: webhookUrl,
    isRequired: true,
    returns: z.string(),
    flag: { syntax: '--url <url>', help: 'Webhook URL' },
    label: 'Webhook URL',
  },
  description: {
    kind: 'text',
    accepts: text(4096),
    isRequired: true,
    returns: z.string(),
    default: '',
    flag: { syntax: '--description <text>', help: 'Description' },
    label: 'Description',
  },
} as const satisfies Fields;

export const tag = {
  kind: 'text',
  description: 'Included in each webhook; official receivers require a letter or digit in it.',
  accepts: text(256),
  returns: z.string(),
  default: '',
  isTried: true,
  flag: { syntax: '--tag <tag>', help: 'Name of the stream; included in each webhook' },
  label: 'Tag',
} as const;

export const demo = boolean({
  description:
    'The hosted service shows the webhooks of a demo stream in its panel and sends none.',
});

/** Fields that only Sluice has. */
export const deliveryFields = {
  headers: {
    kind: 'object',
    description:
      'Sent with each webhook: at most 20, each value at most 1024 printable ASCII characters. Default: none.',
    isSluiceOnly: true,
    accepts: given(headers),
    returns: z.record(z.string(), z.string()),
    default: {},
    label: 'Headers',
  },
  oauth2: {
    kind: 'object',
    description: 'Adds an access token to webhooks. Null, the default: none.',
    isSluiceOnly: true,
    accepts: oauth2Credentials.nullish(),
    returns: oauth2Client.nullable(),
    default: null,
    label: 'OAuth 2.0',
  },
  maxInFlight: optionalNumber({
    kind: 'integer',
    description: 'Maximum webhooks of the stream in flight, 1 to 64. Null, the default, means 64.',
    isSluiceOnly: true,
    flag: { syntax: '--max-in-flight <n>', help: 'Maximum number of concurrent webhooks' },
    label: 'Max in flight',
    input: {
      part: 'deliver',
      hint: 'Webhooks sent at the same time.',
      placeholder: '64',
      least: 1,
      most: 64,
    },
  }),
  maxPerSecond: optionalNumber({
    kind: 'number',
    description:
      'Maximum webhooks of the stream per second, evenly spaced, including retries, 0.01 to 10,000. Null, the default, means no limit.',
    isSluiceOnly: true,
    flag: { syntax: '--max-per-second <n>', help: 'Maximum number of webhooks per second' },
    label: 'Max per second',
    input: {
      part: 'deliver',
      hint: 'Includes retries. Requests are evenly spaced.',
      placeholder: 'no limit',
      least: 0.01,
      most: 10_000,
    },
  }),
  maxWebhookBytes: optionalNumber({
    kind: 'integer',
    description:
      "Maximum size of the stream's webhooks in bytes, from 65,536; a larger one is sent in parts. Null, the default, means `--max-webhook-bytes`.",
    isSluiceOnly: true,
    flag: {
      syntax: '--max-webhook-bytes <n>',
      help: 'Maximum size of a webhook; a larger one is sent in parts',
    },
    label: 'Max bytes',
    input: {
      part: 'deliver',
      hint: 'A larger webhook is sent in parts.',
      placeholder: 'service limit',
      least: 65_536,
      most: 2 ** 30,
    },
  }),
  timeoutSeconds: optionalNumber({
    kind: 'number',
    description:
      'Time for each attempt of a webhook, from the connection to the end of the response, in seconds, 1 to 60. Null, the default, means 15.',
    isSluiceOnly: true,
    flag: { syntax: '--webhook-timeout <seconds>', help: 'Time for each attempt of a webhook' },
    label: 'Timeout',
    input: {
      part: 'deliver',
      hint: 'Seconds for each attempt.',
      placeholder: '15',
      least: 1,
      most: 60,
    },
  }),
  retries: {
    kind: 'text',
    description:
      'Retries of failed webhooks. `standard`, the default: 7 over about 45 hours, with a fast retry first. `short`: after 5 s, 30 s, 2 min and 10 min. `long`: the waits of `standard`, then 6 more of a day each. `none`: no retries. Or a list of up to 50 waits in seconds, each at most a week. Together, the waits must be shorter than the retention of undelivered webhooks.',
    isSluiceOnly: true,
    accepts: given(retries),
    returns: retries,
    default: 'standard',
    flag: {
      syntax: '--retries <waits>',
      help: 'Schedule of retries: standard, short, long, none, or waits such as 30s,5m,1h',
    },
    label: 'Retries',
  },
  strictOrder: boolean({
    description:
      'Sends one webhook at a time, in order of creation; a failed one blocks the rest until its retries end.',
    isSluiceOnly: true,
    flag: { syntax: '--strict-order', help: 'Send one webhook at a time, in chain order' },
    label: 'Strict order',
    input: { part: 'deliver', hint: 'one at a time; a failed one blocks the rest' },
  }),
} as const satisfies Fields;

/** Fields of an additional destination of a stream. */
export const additionalFields = {
  webhookUrl: destinationFields.webhookUrl,
  description: {
    kind: 'text',
    accepts: given(destinationFields.description.accepts),
    returns: z.string(),
    default: '',
  },
  headers: deliveryFields.headers,
  oauth2: deliveryFields.oauth2,
  maxInFlight: deliveryFields.maxInFlight,
  maxPerSecond: deliveryFields.maxPerSecond,
  timeoutSeconds: deliveryFields.timeoutSeconds,
  retries: deliveryFields.retries,
  strictOrder: deliveryFields.strictOrder,
} as const satisfies Fields;

/** Fields that only the service sets. */
export const statusFields = {
  status: { kind: 'text', isReadOnly: true, returns: streamStatus },
  statusMessage: { kind: 'text', isReadOnly: true, returns: z.string(), default: '' },
  isErrorSince: {
    kind: 'text',
    description: 'ISO 8601; null unless the status is `error`.',
    isReadOnly: true,
    returns: z.iso.datetime().nullable(),
    default: null,
  },
} as const satisfies Fields;

export const id = { kind: 'text', isReadOnly: true, returns: z.uuid() } as const;

export const amountOfAddresses = {
  kind: 'integer',
  isReadOnly: true,
  returns: z.int().nonnegative(),
} as const;
