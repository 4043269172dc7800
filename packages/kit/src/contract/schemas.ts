/**
 * Run-time checks of what clients send. Each message says what the field must be; the service adds
 * the field's path and the value that came.
 */
import * as z from 'zod';
import { SCOPES } from './shapes/access.ts';
import type { CreateApiKey, RotateStreamSecret } from './shapes/access.ts';
import { type ActivityStep, MOST_POINTS } from './shapes/activity.ts';
import { REGIONS } from './shapes/account.ts';
import type { Settings } from './shapes/account.ts';
import {
  APTOS_NETWORKS,
  findAptosNetwork,
  padAptosAddress,
  toAptosChain,
  toAptosNetwork,
} from './shapes/aptos.ts';
import type { CreateAptosStream, UpdateAptosStream } from './shapes/aptos.ts';
import type {
  AptosBackfill,
  AptosBlockChoice,
  AptosDryRun,
  EvmDryRun,
  DryRunBlock,
  HistoricalJob,
} from './shapes/blocks.ts';
import { toAddress } from './rules/evm.ts';
import { toChainId } from './rules/chainId.ts';
import type { HistoryFilter, LogFilter } from './shapes/history.ts';
import { readInboxName } from './shapes/inbox.ts';
import type { InboxAnswer } from './shapes.generated.ts';
import type { CreateReplay, DeliveryFilter } from './shapes/replays.ts';
import { DELIVERY_ORDERS, DELIVERY_STATES, type DeliveryOrder } from './shapes/sluice.ts';
import { PAGE_LIMIT } from './shapes/streams.ts';
import type {
  AbiItem,
  AbiParameter,
  AddressesBody,
  AdvancedOption,
  CreateEvmStream,
  LabelledAddressesBody,
  NativeBalanceSelection,
  StreamTrigger,
  UpdateEvmStream,
} from './shapes/streams.ts';
import { canonicalType, parseEventSignature } from './rules/events.ts';
import { component } from './named.ts';

const MOST_TYPE_CHARACTERS = 256;
const isAbiType = (type: string): boolean =>
  /^tuple(\[\d*\])*$/.test(type) || canonicalType(type) !== undefined;

export const abiParameterSchema: z.ZodType<AbiParameter> = component(
  'AbiParameter',
  z.lazy(() =>
    z
      .strictObject({
        name: z.string().default(''),
        type: z
          .string()
          .max(MOST_TYPE_CHARACTERS, {
            error: `should be at most ${MOST_TYPE_CHARACTERS} characters`,
            abort: true,
          })
          .refine(isAbiType, {
            error: 'should be a Solidity type, e.g. uint256, address[] or tuple',
            abort: true,
          }),
        indexed: z.boolean().optional(),
        components: z.array(abiParameterSchema).optional(),
        internalType: z.string().optional(),
      })
      .refine((it) => !it.type.startsWith('tuple') || it.components !== undefined, {
        error: 'a tuple should list its components',
        path: ['components'],
        abort: true,
      }),
  ),
);

export const abiItemSchema: z.ZodType<AbiItem> = component(
  'AbiItem',
  z
    .strictObject({
      type: z.enum(['event', 'function', 'error', 'constructor', 'fallback', 'receive'], {
        error: 'should be one of event, function, error, constructor, fallback, receive',
      }),
      name: z.string().optional(),
      inputs: z.array(abiParameterSchema).optional(),
      outputs: z.array(abiParameterSchema).optional(),
      anonymous: z.boolean().optional(),
      constant: z.boolean().optional(),
      payable: z.boolean().optional(),
      stateMutability: z.string().optional(),
      gas: z.number().optional(),
      signature: z
        .string()
        .regex(/^0x([0-9a-fA-F]{8}|[0-9a-fA-F]{64})$/, {
          error: 'should be a selector or a topic in hex, or be left out',
        })
        .optional()
        .describe('Written by web3.js; the name and inputs decide'),
    })
    .refine((it) => !['event', 'function', 'error'].includes(it.type) || Boolean(it.name), {
      error: 'an event, function or error should have a name',
      path: ['name'],
    })
    .refine(
      (it) => (it.inputs ?? []).filter((input) => input.indexed).length <= (it.anonymous ? 4 : 3),
      {
        error: 'an event should have at most 3 indexed inputs (4 when anonymous)',
        path: ['inputs'],
      },
    ),
);

