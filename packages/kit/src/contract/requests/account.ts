import * as z from 'zod';
import { component, sent, sentShape, typed } from '../named.ts';
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
  chainId,
  flagText,
  page,
  several,
  streamId,
  text,
  transactionHash,
  WHOLE_NUMBER,
  wholeNumber,
  wholeNumberText,
} from './fields.ts';

export const listQuerySchema = sentShape(
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
  chainId: several(chainId, CHAIN_ID).describe('Chain ids in hex.'),
  blockNumber: several(wholeNumberText, WHOLE_NUMBER),
  fromTimestamp: timestamp,
  toTimestamp: timestamp,
};

const historyFilter = sentShape(
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

const logFilter = sentShape(
  'LogFilter',
  'Filters the delivery logs; absent fields match all rows.',
  z.object({
    ...filterFields,
    deliveryStatus: typed(
      'DeliveryStatus[]',
      several(deliveryStatus, { type: 'string', enum: deliveryStatus.options }),
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
    secretKey: text(1024).min(1, { error: 'should not be empty' }).optional(),
  }),
);

export const createApiKeySchema: z.ZodType<CreateApiKey> = sent(
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
