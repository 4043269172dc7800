/**
 * Schemas of fields that several requests share. Each error message describes a valid value; the
 * service adds the path of the field and the received value.
 */
import * as z from 'zod';
import { TYPE_HINTS, requestShape, typed } from '../named.ts';
import { CHAIN_KINDS, toAnyChainId } from '../../families/chains.ts';
import { toChainId } from '../../families/evm/chains.ts';
import type { DeliveryFilter } from '../shapes.generated.ts';
import { PAGE_LIMIT } from '../values.ts';
import { deliveryPhase, deliveryState } from './enums.ts';

/** Makes a field optional. Null means that the field is absent. */
export const givenOrNull = <Value, Input>(field: z.ZodType<Value, Input>) =>
  field.nullish().transform((value) => value ?? undefined);

/**
 * Makes a field optional, and excludes null from its generated type. Null is still accepted,
 * because some clients send it.
 */
export function given<Value, Input>(field: z.ZodType<Value, Input>) {
  const schema = givenOrNull(field);
  TYPE_HINTS.add(schema, { hidesNull: true });
  return schema;
}

/** Checks the size of a value first, so that the contents of an oversized value are not parsed. */
export const bounded = <Schema extends z.ZodType>(
  schema: Schema,
  isWithin: (given: unknown) => boolean,
  message: string,
) =>
  z.preprocess((given, context) => {
    if (isWithin(given)) return given;
    context.addIssue({ code: 'custom', message, input: given });
    return z.NEVER;
  }, schema);

/** Accepts the values for which `read` returns a string, and converts each to that string. */
export const normalized = <Value extends string>(
  read: (value: unknown) => Value | undefined,
  message: string,
): z.ZodType<Value> =>
  z.unknown().transform((value, context) => {
    const normal = read(value);
    if (normal !== undefined) return normal;
    context.addIssue({ code: 'custom', message, input: value });
    return z.NEVER;
  });

/**
 * Returns the schema of an optional list that also accepts a single value, as in a query parameter
 * that may be repeated. `items` is the JSON Schema of each value.
 */
export const listOrItem = <Item>(item: z.ZodType<Item>, items: object, maxItems?: number) => {
  const some = z.array(item).min(1, { error: 'should name at least one' });
  const list =
    maxItems === undefined
      ? some
      : some.max(maxItems, { error: `should name at most ${maxItems}` });
  return z
    .preprocess(
      (given) => (given === undefined || Array.isArray(given) ? given : [given]),
      list.optional(),
    )
    .meta({ type: 'array', items, minItems: 1, ...(maxItems !== undefined && { maxItems }) });
};

/** Accepts strings of limited length without NUL characters, which PostgreSQL cannot store. */
export const text = (maxLength: number) =>
  z
    .string()
    .max(maxLength, { error: `should be at most ${maxLength} characters` })
    .refine((it) => !it.includes('\0'), { error: 'should not contain a NUL character' });

