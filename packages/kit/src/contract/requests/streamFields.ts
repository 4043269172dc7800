/** Schemas of the fields that new streams, stream updates and dry runs share. */
import * as z from 'zod';
import { sentShape, shape, typed } from '../named.ts';
import { APTOS_NETWORKS, toAptosNetwork } from '../rules/chains/aptos.ts';
import { parseEventSignature } from '../rules/events.ts';
import { readInboxName } from '../rules/inbox.ts';
import { abiSchema } from './abi.ts';
import { deliverMode, unverifiedMode } from './enums.ts';
import { bounded, chainId, given, givenOrNull, spelled, text } from './fields.ts';
import { advancedOptionSchema, nativeBalanceSelectionSchema, triggerSchema } from './triggers.ts';

const webhookUrl = text(2048)
  .refine(
    (text) =>
      (/^https?:\/\//i.test(text) && URL.canParse(text)) || readInboxName(text) !== undefined,
    { error: 'should be an absolute http:// or https:// URL, or sluice://inbox/<name>' },
  )
  .describe('Receiver of the webhooks: `http:`, `https:` or `sluice://inbox/<name>`.');

const chainIds = z
  .array(chainId, { error: 'should be an array of hex chain IDs, e.g. ["0x1"]' })
  .min(1, { error: 'should name at least one chain, e.g. ["0x1"]' })
  .max(100, { error: 'should name at most 100 chains' })
  .transform((ids) => [...new Set(ids)])
  .describe('Hex chain IDs, e.g. `["0x1", "0x89"]`; at least one.');

/** Maximum total length of the event signatures in one field, in characters. */
const MAX_EVENT_CHARACTERS = 100_000;
const EVENTS_TOO_LONG = `should name events of at most ${MAX_EVENT_CHARACTERS} characters in total`;

/**
 * Returns whether the strings that `read` returns for the elements of a list have at most
 * {@link MAX_EVENT_CHARACTERS} characters in total.
 */
const areShort = (given: unknown, read: (each: unknown) => unknown): boolean => {
  let left = MAX_EVENT_CHARACTERS;
  for (const each of Array.isArray(given) ? given : []) {
    const text = read(each);
    if (typeof text === 'string') left -= text.length;
  }
  return left >= 0;
};

const topic0 = bounded(
  z
    .array(
      z.string().refine((text) => parseEventSignature(text) !== undefined, {
        error:
          'should be an event signature, e.g. Transfer(address,address,uint256), or its 32-byte hash',
      }),
    )
    .max(1000, { error: 'should list at most 1000 events' }),
  (given) => areShort(given, (each) => each),
  EVENTS_TOO_LONG,
);

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

const printable = (maxLength: number) =>
  text(maxLength).regex(/^[\x20-\x7e]+$/, { error: 'should be printable ASCII, not empty' });

/** Matches URLs without login, which belongs in `clientId` and `clientSecret`, and fragment. */
const TOKEN_URL = /^https?:\/\/[^\s/?#@]+([/?][^\s#]*)?$/i;

const oauth2Credentials = sentShape(
  'OAuth2Credentials',
  'OAuth 2.0 client credentials.',
  z.strictObject({
    tokenUrl: text(2048).refine((url) => TOKEN_URL.test(url) && URL.canParse(url), {
      error: 'should be an absolute http:// or https:// URL without login and fragment',
    }),
    clientId: printable(256),
    clientSecret: printable(1024).meta({ format: 'password' }),
    scope: given(printable(1024)),
    audience: given(printable(1024)),
  }),
);

const shown = z.string();

export const oauth2Client = shape(
  'OAuth2Client',
  'OAuth2Credentials without the secret.',
  z.strictObject({
    tokenUrl: shown,
    clientId: shown,
    scope: shown.exactOptional(),
    audience: shown.exactOptional(),
  }),
);

/** Descriptions of the fields that limit a stream's deliveries, for requests and responses. */
export const LIMITS = {
  maxInFlight: 'Maximum webhooks of the stream in flight, 1 to 64. Null, the default, means 64.',
  maxPerSecond:
    'Maximum webhooks of the stream per second, evenly spaced, including retries, 0.01 to 10,000. Null, the default, means no limit.',
  maxWebhookBytes:
    "Maximum size of the stream's webhooks in bytes, from 65,536; a larger one is sent in parts. Null, the default, means `--max-webhook-bytes`.",
  strictOrder:
    'Sends one webhook at a time, in order of creation; a failed one blocks the rest until its retries end. Default: false.',
};

const demo = given(z.boolean()).describe(
  'The hosted service shows the webhooks of a demo stream in its panel and sends none.',
);

/** Fields that only Sluice has, for streams of both chain families. */
const ownFields = {
  headers: given(headers).describe(
    'Sent with each webhook: at most 20, each value at most 1024 printable ASCII characters. Default: none. Sluice only.',
  ),
  oauth2: oauth2Credentials
    .nullish()
    .describe('Adds an access token to webhooks. Null, the default: none. Sluice only.'),
  maxInFlight: z
    .int({ error: 'should be a whole number from 1 to 64, or null' })
    .min(1, { error: 'should be at least 1' })
    .max(64, { error: 'should be at most 64' })
    .nullish()
    .describe(`${LIMITS.maxInFlight} Sluice only.`),
  maxPerSecond: z
    .number({ error: 'should be a number from 0.01 to 10000, or null' })
    .min(0.01, { error: 'should be at least 0.01' })
    .max(10_000, { error: 'should be at most 10000' })
    .nullish()
    .describe(`${LIMITS.maxPerSecond} Sluice only.`),
  maxWebhookBytes: z
    .int({ error: 'should be a whole number of bytes, or null' })
    .min(65_536, { error: 'should be at least 65536' })
    .max(2 ** 30, { error: 'should be at most 1073741824' })
    .nullish()
    .describe(`${LIMITS.maxWebhookBytes} Sluice only.`),
  strictOrder: given(z.boolean()).describe(`${LIMITS.strictOrder} Sluice only.`),
};

export const evmFields = {
  webhookUrl,
  description: text(4096),
  tag: given(text(256)).describe(
    'Included in each webhook; official receivers require a letter or digit in it.',
  ),
  chainIds,
  topic0: givenOrNull(topic0).describe(
    'Event signatures, as text (`Transfer(address,address,uint256)`) or as a 32-byte hash.',
  ),
  allAddresses: given(z.boolean()).describe(
    'Match every address; needs `topic0` or `advancedOptions`. Default: false.',
  ),
  includeNativeTxs: given(z.boolean()).describe(
    'Transactions from or to a watched address. Default: false.',
  ),
  includeContractLogs: given(z.boolean()).describe(
    'Logs that a watched address emitted or that contain it in a topic. Default: false.',
  ),
  includeInternalTxs: given(z.boolean()).describe(
    'Calls inside transactions that move value. Default: false.',
  ),
  includeAllTxLogs: given(z.boolean()).describe(
    'Every log of each matched transaction. Default: false.',
  ),
  getNativeBalances: givenOrNull(
    z.array(nativeBalanceSelectionSchema).max(32, { error: 'should have at most 32 entries' }),
  ).describe('Native balances to include.'),
  abi: typed('AbiItem[] | null', givenOrNull(abiSchema)).describe(
    'Event items for decoding; included in each webhook. Also accepts an artifact that contains them in `abi`, and JSON text.',
  ),
  advancedOptions: givenOrNull(
    bounded(
      z.array(advancedOptionSchema).max(1000, { error: 'should have at most 1000 entries' }),
      (options) => areShort(options, (each) => (each as { topic0?: unknown } | null)?.topic0),
      EVENTS_TOO_LONG,
    ),
  ).describe('Filters on events.'),
  demo,
  triggers: givenOrNull(
    z.array(triggerSchema).max(32, { error: 'should have at most 32 triggers' }),
  ).describe('Read-only calls made for each record of a kind.'),
  filterPossibleSpamAddresses: given(z.boolean()).describe(
    'Leaves out records of contracts on the spam list of their chain.',
  ),
  deliver: given(deliverMode).describe(
    '`confirmed`: nothing is sent when the block appears. Default: `both`. Sluice only; the hosted service rejects the key.',
  ),
  notifyRemoved: given(z.boolean()).describe(
    'Sends a removal webhook (`removed: true`) for each sent delivery whose block left the chain. Default: false. Sluice only.',
  ),
  unverified: given(unverifiedMode).describe(
    '`hold`: webhooks of unverified blocks are held until another node confirms the block, or until they are released. Default: `send`, with the header `x-sluice-unverified`. Sluice only.',
  ),
  includeProofs: given(z.boolean()).describe(
    "Adds a proof of each transaction's receipt to webhooks, on proven chains. Default: false. Sluice only.",
  ),
  ...ownFields,
};

const movePaths = z
  .array(
    z.string().refine((path) => /^0x[0-9a-fA-F]{1,64}(::\w+){2}(<.+>)?$/.test(path), {
      error: 'should be a Move path, e.g. 0x1::coin::WithdrawEvent',
    }),
  )
  .max(1000, { error: 'should list at most 1000 paths' });

export const aptosFields = {
  webhookUrl,
  description: text(4096),
  tag: text(256).describe(
    'Included in each webhook; official receivers require a letter or digit in it.',
  ),
  network: z
    .array(
      typed(
        'AptosNetwork',
        spelled(toAptosNetwork, `should be one of ${APTOS_NETWORKS.join(', ')}`),
      ).meta({ type: 'string', enum: [...APTOS_NETWORKS, '1', '2'] }),
      { error: 'should be an array of networks, e.g. ["mainnet"]' },
    )
    .min(1, { error: 'should name at least one network, e.g. ["mainnet"]' })
    .transform((names) => [...new Set(names)])
    .describe('At least one.'),
  functions: givenOrNull(movePaths).describe(
    'Entry functions as Move paths, e.g. `0x1::aptos_account::transfer`.',
  ),
  events: givenOrNull(movePaths).describe(
    'Event types as Move paths, e.g. `0x1::coin::WithdrawEvent`.',
  ),
  includePayload: given(z.boolean()).describe(
    'Payloads of the matched transactions. Default: false.',
  ),
  includeEvents: given(z.boolean()).describe('Events of the matched transactions. Default: false.'),
  includeChanges: given(z.boolean()).describe(
    'State changes of the matched transactions. Default: false.',
  ),
  demo,
  allAddresses: given(z.boolean()).describe(
    'Match every address; needs `functions` or `events`. Default: false.',
  ),
  ...ownFields,
};
