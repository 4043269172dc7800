import * as z from 'zod';
import { component, namedRequest, requestShape, typed } from '../named.ts';
import { MAX_BODY_QUERY_LENGTH, readBodyQuery } from '../rules/bodyQuery.ts';
import { readInboxName } from '../rules/inbox.ts';
import { fromBase64 } from '../rules/signature.ts';
import { MAX_FIND_LENGTH } from '../values.ts';
import type {
  CreateReplay,
  DeliveryFilter,
  DeliveryOrder,
  DeliverySearch,
  ListOptions,
  SendCopy,
} from '../shapes.generated.ts';
import { attemptResult } from './enums.ts';
import {
  deliveryFilter,
  flagText,
  page,
  replayFilter,
  text,
  WHOLE_NUMBER,
  wholeNumberText,
  withStream,
} from './fields.ts';

const deliveryOrder = requestShape(
  'DeliveryOrder',
  'The order of a delivery list.',
  z.object({
    order: z
      .enum(['newest', 'oldest'], { error: 'should be newest or oldest' })
      .optional()
      .describe('Which deliveries come first. Default: `newest`.'),
  }),
);

const attempted = wholeNumberText.optional();

const deliverySearch = requestShape(
  'DeliverySearch',
  'Conditions that no index covers: a page checks a limited number of deliveries, may be empty, and has a cursor until all are checked.',
  z.object({
    find: text(MAX_FIND_LENGTH)
      .min(1, { error: 'should not be empty' })
      .optional()
      .describe(
        'A transaction hash, a complete address in the body, or part of the summary line or of the label of a watched address in the body. Case-insensitive for a to z.',
      ),
    body: text(MAX_BODY_QUERY_LENGTH)
      .refine((query) => readBodyQuery(query) !== undefined, {
        error: 'should be text, or a path such as $.logs[*].address, optionally with = and a value',
      })
      .optional()
      .describe(
        'Part of the JSON text of the body, or a path that exists in the body: `$.logs[*].address`. With `=` and a value, the value at the path: `$.block.number = 23835256`. Case-insensitive for a to z.',
      ),
    attemptedFrom: attempted.meta({
      ...WHOLE_NUMBER,
      description: 'When one of its attempts ended, in Unix milliseconds.',
    }),
    attemptedTo: attempted.meta({ ...WHOLE_NUMBER, description: 'Unix milliseconds.' }),
    durationFrom: attempted.meta({
      ...WHOLE_NUMBER,
      description: 'Duration of the same attempt, in milliseconds.',
    }),
    durationTo: attempted.meta({ ...WHOLE_NUMBER, description: 'Milliseconds.' }),
    attemptResult: attemptResult.optional().describe('Result of the same attempt.'),
  }),
);

export const listDeliveriesQuerySchema: z.ZodType<
  DeliveryFilter & DeliveryOrder & DeliverySearch & ListOptions & { limit: number }
> = requestShape(
  'ListDeliveriesOptions',
  'Filter, search, order and page of a delivery list. Default: all deliveries.',
  typed(
    'ListOptions & DeliveryFilter & DeliveryOrder & DeliverySearch',
    withStream(
      z.object({
        ...page,
        ...deliveryOrder.shape,
        ...deliverySearch.shape,
        ...deliveryFilter(wholeNumberText, flagText),
      }),
    ),
  ),
);

export const deliveryCountsQuerySchema: z.ZodType<DeliveryFilter> = typed(
  'DeliveryFilter',
  withStream(z.object(deliveryFilter(wholeNumberText, flagText))),
);

export const estimateReplaySchema: z.ZodType<{ filter: DeliveryFilter }> = component(
  'EstimateReplay',
  z.strictObject({ filter: replayFilter }),
);

export const createReplaySchema: z.ZodType<CreateReplay> = namedRequest(
  'CreateReplay',
  'The deliveries to send again, and the rate.',
  z.strictObject({
    name: text(128)
      .min(1, { error: 'should not be empty' })
      .describe('Display name, at most 128 characters.'),
    filter: replayFilter.describe('At least one field is required.'),
    perSecond: z
      .number({ error: 'should be a number from 0.1 to 1000' })
      .min(0.1, { error: 'should be at least 0.1' })
      .max(1000, { error: 'should be at most 1000' })
      .optional()
      .describe('Deliveries queued per second, 0.1 to 1000. Default: 50.'),
  }),
);

/** Maximum length of the body of a copy, in characters. */
const MAX_COPY_LENGTH = 500_000;

const isJson = (body: string): boolean => {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
};

export const sendCopySchema: z.ZodType<SendCopy> = namedRequest(
  'SendCopy',
  'An edited copy of a delivery, and where to send it.',
  z.strictObject({
    url: text(2048)
      .refine(
        (url) => readInboxName(url) !== undefined || (/^https?:/i.test(url) && URL.canParse(url)),
        { error: 'should be an absolute http:// or https:// URL, or sluice://inbox/<name>' },
      )
      .describe('A test URL, or an inbox. The address rules for webhook URLs apply.'),
    body: text(MAX_COPY_LENGTH)
      .refine(isJson, { error: 'should be JSON' })
      .describe('JSON, which is sent and signed unchanged.'),
    secret: text(256)
      .regex(/^[!-~]{8,}$/, { error: 'should have at least 8 printable characters, no spaces' })
      .refine(
        (secret) => !secret.startsWith('whsec_') || fromBase64(secret.slice(6)) !== undefined,
        {
          error: 'should be base64 after whsec_',
        },
      )
      .describe('The test secret, which alone signs the copy.'),
  }),
);

export const explainQuerySchema = z.object({
  q: z
    .string({ error: 'should be a transaction, block, version, address or delivery' })
    .trim()
    .min(1, { error: 'should be a transaction, block, version, address or delivery' })
    .max(200, { error: 'should have at most 200 characters' }),
  chain: z.string().max(100, { error: 'should be a chain, e.g. 0x1 or aptos:mainnet' }).optional(),
});