const MOST_ITEMS = 1_000;
/** Inputs, outputs and their components in all items: the largest contracts have a third of it. */
const MOST_PARAMETERS = 5_000;

/** Where the OpenAPI document keeps {@link abiItemSchema}. */
const ABI_ITEM = { $ref: '#/components/schemas/AbiItem' };

/** Looks at the size of what was given before anything in it is looked at. */
const bounded = <Schema extends z.ZodType>(
  schema: Schema,
  isWithin: (given: unknown) => boolean,
  message: string,
) =>
  z.preprocess((given, context) => {
    if (isWithin(given)) return given;
    context.addIssue({ code: 'custom', message, input: given });
    return z.NEVER;
  }, schema);

/** A list of items; a single item stands for a list of one. */
const abi: z.ZodType<AbiItem[]> = bounded(
  z.preprocess(
    (given) => (typeof given === 'object' && given !== null ? [given].flat() : given),
    z.array(abiItemSchema).max(MOST_ITEMS, { error: `should have at most ${MOST_ITEMS} items` }),
  ),
  (given) => countParameters([given].flat()) <= MOST_PARAMETERS,
  `should have at most ${MOST_PARAMETERS} inputs, outputs and components in all`,
).meta({ anyOf: [{ type: 'array', items: ABI_ITEM, maxItems: MOST_ITEMS }, ABI_ITEM] });

/** Of what may be an ABI; stops counting at the first one too many. */
function countParameters(given: readonly unknown[]): number {
  let count = 0;
  const lists: (readonly unknown[])[] = [given];
  for (let list = lists.pop(); list !== undefined && count <= MOST_PARAMETERS; list = lists.pop()) {
    for (const each of list.slice(0, MOST_PARAMETERS + 1)) {
      if (typeof each !== 'object' || each === null) continue;
      for (const part of ['inputs', 'outputs', 'components']) {
        const parameters = (each as Record<string, unknown>)[part];
        if (!Array.isArray(parameters)) continue;
        count += parameters.length;
        lists.push(parameters);
      }
    }
  }
  return count;
}

/** Text of a bounded length. PostgreSQL cannot hold a NUL in it. */
const text = (maxLength: number) =>
  z
    .string()
    .max(maxLength, { error: `should be at most ${maxLength} characters` })
    .refine((it) => !it.includes('\0'), { error: 'should not contain a NUL character' });

