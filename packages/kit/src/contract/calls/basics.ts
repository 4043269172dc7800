/** The type of a call, and schemas that calls share. */
import * as z from 'zod';
import { component, named, shape } from '../named.ts';
import type { Route } from '../route.ts';
import type { Scope } from '../shapes.generated.ts';
import { FAMILY_TAGS } from '../../families/tags.ts';
import { isInboxName } from '../index.ts';

/** The scope that a key needs: `any` accepts every valid key, `open` needs no key. */
export type Access = Scope | 'any' | 'open';

/** Error statuses in addition to 401, 403, 413, 429 and 500, which every call may return. */
type ErrorStatus = 400 | 404 | 409 | 422 | 503;

/**
 * One call of the HTTP API. The router, validation, OpenAPI document and client are based on it.
 */
export interface Call extends Route {
  readonly scope: Access;
  readonly params?: Readonly<Record<string, z.ZodType>>;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Schema of the response. Omitted for a 204. */
  readonly response?: z.ZodType;
  /** Media type of the response if it is text. Default: JSON. */
  readonly mediaType?: string;
  readonly errors: readonly ErrorStatus[];
  readonly summary: string;
  readonly description?: string;
  /** Maximum size of the request body, if the default is too small. */
  readonly maxBodyBytes?: number;
  /**
   * True if the handler parses query and body itself, because a body may contain a million values.
   */
  readonly readsItself?: true;
  /** True if error responses must not repeat the body, because it contains a URL with keys. */
  readonly hidesBody?: true;
  /** True if the call is idempotent, so that clients may retry it after a failure. */
  readonly repeatable?: true;
  /**
   * True if the call is recorded in the audit log. Calls that change something and need `replay` or
   * `settings:admin` are always recorded.
   */
  readonly audited?: true;
}

/** The tags of the OpenAPI document, with their descriptions. */
export const TAGS = {
  ...FAMILY_TAGS,
  History: 'Delivered and failed webhooks, EVM and Aptos',
  Account: 'Settings and statistics',
  'Past blocks': 'Dry runs and backfills of past blocks',
  Sluice: 'Routes in addition to the compatible API',
} as const;

/** The name of a tag in the OpenAPI document. A tag groups calls. */
export type Tag = keyof typeof TAGS;

export const tagged = <const Name extends Tag, const Table extends Record<string, Call>>(
  tag: Name,
  table: Table,
): { readonly [Key in keyof Table]: Table[Key] & { readonly tag: Name } } =>
  Object.fromEntries(
    Object.entries(table).map(([name, call]) => [name, { ...call, tag }]),
  ) as never;

/** Returns a schema that parses a path parameter; `json` describes it in the OpenAPI document. */
export const param = <Value>(
  read: (given: string) => Value | undefined,
  message: string,
  json: Record<string, unknown>,
) =>
  z
    .unknown()
    .transform((given, context): Value => {
      const value = read(String(given));
      if (value !== undefined) return value;
      context.addIssue({ code: 'custom', message, input: given });
      return z.NEVER;
    })
    .meta(json);

const UUID = { type: 'string', format: 'uuid' };
export const CHAIN_ID = { type: 'string', description: 'Chain ID in hex, e.g. 0x1' };

export const idOf = (what: 'stream' | 'delivery' | 'history' | 'job' | 'replay' | 'request') =>
  param(
    (given) => z.uuid().safeParse(given).data?.toLowerCase(),
    `should be a ${what} ID, a UUID`,
    UUID,
  );

export const anyChainParam = z.string().meta(CHAIN_ID);
export const blockNumberParam = param(
  (given) =>
    /^\d+$/.test(given) && Number.isSafeInteger(Number(given)) ? Number(given) : undefined,
  'should be a block number, decimal',
  { type: 'integer', minimum: 0 },
);
export const inboxName = param(
  (given) => (isInboxName(given) ? given : undefined),
  'should be 1 to 63 lowercase letters, digits and dashes, e.g. my-app',
  { type: 'string', description: 'Inbox name, e.g. my-app' },
);

export const text = z.string();
export const flag = z.boolean();
export const uuid = z.uuid();
/** Codes of a block, as text, because a newer service may have codes that a client does not know. */
export const unverifiedCodes = z
  .array(z.string())
  .describe(
    'Codes of what the evidence for the block does not cover, as in `UNVERIFIED_CODES`; empty if it is verified.',
  );
export const count = z.int().nonnegative();
export const number = z.number();
export const dateTime = z.iso.datetime();
export const unixMs = z.int().describe('Unix milliseconds');
export const texts = z.array(text);
/** Schema of a secret. Viewers of the OpenAPI document mask values of its format. */
export const secretText = text.meta({ format: 'password' });
export const textOrNull = text.nullable();
export const headers = z.record(text, text);
export const chainId = text.meta({ description: 'Chain ID in hex', examples: ['0x1'] });
export const pageOf = <Row>(row: z.ZodType<Row>) =>
  z.strictObject({
    result: z.array(row),
    total: count.describe('Rows on all pages, as counted by the first page; at most a million'),
    cursor: text.exactOptional().describe('Cursor of the next page; absent on the last'),
    page_size: count.exactOptional().describe('Only on the last page'),
  });

/** How and when the URL of a node or an alert receiver was set. */
export const urlOrigin = {
  source: shape(
    'UrlSource',
    '`configured`: with a flag, a variable or the settings file · `added`: while the service ran',
    z.enum(['configured', 'added']),
  ),
  addedAt: unixMs.nullable().describe('Null if configured.'),
};

const urlTestFields = {
  code: shape(
    'UrlTestCode',
    '`ok` · `blocked`: its address is not allowed · `unreachable`: no response, or none from a node · `timed-out`: no complete response in time · `rejected`: the alert receiver responded with an error · `rate-limited`: the node wants fewer requests · `wrong-chain`: the node serves another chain · `unusable`: the node did not return its newest block',
    z.enum([
      'ok',
      'blocked',
      'unreachable',
      'timed-out',
      'rejected',
      'rate-limited',
      'wrong-chain',
      'unusable',
    ]),
  ),
  message: text.describe(
    'The code in words, with the usual fix; continues a sentence about the URL.',
  ),
  latencyMs: number.nullable().describe('Duration of the test; null unless `ok`.'),
};

export const urlTestResult = named(
  'UrlTestResult',
  'The result of testing a URL. It contains nothing of the response.',
  z.strictObject(urlTestFields),
);

export const nodeTestResult = named(
  'NodeTestResult',
  'The result of testing a node. It contains nothing of the response but the chain.',
  z.strictObject({
    ...urlTestFields,
    chainId: chainId.nullable().describe('The chain that the node serves; null unless `ok`.'),
  }),
);

const byField = z.record(text, z.unknown()).exactOptional();

const errorBody = shape(
  'ErrorBody',
  'The body of a response other than a 2xx.',
  z.strictObject({
    message: z.union([text, texts]),
    details: byField.describe(
      'By field, e.g. `requestBody.chainIds`: the problem and the value that was sent.',
    ),
    fields: byField.describe(
      'Like `details`, for statuses other than 422, because the official client appends `details` to the message. Sluice only.',
    ),
  }),
);

component(
  'Error',
  z.strictObject({ ...errorBody.shape, requestId: text.describe('Also in x-request-id') }),
);
