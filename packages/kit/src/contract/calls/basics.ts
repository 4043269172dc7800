/** What every call has, and the schemas that calls share. */
import * as z from 'zod';
import { component, shape } from '../named.ts';
import type { Route } from '../route.ts';
import type { Scope } from '../shapes.generated.ts';
import { APTOS_NETWORKS, isInboxName, toAddress, toAptosNetwork, toChainId } from '../index.ts';

/** The scope that a key needs; `any` for every valid key, `open` for callers without one. */
export type Access = Scope | 'any' | 'open';

/** Status codes beyond those that any call may have: 401, 403, 413, 429 and 500. */
type ErrorStatus = 400 | 404 | 409 | 422 | 503;

/** One call of the HTTP API: router, validation, scopes, OpenAPI and client read it. */
export interface Call extends Route {
  readonly scope: Access;
  readonly params?: Readonly<Record<string, z.ZodType>>;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Left out: 204. */
  readonly answer?: z.ZodType;
  /** The answer is text of this type instead of JSON. */
  readonly mediaType?: string;
  readonly errors: readonly ErrorStatus[];
  readonly summary: string;
  readonly description?: string;
  /** Bytes that the body may have, where the default is too small. */
  readonly maxBodyBytes?: number;
  /** The handler reads query and body itself, because a body may hold a million values. */
  readonly readsItself?: true;
  /** Twice has the effect of once: clients may send it again after a failure. */
  readonly repeatable?: true;
  /** In the audit log, like every change that needs `replay` or `settings:admin`. */
  readonly audited?: true;
}

/** The groups of the OpenAPI document, with their descriptions. */
export const TAGS = {
  'EVM streams': 'What is watched on EVM chains, and where it is delivered',
  'Aptos streams': 'The same on Aptos',
  History: 'What was delivered and what was not, EVM and Aptos together',
  Account: 'Settings and statistics',
  'Past blocks': 'Calls about blocks that are there already',
  Sluice: 'Our own routes, beyond the compatible API',
} as const;

/** A group of the OpenAPI document. */
export type Tag = keyof typeof TAGS;

export const tagged = <const Name extends Tag, const Table extends Record<string, Call>>(
  tag: Name,
  table: Table,
): { readonly [Key in keyof Table]: Table[Key] & { readonly tag: Name } } =>
  Object.fromEntries(
    Object.entries(table).map(([name, call]) => [name, { ...call, tag }]),
  ) as never;

/** A parameter of a path, which is text; `json` describes it in the OpenAPI document. */
const param = <Value>(
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
const CHAIN_ID = { type: 'string', description: 'Chain id in hex, e.g. 0x1' };

export const idOf = (what: 'stream' | 'delivery' | 'history' | 'job' | 'replay' | 'request') =>
  param(
    (given) => z.uuid().safeParse(given).data?.toLowerCase(),
    `should be a ${what} id, a UUID`,
    UUID,
  );

export const evmChainParam = param(toChainId, 'should be a chain id in hex, e.g. 0x1', CHAIN_ID);
export const anyChainParam = z.string().meta(CHAIN_ID);
export const networkParam = param(toAptosNetwork, 'should be an Aptos network, e.g. mainnet', {
  type: 'string',
  enum: [...APTOS_NETWORKS, '1', '2'],
});
export const addressParam = param(toAddress, 'should be an address, 0x and 40 hex digits', {
  type: 'string',
  description: 'EVM address',
});
export const blockNumberParam = param(
  (given) =>
    /^\d+$/.test(given) && Number.isSafeInteger(Number(given)) ? Number(given) : undefined,
  'should be a block number, decimal',
  { type: 'integer', minimum: 0 },
);
export const inboxName = param(
  (given) => (isInboxName(given) ? given : undefined),
  'should be 1 to 63 small letters, digits and dashes, e.g. my-app',
  { type: 'string', description: 'Of an inbox, e.g. my-app' },
);

export const text = z.string();
export const flag = z.boolean();
export const uuid = z.uuid();
export const count = z.int().nonnegative();
export const number = z.number();
export const dateTime = z.iso.datetime();
export const unixMs = z.int().describe('Unix milliseconds');
export const texts = z.array(text);
export const textOrNull = text.nullable();
export const headers = z.record(text, text);
export const chainId = text.meta({ description: 'Chain id in hex', examples: ['0x1'] });
export const pageOf = <Row>(row: z.ZodType<Row>) =>
  z.strictObject({
    result: z.array(row),
    total: count.describe(
      'Rows of all pages together, as the first page counted them; a million at most',
    ),
    cursor: text.exactOptional().describe('Of the next page; absent on the last'),
    page_size: count.exactOptional().describe('Only on the last page'),
  });

const byField = z.record(text, z.unknown()).exactOptional();

const errorBody = shape(
  'ErrorBody',
  'Any answer that is no 2xx.',
  z.strictObject({
    message: z.union([text, texts]),
    details: byField.describe(
      'By field, as `requestBody.chainIds`: what is wrong and the value that was sent.',
    ),
    fields: byField.describe(
      'The same, of any status but 422: the official client appends `details` to the message, which the contract fixes. Ours.',
    ),
  }),
);

component(
  'Error',
  z.strictObject({ ...errorBody.shape, requestId: text.describe('Also in x-request-id') }),
);