export const wholeNumberBetween = (least: number, most: number) => {
  const error = `should be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
};

const wholeNumberError = { error: 'should be a whole number, 0 or more' };
const isComplete = (it: number): boolean => Number.isSafeInteger(it) && it >= 0;

export const wholeNumber = z.number(wholeNumberError).refine(isComplete, wholeNumberError);

// In a query, numbers and flags are strings.
export const wholeNumberText = z
  .string(wholeNumberError)
  .regex(/^\d+$/, wholeNumberError)
  .transform(Number)
  .refine(isComplete, wholeNumberError);

export const flagText = typed(
  'boolean',
  z.enum(['true', 'false'], { error: 'should be true or false' }).transform((it) => it === 'true'),
);

export const queryCount = (least: number, most: number, fallback: number) => {
  const error = `should be a whole number from ${least} to ${most}`;
  return z.coerce
    .number({ error })
    .int({ error })
    .min(least, { error })
    .max(most, { error })
    .default(fallback);
};

// JSON Schemas for the OpenAPI document. They cannot be derived from schemas that convert values.
export const WHOLE_NUMBER = { type: 'integer', minimum: 0 };
export const CHAIN_ID = { type: 'string', description: 'Chain ID in hex', examples: ['0x1'] };
const UUID = { type: 'string', format: 'uuid' };

export const streamId = z.uuid({ error: 'should be a stream ID, a UUID' });

export const chainId = normalized(
  toChainId,
  'should be a chain ID in hex, e.g. 0x1 (names such as eth are not chain IDs)',
).meta(CHAIN_ID);

/**
 * A chain of any family. It is parsed to the form that Sluice's own routes use.
 */
export const anyChain: z.ZodType<string> = normalized(
  toAnyChainId,
  `should be ${CHAIN_KINDS}`,
).meta({
  type: 'string',
});

const limitError = { error: `should be a whole number from 1 to ${PAGE_LIMIT}` };

export const page = {
  limit: z.coerce
    .number(limitError)
    .refine((it) => Number.isInteger(it) && it >= 1 && it <= PAGE_LIMIT, limitError)
    .default(PAGE_LIMIT)
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: PAGE_LIMIT,
      description: 'Rows per page, 1 to 100. Default: 100.',
    }),
  cursor: z
    .string()
    .max(1024, { error: 'should be the cursor of an earlier response, unchanged' })
    .optional()
    .describe('The `cursor` of the previous page.'),
};

export const onlyDestination = wholeNumber
  .optional()
  .describe(
    'The only destination that gets the webhooks: 0 for the `webhookUrl`, or the number of an additional one. Default: all. Sluice only.',
  );

/** The name of a receiver, as `receiverOf` returns it. */
export const receiver = text(300).min(1, { error: 'should not be empty' });

const responseStatus = z.string().regex(/^([1-5]\d\d|[1-5]xx|none)$/, {
  error: 'should be a status, e.g. 404, a class of statuses, e.g. 5xx, or none',
});

/**
 * Maximum number of delivery ids in a filter. Filters are also sent in URLs, which must stay short.
 */
const MAX_DELIVERY_IDS = 500;

/** Creates a filter by one or several values. A delivery matches if it has any of them. */
const anyOf = <Item>(tsType: string, item: z.ZodType<Item>, items: object, maxItems?: number) =>
  typed(`OneOrMany<${tsType}>`, listOrItem(item, items, maxItems));

/** A transaction hash; its casing is preserved. */
export const transactionHash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, { error: 'should be 0x and 64 hex digits' });

/**
 * Returns the fields of a delivery filter. The schemas of numbers and flags are parameters, because
 * a query contains them as strings.
 */
export const deliveryFilter = (whole: z.ZodType<number>, flag: z.ZodType<boolean>) => {
  const number = whole.optional().meta(WHOLE_NUMBER);
  return {
    id: anyOf(
      'string',
      z.uuid({ error: 'should be a delivery ID, a UUID' }),
      UUID,
      MAX_DELIVERY_IDS,
    ).describe('Delivery IDs, at most 500.'),
    streamId: anyOf('string', streamId, UUID),
    destination: number.describe(
      'One destination of the streams: 0 for the `webhookUrl`, or the number of an additional one. Only with `streamId`. Default: all.',
    ),
    receiver: receiver
      .optional()
      .describe(
        'Only destinations whose current URL has this host, such as `api.example:8443`, or this inbox: `inbox demo`.',
      ),
    chainId: anyOf('string', anyChain, { type: 'string', examples: ['0x1'] }).describe(
      'In hex; for Aptos, `aptos:` and the network.',
    ),
    state: anyOf('DeliveryState', deliveryState, {
      type: 'string',
      enum: deliveryState.options,
    }).describe('Current state.'),
    phase: anyOf('DeliveryPhase', deliveryPhase, {
      type: 'string',
      enum: deliveryPhase.options,
    }).describe('`removed`: the removal webhook, after the block left the chain.'),
    status: anyOf('string', responseStatus, { type: 'string' }).describe(
      'Response to the last attempt: a status (`404`), a class (`5xx`), or `none`.',
    ),
    error: text(256)
      .min(1, { error: 'should not be empty' })
      .optional()
      .describe('Part of the error of the last attempt, case-insensitive.'),
    transactionHash: transactionHash
      .optional()
      .describe('Deliveries with records of this transaction.'),
    blockFrom: number,
    blockTo: number,
    createdFrom: number.describe('When the delivery was created, in Unix milliseconds.'),
    createdTo: number.describe('Unix milliseconds.'),
    attemptsFrom: number,
    attemptsTo: number,
    reorged: flag
      .optional()
      .meta({ type: 'boolean', description: 'Whether its block left the chain.' }),
    replayId: z
      .uuid({ error: 'should be a replay ID, a UUID' })
      .optional()
      .describe('The replay that last sent it again.'),
  };
};

/** Requires streams in a filter by destination, because each stream numbers its own. */
export const withStream = <Schema extends z.ZodType<DeliveryFilter>>(schema: Schema): Schema =>
  schema.refine((it) => it.destination === undefined || it.streamId !== undefined, {
    path: ['destination'],
    error: 'should be used together with streamId, because each stream numbers its destinations',
  });

export const replayFilter: z.ZodType<DeliveryFilter> = requestShape(
  'DeliveryFilter',
  'Matches deliveries that match every given field. Ranges include both ends.',
  withStream(
    z.strictObject(deliveryFilter(wholeNumber, z.boolean({ error: 'should be true or false' }))),
  ).refine((it) => Object.values(it).some((value) => value !== undefined), {
    error: 'should have at least one field, e.g. {"state": "failed"}',
  }),
);
