import * as z from 'zod';
import { component, namedRequest, requestShape, typed } from '../named.ts';
import { CHAIN_FORMATS, familyOf } from '../../families/chains.ts';
import type {
  CreateApiKey,
  HistoryFilter,
  ListOptions,
  LogFilter,
  Settings,
} from '../shapes.generated.ts';
import { deliveryStatus, region, scope } from './enums.ts';
import {
  CHAIN_ID,
  anyChain,
  chainId,
  flagText,
  page,
  listOrItem,
  streamId,
  text,
  transactionHash,
  WHOLE_NUMBER,
  wholeNumber,
  wholeNumberText,
} from './fields.ts';

export const listQuerySchema = requestShape(
  'ListOptions',
  'Cursor and page size of a list.',
  z.object(page),
);

type PagePlace = ListOptions & { limit: number };

const timestamp = wholeNumberText.optional().meta({
  ...WHOLE_NUMBER,
  description:
    'When the webhook was created, inclusive: Unix seconds, or milliseconds if at least 100000000000. The hosted service does not document its unit.',
});

const filterFields = {
  streamId: streamId.optional(),
  transactionHash: transactionHash.optional(),
  chainId: listOrItem(chainId, CHAIN_ID).describe('Chain IDs in hex.'),
  blockNumber: listOrItem(wholeNumberText, WHOLE_NUMBER),
  fromTimestamp: timestamp,
  toTimestamp: timestamp,
};

const historyFilter = requestShape(
  'HistoryFilter',
  'Filters the history; absent fields match all rows. Page options are passed with it.',
  z.object({
    ...filterFields,
    excludePayload: flagText.optional().describe('Leaves `payload` out of each row.'),
  }),
);

export const listHistoryQuerySchema: z.ZodType<HistoryFilter & PagePlace> = z.object({
  ...page,
  ...historyFilter.shape,
});

const logFilter = requestShape(
  'LogFilter',
  'Filters the delivery logs; absent fields match all rows.',
  z.object({
    ...filterFields,
    deliveryStatus: typed(
      'DeliveryStatus[]',
      listOrItem(deliveryStatus, { type: 'string', enum: deliveryStatus.options }),
    ),
  }),
);

export const listLogsQuerySchema: z.ZodType<LogFilter & PagePlace> = z.object({
  ...page,
  ...logFilter.shape,
});

export const settingsSchema: z.ZodType<Settings> = component(
  'SetSettings',
  z.strictObject({
    region: region.optional(),
    secretKey: text(1024)
      .min(1, { error: 'should not be empty' })
      .meta({ format: 'password' })
      .optional(),
  }),
);

/** Matches characters that are invisible, end a line, or change the direction of the text. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

export const signInSchema = component(
  'SignIn',
  z.strictObject({
    apiKey: z.string().meta({ format: 'password' }),
    sessionName: text(60)
      .refine((it) => !HIDDEN.test(it), {
        error: 'should be one line of visible characters',
      })
      .transform((it) => it.trim())
      .optional()
      .describe('Who signs in, for the audit log; at most 60 characters.'),
  }),
);

export const createApiKeySchema: z.ZodType<CreateApiKey> = namedRequest(
  'CreateApiKey',
  'A new API key.',
  z.strictObject({
    name: text(100)
      .min(1, { error: 'should not be empty' })
      .describe('Its purpose, 1 to 100 characters.'),
    scopes: z
      .array(scope)
      .min(1, { error: 'should name at least one scope, or be left out for all of them' })
      .optional()
      .describe('Default: all of them.'),
    cidrs: z
      .array(
        z.union([z.cidrv4(), z.cidrv6()], {
          error: 'should be a network such as 10.0.0.0/8 or 2001:db8::/32',
        }),
      )
      .max(20, { error: 'should have at most 20 networks' })
      .optional()
      .describe('At most 20. Default: from anywhere.'),
    expiresAt: wholeNumber.optional().describe('Unix milliseconds. Default: never.'),
  }),
);

/** Maximum length of a node URL or an alert URL. */
const MAX_URL_LENGTH = 2048;

/**
 * Creates the schema of a URL whose protocol matches `pattern`; `schemes` names the allowed
 * protocols in the error message. The parsed URL is normalized and has no fragment.
 */
const urlOf = (pattern: RegExp, schemes: string) =>
  text(MAX_URL_LENGTH)
    .transform((given, context) => {
      const url = URL.parse(given);
      if (url !== null && pattern.test(url.protocol) && hasReadableLogin(url)) {
        url.hash = '';
        return url.href;
      }
      context.addIssue({
        code: 'custom',
        message: `should be an absolute ${schemes} URL`,
        input: given,
      });
      return z.NEVER;
    })
    .meta({ type: 'string', maxLength: MAX_URL_LENGTH });

/**
 * Returns whether the user name and password of a URL can be decoded, which sending them requires.
 */
function hasReadableLogin({ username, password }: URL): boolean {
  try {
    return decodeURIComponent(username + password).length >= 0;
  } catch {
    return false;
  }
}

export const nodeUrlSchema = namedRequest(
  'NewNode',
  'A node of a chain.',
  z
    .strictObject({
      chainId: anyChain
        .exactOptional()
        .describe(
          'Chain ID in hex, or an Aptos network such as `aptos:mainnet`. Default: the chain that the node serves.',
        ),
      url: urlOf(/^(https?|wss?):$/, 'http://, https://, ws:// or wss://').describe(
        'URL of the node; for Aptos, of its REST API. It may contain keys and is stored encrypted.',
      ),
    })
    .superRefine(({ chainId: chain, url }, context) => {
      if (chain === undefined) return;
      const message = CHAIN_FORMATS[familyOf(chain)].nodeUrlProblem(url);
      if (message !== undefined) context.addIssue({ code: 'custom', message, path: ['url'] });
    }),
);

export const alertUrlSchema = namedRequest(
  'NewAlertUrl',
  'A URL to which the service POSTs alerts.',
  z.strictObject({
    url: urlOf(/^https?:$/, 'http:// or https://').describe(
      'It may contain keys and is stored encrypted.',
    ),
  }),
);