const webhookUrl = text(2048).refine(
  (text) => (/^https?:\/\//i.test(text) && URL.canParse(text)) || readInboxName(text) !== undefined,
  { error: 'should be an absolute http:// or https:// URL, or sluice://inbox/<name>' },
);

/** Any value that `read` knows, as `read` spells it. */
const spelled = <Value extends string>(
  read: (value: unknown) => Value | undefined,
  message: string,
): z.ZodType<Value> =>
  z.unknown().transform((value, context) => {
    const spelling = read(value);
    if (spelling !== undefined) return spelling;
    context.addIssue({ code: 'custom', message, input: value });
    return z.NEVER;
  });

/** What JSON Schema shall say of a value that is not of one JSON type to us. */
const CHAIN_ID = { type: 'string', description: 'Chain id in hex', examples: ['0x1'] };

const chainId = spelled(
  toChainId,
  'should be a chain id in hex, e.g. 0x1 (names such as eth are not chain ids)',
).meta(CHAIN_ID);

const chainIds = z
  .array(chainId, { error: 'should be an array of hex chain ids, e.g. ["0x1"]' })
  .min(1, { error: 'should name at least one chain, e.g. ["0x1"]' })
  .max(100, { error: 'should name at most 100 chains' })
  .transform((ids) => [...new Set(ids)]);

/** Of the events that one field names. */
const MOST_EVENT_CHARACTERS = 100_000;
const EVENTS_TOO_LONG = `should name events of at most ${MOST_EVENT_CHARACTERS} characters in all`;

/** Whether the texts that `read` finds in a list are that short together. */
const areShort = (given: unknown, read: (each: unknown) => unknown): boolean => {
  let left = MOST_EVENT_CHARACTERS;
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

const recordKinds = ['tx', 'log', 'erc20transfer', 'erc20approval', 'nfttransfer'] as const;

export const advancedOptionSchema: z.ZodType<AdvancedOption> = component(
  'AdvancedOption',
  z.strictObject({
    topic0: z.string(),
    filter: z.record(z.string(), z.unknown()).optional(),
    includeNativeTxs: z.boolean().optional(),
  }),
);

export const nativeBalanceSelectionSchema: z.ZodType<NativeBalanceSelection> = component(
  'NativeBalanceSelection',
  z.strictObject({
    selectors: z.array(z.string()).max(100, { error: 'should have at most 100 selectors' }),
    type: z.enum([...recordKinds, 'internalTx']),
  }),
);

export const triggerSchema: z.ZodType<StreamTrigger> = component(
  'Trigger',
  z.strictObject({
    type: z.enum(recordKinds),
    contractAddress: z.string(),
    functionAbi: abiItemSchema,
    inputs: z.array(z.unknown()).optional(),
    topic0: z.string().optional(),
    callFrom: z.string().optional(),
  }),
);

const HEADER_LIMIT = 20;
/** Names that carry what the contract and HTTP say of a webhook. */
const RESERVED_HEADERS =
  /^(host|connection|content-.*|transfer-encoding|expect|upgrade|keep-alive|te|trailer|accept-encoding|user-agent|webhook-.*|x-signature|x-region|x-queue-size|x-records-charged|x-sluice-.*)$/i;

/** Headers of the user's own. */
const headers = bounded(
  z.record(
    z
      .string()
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, { error: 'should be the name of a header' })
      .refine((name) => !RESERVED_HEADERS.test(name), {
        error: 'should be another name: this header is set by the service',
      }),
    text(1024).regex(/^[\x20-\x7e]*$/, { error: 'should be printable ASCII' }),
  ),
  (given) => Object.keys(given ?? {}).length <= HEADER_LIMIT,
  `should have at most ${HEADER_LIMIT} entries`,
)
  // Names of headers have no case: one spelling, and none twice.
  .transform((it) =>
    Object.fromEntries(Object.entries(it).map(([name, value]) => [name.toLowerCase(), value])),
  );

/** An optional field. Some clients write null for what they leave out, so null is the same as absent. */
const given = <Value, Input>(field: z.ZodType<Value, Input>) =>
  field.nullish().transform((value) => value ?? undefined);

/** As in `StreamLimits`. */
const limits = {
  maxInFlight: z
    .int({ error: 'should be a whole number from 1 to 64, or null' })
    .min(1, { error: 'should be at least 1' })
    .max(64, { error: 'should be at most 64' })
    .nullish()
    .describe('Webhooks under way at once; null for 64. Ours'),
  maxPerSecond: z
    .number({ error: 'should be a number from 0.01 to 10000, or null' })
    .min(0.01, { error: 'should be at least 0.01' })
    .max(10_000, { error: 'should be at most 10000' })
    .nullish()
    .describe('Webhooks sent in a second; null for no limit. Ours'),
  strictOrder: given(z.boolean()).describe(
    'One webhook at a time, in order; one that fails holds up the rest. Ours',
  ),
};

const streamFields = {
  webhookUrl,
  description: text(4096),
  tag: given(text(256)).describe(
    'Echoed in each webhook; official receivers need a letter or digit in it',
  ),
  chainIds,
  topic0: given(topic0).describe('Events, as text or as 32-byte hash'),
  allAddresses: given(z.boolean()).describe('Match every address; needs topic0'),
  includeNativeTxs: given(z.boolean()).describe('Transactions from or to a watched address'),
  includeContractLogs: given(z.boolean()).describe('Logs that name a watched address'),
  includeInternalTxs: given(z.boolean()).describe('Calls inside transactions that move value'),
  includeAllTxLogs: given(z.boolean()).describe('Every log of each matched transaction'),
  getNativeBalances: given(
    z.array(nativeBalanceSelectionSchema).max(32, { error: 'should have at most 32 entries' }),
  ).describe('Whose native balance to send along'),
  abi: given(abi).describe('Event items used to decode; sent along in each webhook'),
  advancedOptions: given(
    bounded(
      z.array(advancedOptionSchema).max(1000, { error: 'should have at most 1000 entries' }),
      (options) => areShort(options, (each) => (each as { topic0?: unknown } | null)?.topic0),
      EVENTS_TOO_LONG,
    ),
  ).describe('Filters on events'),
  demo: given(z.boolean()),
  triggers: given(
    z.array(triggerSchema).max(32, { error: 'should have at most 32 triggers' }),
  ).describe('Read-only calls made for each record of a kind'),
  filterPossibleSpamAddresses: given(z.boolean()).describe(
    'Leaves out what concerns a contract on the spam list of its chain',
  ),
  deliver: given(z.enum(['both', 'confirmed'])).describe(
    'confirmed: nothing is sent when the block appears. Ours',
  ),
  notifyRemoved: given(z.boolean()).describe(
    'A notice for each delivery whose block left the chain. Ours',
  ),
  headers: given(headers).describe('Sent with each webhook. Ours'),
  ...limits,
};

export const createEvmStreamSchema: z.ZodType<CreateEvmStream> = component(
  'CreateEvmStream',
  z.strictObject(streamFields),
);

export const updateEvmStreamSchema: z.ZodType<UpdateEvmStream> = component(
  'UpdateEvmStream',
  z.strictObject({
    ...streamFields,
    webhookUrl: given(webhookUrl),
    description: given(streamFields.description),
    chainIds: given(chainIds),
  }),
);

const movePaths = z
  .array(
    z.string().refine((path) => /^0x[0-9a-fA-F]{1,64}(::\w+){2}(<.+>)?$/.test(path), {
      error: 'should be a Move path, e.g. 0x1::coin::WithdrawEvent',
    }),
  )
  .max(1000, { error: 'should list at most 1000 paths' });

const aptosFields = {
  webhookUrl,
  description: text(4096),
  tag: text(256),
  network: z
    .array(
      spelled(toAptosNetwork, `should be one of ${APTOS_NETWORKS.join(', ')}`).meta({
        type: 'string',
        enum: [...APTOS_NETWORKS, '1', '2'],
      }),
      { error: 'should be an array of networks, e.g. ["mainnet"]' },
    )
    .min(1, { error: 'should name at least one network, e.g. ["mainnet"]' })
    .transform((names) => [...new Set(names)]),
  functions: given(movePaths),
  events: given(movePaths),
  includePayload: given(z.boolean()),
  includeEvents: given(z.boolean()),
  includeChanges: given(z.boolean()),
  demo: given(z.boolean()),
  allAddresses: given(z.boolean()),
  headers: given(headers),
  ...limits,
};

export const createAptosStreamSchema: z.ZodType<CreateAptosStream> = component(
  'CreateAptosStream',
  z.strictObject(aptosFields),
);

export const updateAptosStreamSchema: z.ZodType<UpdateAptosStream> = component(
  'UpdateAptosStream',
  z.strictObject({
    ...aptosFields,
    webhookUrl: given(webhookUrl),
    description: given(aptosFields.description),
    tag: given(aptosFields.tag),
    network: given(aptosFields.network),
  }),
);

export const streamStatusSchema = component(
  'SetStreamStatus',
  z.strictObject({
    status: z.enum(['active', 'paused', 'error'], {
      error: 'should be one of active, paused, error (terminated is set by the service)',
    }),
  }),
);

/** One or several addresses; the parsed form is lower case. */
const oneOrSeveral = (address: z.ZodType<string>): z.ZodType<string | string[]> =>
  z.union([address, z.array(address).min(1, { error: 'should name at least one address' })], {
    error: 'should be an address or an array of addresses',
  });

const addresses = (address: z.ZodType<string>): z.ZodType<AddressesBody> =>
  z.strictObject({ address: oneOrSeveral(address) });

/** One EVM address in any casing; the parsed form is lower case. */
const evmAddress = z.string().transform((text, context) => {
  const address = toAddress(text);
  if (address !== undefined) return address;
  context.addIssue({
    code: 'custom',
    message: 'should be an EVM address: 0x and 40 hex digits',
    input: text,
  });
  return z.NEVER;
});

export const evmAddressesSchema = component('EvmAddresses', addresses(evmAddress));

/** Whether a text will do as the label of an address. */
export const isAddressLabel = (text: string): boolean => /^[^\p{Cc}]{1,64}$/u.test(text);

const labelledAddresses = (address: z.ZodType<string>): z.ZodType<LabelledAddressesBody> =>
  z
    .strictObject({
      address: oneOrSeveral(address),
      labels: z
        .record(
          address as z.ZodType<string, string>,
          z.string().refine(isAddressLabel, {
            error: 'should be a text of 1 to 64 characters, without control characters',
          }),
        )
        .optional(),
    })
    .superRefine(({ address: listed, labels = {} }, context) => {
      const those = new Set([listed].flat());
      for (const [labelled, label] of Object.entries(labels)) {
        if (those.has(labelled)) continue;
        context.addIssue({
          code: 'custom',
          message: 'should be of an address of this request',
          path: ['labels', labelled],
          input: label,
        });
        return;
      }
    });

export const evmLabelledAddressesSchema = component(
  'LabelledEvmAddresses',
  labelledAddresses(evmAddress),
);

/** In any casing, with or without leading zeros; the parsed form is 64 digits in lower case. */
const aptosAddress = spelled(
  (value) => padAptosAddress(value)?.toLowerCase(),
  'should be an Aptos address: 0x and up to 64 hex digits',
).meta({ type: 'string' });

export const aptosAddressesSchema = component('AptosAddresses', addresses(aptosAddress));

export const aptosLabelledAddressesSchema = component(
  'LabelledAptosAddresses',
  labelledAddresses(aptosAddress),
);

const limitError = { error: `should be a whole number from 1 to ${PAGE_LIMIT}` };
const limit = z.coerce
  .number(limitError)
  .refine((it) => Number.isInteger(it) && it >= 1 && it <= PAGE_LIMIT, limitError)
  .default(PAGE_LIMIT)
  .meta({ type: 'integer', minimum: 1, maximum: PAGE_LIMIT });

const cursor = z
  .string()
  .max(1024, { error: 'should be the cursor of an earlier answer, unchanged' })
  .optional();

export const listQuerySchema = z.object({
  limit,
  cursor,
});

const SEARCH = 'should be 1 to 100 characters of an address or a label';

export const listAddressesQuerySchema = z.object({
  find: z
    .string({ error: SEARCH })
    .trim()
    .min(1, { error: SEARCH })
    .max(100, { error: SEARCH })
    .optional(),
  limit,
  cursor,
});

export const listStreamsQuerySchema = z.object({
  limit,
  cursor,
  status: z.enum(['active', 'paused', 'error', 'terminated']).optional(),
});

const wholeFrom = (least: number, most: number) => {
  const error = `should be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
};

/** What is left out is as `DEFAULT_INBOX_ANSWER` has it. */
export const inboxAnswerSchema: z.ZodType<Partial<InboxAnswer>> = component(
  'SetInbox',
  z.strictObject({
    status: wholeFrom(200, 599).exactOptional(),
    delayMs: wholeFrom(0, 20_000).exactOptional(),
    body: text(1_000).exactOptional(),
    failFirst: wholeFrom(0, 1_000_000).exactOptional(),
    failEvery: wholeFrom(0, 1_000_000).exactOptional(),
    failStatus: wholeFrom(200, 599).exactOptional(),
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

/** One value in a query, or the same name several times; `items` is what JSON Schema shall say of each. */
const several = <Item>(item: z.ZodType<Item>, items: object, maxItems?: number) => {
  const some = z.array(item).min(1, { error: 'should name one at least' });
  const list =
    maxItems === undefined
      ? some
      : some.max(maxItems, { error: `should name ${maxItems} at most` });
  return z
    .preprocess(
      (given) => (given === undefined || Array.isArray(given) ? given : [given]),
      list.optional(),
    )
    .meta({ type: 'array', items, minItems: 1, ...(maxItems !== undefined && { maxItems }) });
};

const wholeNumberError = { error: 'should be a whole number, 0 or more' };
const isWhole = (it: number): boolean => Number.isSafeInteger(it) && it >= 0;
const wholeNumber = z.number(wholeNumberError).refine(isWhole, wholeNumberError);
const wholeNumberText = z
  .string(wholeNumberError)
  .regex(/^\d+$/, wholeNumberError)
  .transform(Number)
  .refine(isWhole, wholeNumberError);
const flagText = z
  .enum(['true', 'false'], { error: 'should be true or false' })
  .transform((it) => it === 'true');
const WHOLE_NUMBER = { type: 'integer', minimum: 0 };
const timestamp = wholeNumberText.optional().meta({
  ...WHOLE_NUMBER,
  description: 'Unix seconds, or milliseconds from 100000000000 on; both ends are included',
});

const streamId = z.uuid({ error: 'should be a stream id, a UUID' });

/** A chain of either family, as our own routes call it. */
const anyChain: z.ZodType<string> = spelled((value) => {
  const network = typeof value === 'string' ? findAptosNetwork(value) : undefined;
  return network === undefined ? toChainId(value) : toAptosChain(network);
}, 'should be a chain id in hex, e.g. 0x1, or an Aptos network, e.g. aptos:mainnet').meta({
  type: 'string',
});

/** Whole numbers of a query, which is text. */
const queryCount = (least: number, most: number, fallback: number) => {
  const error = `should be a whole number from ${least} to ${most}`;
  return z.coerce
    .number({ error })
    .int({ error })
    .min(least, { error })
    .max(most, { error })
    .default(fallback);
};

export const activityQuerySchema = z
  .object({
    streamId: streamId.optional(),
    step: z
      .enum(['1', '5', '60'], { error: 'should be one of 1, 5, 60 (minutes)' })
      .default('5')
      .transform((step): ActivityStep => Number(step) as ActivityStep),
    points: queryCount(1, MOST_POINTS[1], 288),
  })
  .superRefine(({ step, points }, context) => {
    if (points <= MOST_POINTS[step]) return;
    context.addIssue({
      code: 'custom',
      path: ['points'],
      message: `should be at most ${MOST_POINTS[step]} for steps of ${step} minutes: what is older is not kept`,
    });
  });

/** A page of the console shows no more, and the answer stays below what a browser takes in at once. */
const MAX_TAPES = 200;
const tapeLimitError = { error: 'should be a whole number from 1 to 200' };

export const listTapesSchema = component(
  'ListTapes',
  z.strictObject({
    streamIds: z
      .array(streamId, { error: 'should be an array of stream ids' })
      .min(1, { error: 'should name one at least' })
      .max(MAX_TAPES, {
        error: `should name ${MAX_TAPES} at most: ask for the others in a second call`,
      }),
    limit: z.int(tapeLimitError).min(1, tapeLimitError).max(200, tapeLimitError).default(60),
  }),
);

/** Of the logs of what happened to chains: reorgs and gaps. */
export const chainLogQuerySchema = z.object({
  chain: anyChain.optional(),
  limit: queryCount(1, 100, 100),
});

const logFilter = {
  streamId: streamId.optional(),
  transactionHash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, { error: 'should be 0x and 64 hex digits' })
    .optional(),
  chainId: several(chainId, CHAIN_ID),
  blockNumber: several(wholeNumberText, WHOLE_NUMBER),
  fromTimestamp: timestamp,
  toTimestamp: timestamp,
};

const DELIVERY_PHASES = ['unconfirmed', 'confirmed', 'removed'] as const;
const answered = z.string().regex(/^([1-5]\d\d|[1-5]xx|none)$/, {
  error: 'should be a status, e.g. 404, a class of them, e.g. 5xx, or none',
});

/** What a URL still holds. */
const MAX_DELIVERY_IDS = 500;

/** The fields of a filter of deliveries, whose numbers and flags are texts in a query. */
const deliveryFilter = (whole: z.ZodType<number>, flag: z.ZodType<boolean>) => {
  const number = whole.optional().meta(WHOLE_NUMBER);
  return {
    id: several(
      z.uuid({ error: 'should be the id of a delivery, a UUID' }),
      { type: 'string', format: 'uuid' },
      MAX_DELIVERY_IDS,
    ),
    streamId: several(streamId, { type: 'string', format: 'uuid' }),
    chainId: several(anyChain, { ...CHAIN_ID, description: 'In hex, or aptos:<network>' }),
    state: several(z.enum(DELIVERY_STATES), { type: 'string', enum: DELIVERY_STATES }),
    phase: several(z.enum(DELIVERY_PHASES), { type: 'string', enum: DELIVERY_PHASES }),
    status: several(answered, {
      type: 'string',
      description: 'Of the last attempt: a code, a class such as 5xx, or none',
    }),
    error: text(256).min(1, { error: 'should not be empty' }).optional(),
    blockFrom: number,
    blockTo: number,
    createdFrom: number.describe('Unix milliseconds'),
    createdTo: number.describe('Unix milliseconds'),
    attemptsFrom: number,
    attemptsTo: number,
    reorged: flag
      .optional()
      .meta({ type: 'boolean', description: 'Whether the block left the chain' }),
    replayId: z.uuid({ error: 'should be the id of a replay, a UUID' }).optional(),
  };
};

export const listDeliveriesQuerySchema: z.ZodType<DeliveryFilter & DeliveryOrder & PagePlace> =
  z.object({
    limit,
    cursor,
    order: z
      .enum(DELIVERY_ORDERS, { error: 'should be newest or oldest' })
      .optional()
      .meta({ description: 'Which come first; newest by default' }),
    ...deliveryFilter(wholeNumberText, flagText),
  });

export const deliveryFacetsQuerySchema: z.ZodType<DeliveryFilter> = z.object(
  deliveryFilter(wholeNumberText, flagText),
);

const replayFilter: z.ZodType<DeliveryFilter> = z
  .strictObject(deliveryFilter(wholeNumber, z.boolean({ error: 'should be true or false' })))
  .refine((it) => Object.values(it).some((value) => value !== undefined), {
    error: 'should say what to send again, e.g. {"state": "failed"}',
  });

export const estimateReplaySchema: z.ZodType<{ filter: DeliveryFilter }> = component(
  'EstimateReplay',
  z.strictObject({
    filter: replayFilter,
  }),
);

export const createReplaySchema: z.ZodType<CreateReplay> = component(
  'CreateReplay',
  z.strictObject({
    name: text(128).min(1, { error: 'should not be empty' }),
    filter: replayFilter,
    perSecond: z
      .number({ error: 'should be a number from 0.1 to 1000' })
      .min(0.1, { error: 'should be at least 0.1' })
      .max(1000, { error: 'should be at most 1000' })
      .optional()
      .describe('Deliveries made due in a second; default 50'),
  }),
);

interface PagePlace {
  limit: number;
  cursor?: string | undefined;
}

export const listHistoryQuerySchema: z.ZodType<HistoryFilter & PagePlace> = z.object({
  limit,
  cursor,
  ...logFilter,
  excludePayload: flagText.optional(),
});

export const listLogsQuerySchema: z.ZodType<LogFilter & PagePlace> = z.object({
  limit,
  cursor,
  ...logFilter,
  deliveryStatus: several(
    z.enum(['failed', 'success'], { error: 'should be one of failed, success' }),
    { type: 'string', enum: ['failed', 'success'] },
  ),
});

export const settingsSchema: z.ZodType<Settings> = component(
  'SetSettings',
  z.strictObject({
    region: z
      .enum(REGIONS, { error: `should be one of the following; [${quoted(REGIONS)}]` })
      .optional(),
    secretKey: text(1024).min(1, { error: 'should not be empty' }).optional(),
  }),
);

export const createApiKeySchema: z.ZodType<CreateApiKey> = component(
  'CreateApiKey',
  z.strictObject({
    name: text(100).min(1, { error: 'should not be empty' }),
    scopes: z
      .array(z.enum(SCOPES, { error: `should be one of ${SCOPES.join(', ')}` }))
      .min(1, { error: 'should name at least one scope, or be left out for all of them' })
      .optional(),
    cidrs: z
      .array(
        z.union([z.cidrv4(), z.cidrv6()], {
          error: 'should be a network such as 10.0.0.0/8 or 2001:db8::/32',
        }),
      )
      .max(20, { error: 'should have at most 20 networks' })
      .optional(),
    expiresAt: wholeNumber.optional(),
  }),
);

const MAX_OVERLAP_SECONDS = 30 * 24 * 3_600;

export const rotateStreamSecretSchema: z.ZodType<RotateStreamSecret> = component(
  'RotateStreamSecret',
  z.strictObject({
    overlapSeconds: wholeNumber
      .refine((it) => it <= MAX_OVERLAP_SECONDS, {
        error: `should be at most ${MAX_OVERLAP_SECONDS}, which is 30 days`,
      })
      .optional(),
  }),
);

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(',');
}

const dryRunFields = {
  tag: streamFields.tag,
  topic0: streamFields.topic0,
  allAddresses: streamFields.allAddresses,
  includeNativeTxs: streamFields.includeNativeTxs,
  includeContractLogs: streamFields.includeContractLogs,
  includeInternalTxs: streamFields.includeInternalTxs,
  includeAllTxLogs: streamFields.includeAllTxLogs,
  filterPossibleSpamAddresses: streamFields.filterPossibleSpamAddresses,
  abi: streamFields.abi,
  advancedOptions: streamFields.advancedOptions,
  addresses: given(z.array(evmAddress)),
};

export const dryRunBlockSchema: z.ZodType<DryRunBlock> = component(
  'DryRunBlock',
  z.strictObject(dryRunFields),
);

export const evmDryRunSchema: z.ZodType<EvmDryRun> = component(
  'EvmDryRun',
  z.strictObject({
    ...dryRunFields,
    block: wholeNumber,
    triggers: streamFields.triggers,
    getNativeBalances: streamFields.getNativeBalances,
  }),
);

export const historicalJobSchema: z.ZodType<HistoricalJob> = component(
  'CreateHistoricalJob',
  z
    .strictObject({ chainId, streamId, blockFrom: wholeNumber, blockTo: wholeNumber })
    .refine((it) => it.blockFrom <= it.blockTo, {
      error: 'should not come before blockFrom',
      path: ['blockTo'],
    }),
);

const blockChoice = { block: wholeNumber.optional(), version: wholeNumber.optional() };
const isChoice = ({ block, version }: AptosBlockChoice): boolean =>
  (block === undefined) !== (version === undefined);
const choiceError = {
  error: 'should be given, or version in its place: one of the two',
  path: ['block'],
};

export const aptosBlockChoiceSchema: z.ZodType<AptosBlockChoice> = component(
  'AptosBlockChoice',
  z.strictObject(blockChoice).refine(isChoice, choiceError),
);

export const aptosDryRunSchema: z.ZodType<AptosDryRun> = component(
  'AptosDryRun',
  z
    .strictObject({
      ...blockChoice,
      tag: given(text(256)),
      functions: aptosFields.functions,
      events: aptosFields.events,
      includePayload: aptosFields.includePayload,
      includeEvents: aptosFields.includeEvents,
      includeChanges: aptosFields.includeChanges,
      allAddresses: aptosFields.allAddresses,
      addresses: given(z.array(aptosAddress)),
    })
    .refine(isChoice, choiceError),
);

export const aptosBackfillSchema: z.ZodType<AptosBackfill> = component(
  'AptosBackfill',
  z
    .strictObject({
      streamId,
      blockFrom: wholeNumber.optional(),
      blockTo: wholeNumber.optional(),
      versionFrom: wholeNumber.optional(),
      versionTo: wholeNumber.optional(),
    })
    .refine(
      (it) => {
        const isBlocks = it.blockFrom !== undefined && it.blockTo !== undefined;
        const isVersions = it.versionFrom !== undefined && it.versionTo !== undefined;
        const given = Object.keys(it).filter((key) => key !== 'streamId').length;
        return isBlocks !== isVersions && given === 2;
      },
      {
        error: 'should come with blockTo, or versionFrom with versionTo in their place',
        path: ['blockFrom'],
      },
    )
    .refine((it) => (it.blockFrom ?? it.versionFrom ?? 0) <= (it.blockTo ?? it.versionTo ?? 0), {
      error: 'should not come before the beginning of the range',
      path: ['blockTo'],
    }),
);
