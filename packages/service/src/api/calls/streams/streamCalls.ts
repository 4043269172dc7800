/** The stream calls that all chain families share. */
import { randomUUID } from 'node:crypto';
import {
  type ChainFamily,
  type OAuth2Client,
  type OAuth2Credentials,
  type Optional,
  type StreamLimits,
  type StreamStatus,
  isTablesUrl,
  queueBrokerOf,
  retryWaitsMs,
} from '@sluice/kit/contract';
import { hideSecrets } from '../../../base/hideSecrets.ts';
import { flagOf } from '../../../config/settings.ts';
import type { Store } from '../../../store/store.ts';
import {
  type StreamDraft,
  type StreamPatch,
  type StreamRecord,
  deliveryOf,
} from '../../../store/streams/contract.ts';
import { longestWaitMs } from '../../../deliver/schedule.ts';
import type { TestWebhook } from '../../../deliver/testWebhook.ts';
import type { Endpoints } from '../../../secrets/endpoints.ts';
import type { StreamSecrets } from '../../../secrets/streamSecrets.ts';
import { HttpError, validationFailed } from '../../httpErrors.ts';
import { callerOf } from '../../auth/auth.ts';
import type { Received } from '../../handlers.ts';
import { fromCursor, pageEnd } from '../../pages.ts';
import { type StreamOf, requireFamily } from './findStream.ts';
import type { ProblemNeeds } from '../../family.ts';

/** A receiver of a stream: the URL, the headers and the client credentials. */
export type StreamEndpoint = Pick<StreamRecord, 'id' | 'webhookUrl' | 'headers' | 'oauth2'>;

export interface StreamCallNeeds extends ProblemNeeds {
  store: Store;
  /** Returns why this URL is not allowed for webhooks, or undefined. */
  refuseUrl(url: URL): Promise<string | undefined>;
  /** Sends a test webhook; returns why it failed, or undefined. */
  testWebhook: TestWebhook;
  endpoints: Endpoints;
  streamSecrets: StreamSecrets;
  /** Retention of deliveries. */
  kept: { deliveredMs: number; undeliveredMs: number };
}

/** The parts of the stream calls that differ between the chain families. */
interface StreamFamily<Name extends ChainFamily, Wanted, Changes, Shown> {
  readonly name: Name;
  /** The webhook that a new URL must accept. */
  readonly testWebhook: object;
  /** Returns the stream that a create call requests. Throws a 422 for invalid options. */
  toDraft(wanted: Wanted, sent: unknown): Extract<StreamDraft, { family: Name }>;
  /** Returns the changes that an update call requests. Throws a 422 for invalid options. */
  toPatch(wanted: Changes, sent: unknown, before: StreamOf<Name>): StreamPatch;
  /** Returns the factories of a stream. Default: none. */
  factoriesOf?(options: StreamRecord['options']): readonly FactoryEntry[];
  /** Returns a stream in the format of the contract. */
  toResponse(record: StreamOf<Name>): Shown;
}

/** Maximum number of times that an update starts again because the stream was changed meanwhile. */
export const MAX_UPDATE_TRIES = 100;

/** A request for the stream in its path, with a body of this type. */
type Asked<Body = unknown> = Omit<Received<'listAddresses'>, 'params' | 'query' | 'body'> & {
  readonly params: { id: string };
  readonly body: Body;
};

export function createStreamCalls<Name extends ChainFamily, Wanted, Changes, Shown>(
  needs: StreamCallNeeds,
  family: StreamFamily<Name, Wanted, Changes, Shown>,
) {
  const { store, endpoints, streamSecrets } = needs;
  const { factoriesOf = () => [] } = family;
  const open = (record: StreamRecord | undefined): StreamOf<Name> => {
    const own = requireFamily(record, family.name);
    return endpoints.open(own.id, own);
  };
  const find = async (id: string) => open(await store.readStream(id));

  return {
    async list({
      query: { limit, cursor, status },
    }: {
      query: { limit: number; cursor?: string | undefined; status?: StreamStatus | undefined };
    }) {
      const after = fromCursor(cursor);
      const page = await store.listStreams({ limit, after, family: family.name, status });
      return {
        result: page.rows.map((record) => family.toResponse(open(record))),
        ...pageEnd(after?.total ?? page.total, page.next),
      };
    },

    async create({ body, sent }: Pick<Asked<Wanted>, 'body' | 'sent'>) {
      const draft = family.toDraft(body, sent.body);
      const id = randomUUID();
      const { secret, sealedSecret } = streamSecrets.create(id);
      const endpoint = { ...draft, id };
      refuseTwoAuthorizations(endpoint, sent.body);
      refuseLateRetries(draft.limits, needs.kept, sent.body);
      refuseLongTimeout(draft.limits, needs, sent.body);
      await tryWebhook(needs, family.testWebhook, endpoint, [secret]);
      const sealed = endpoints.seal<StreamDraft>(id, draft);
      return family.toResponse(open(await store.createStream(sealed, { id, sealedSecret })));
    },

    get: async ({ params: { id } }: Pick<Asked, 'params'>) => family.toResponse(await find(id)),

    async update({ context, params, body, sent }: Asked<Changes>) {
      const { keyId } = callerOf(context);
      let tested: string | undefined;
      // Starts again if the stream changes meanwhile, because a patch contains all options and all
      // limits, with the earlier values of those that the request does not set.
      for (let tries = 0; tries < MAX_UPDATE_TRIES; tries++) {
        const before = await find(params.id);
        const patch = family.toPatch(body, sent.body, before);
        const { webhookUrl, headers, oauth2, limits } = patch;
        if (limits !== undefined && limits.retries !== before.limits.retries) {
          refuseLateRetries(limits, needs.kept, sent.body);
        }
        if (limits !== undefined && limits.timeoutSeconds !== before.limits.timeoutSeconds) {
          refuseLongTimeout(limits, needs, sent.body);
        }
        if (webhookUrl !== undefined || headers !== undefined || oauth2 !== undefined) {
          const endpoint = {
            id: before.id,
            webhookUrl: webhookUrl ?? before.webhookUrl,
            headers: headers ?? before.headers,
            oauth2: oauth2 === undefined ? before.oauth2 : oauth2,
          };
          refuseTwoAuthorizations(endpoint, sent.body);
          if (JSON.stringify(endpoint) !== tested) {
            await tryWebhook(
              needs,
              family.testWebhook,
              endpoint,
              await streamSecrets.list(before.id),
            );
            tested = JSON.stringify(endpoint);
          }
        }
        const fields = changedFields(before, patch);
        const note = fields.length > 0 ? ({ kind: 'edited', fields, keyId } as const) : undefined;
        const unchangedSince = before.updatedAt;
        const sealed = endpoints.seal(before.id, patch);
        const factories = changeFactories(before, patch, factoriesOf);
        const { added } = factories;
        // A factory that was removed and comes back starts without children.
        while (added.length > 0 && (await store.deleteChildrenOf(before.id, added)));
        const record = await store.updateStream(before.id, sealed, {
          note,
          unchangedSince,
          leftFactories: factories.left,
          childSearches: factories.searches,
        });
        if (record !== undefined) return family.toResponse(open(record));
      }
      throw new HttpError(409, 'Other calls keep changing this stream. Send the update again.');
    },

    async delete({ params }: Pick<Asked, 'params'>) {
      const { id } = await find(params.id);
      return family.toResponse(open(await store.deleteStream(id)));
    },

    async setStatus({ context, params, body: { status } }: Asked<{ status: StreamStatus }>) {
      const before = await find(params.id);
      // Only failing deliveries put a stream in error, but the hosted API also accepts this status
      // in requests.
      if (status === 'error') return family.toResponse(before);
      if (status === 'active' && before.status !== 'active') {
        await tryWebhook(needs, family.testWebhook, before, await streamSecrets.list(before.id));
      }
      const isActive = status === 'active';
      const { keyId } = callerOf(context);
      const record = open(
        await store.setStreamStatus(
          before.id,
          status,
          isActive ? 'Stream is active' : 'Stream was paused by the user',
          before.status === status ? undefined : { kind: isActive ? 'resumed' : 'paused', keyId },
        ),
      );
      return family.toResponse(record);
    },
  };
}

interface FactoryEntry {
  key: string;
  /** First block whose children are wanted; undefined for those of new blocks only. */
  from?: number | undefined;
}

/**
 * Returns the keys of the factories that a patch adds and removes, and from which block on each
 * chain is searched for past children.
 */
function changeFactories(
  before: StreamRecord,
  patch: StreamPatch,
  factoriesOf: (options: StreamRecord['options']) => readonly FactoryEntry[],
) {
  const had = factoriesOf(before.options);
  const has = patch.options === undefined ? had : factoriesOf(patch.options);
  const lacks = (some: readonly FactoryEntry[], key: string): boolean =>
    some.every((each) => each.key !== key);
  const isSearched = ({ key, from = Infinity }: FactoryEntry): boolean =>
    had.some((each) => each.key === key && (each.from ?? Infinity) <= from);
  const firstOf = (some: readonly FactoryEntry[]): number =>
    Math.min(...some.map(({ from = Infinity }) => from));
  const anew = firstOf(has.filter((factory) => !isSearched(factory)));
  return {
    added: has.map(({ key }) => key).filter((key) => lacks(had, key)),
    left: had.map(({ key }) => key).filter((key) => lacks(has, key)),
    searches: (patch.chainIds ?? before.chainIds)
      .map((chain) => ({
        chain,
        from: before.chainIds.includes(chain) ? anew : firstOf(has),
      }))
      .filter(({ from }) => from < Infinity),
  };
}

/** Returns the names of the fields that a patch changes, as in the contract. */
function changedFields(before: StreamRecord, patch: StreamPatch): string[] {
  const flat = ({ options, limits, ...others }: StreamPatch): Record<string, unknown> => ({
    ...others,
    ...options,
    ...limits,
  });
  const old = flat(before);
  return Object.entries(flat(patch))
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name]))
    .map(([name]) => name);
}

/** Throws a 422 if the `Authorization` header of a stream's webhooks would be set twice. */
export function refuseTwoAuthorizations(
  { webhookUrl, headers, oauth2 }: StreamEndpoint,
  body: unknown,
): void {
  if (oauth2 === null) return;
  const hasHeader = 'authorization' in headers;
  if (!hasHeader && new URL(webhookUrl).username === '') return;
  const other = hasHeader ? 'headers.authorization' : 'the login in webhookUrl';
  const message = `cannot be combined with ${other}, because both set the Authorization header: remove ${other} or oauth2`;
  throw validationFailed('requestBody', [{ path: ['oauth2'], message }], body);
}

/** Throws a 422 if retention would delete deliveries that still wait for a retry. */
export function refuseLateRetries(
  { retries }: StreamLimits,
  { undeliveredMs }: StreamCallNeeds['kept'],
  body: unknown,
): void {
  if (longestWaitMs(retryWaitsMs(retries) ?? []) < undeliveredMs) return;
  const message = `should have waits of less than ${undeliveredMs / 1_000} seconds together, including the 10% that are added at random, because undelivered webhooks are deleted after that time`;
  throw validationFailed('requestBody', [{ path: ['retries'], message }], body);
}

/** Throws a 422 if attempts would take longer than the operator allows. */
export function refuseLongTimeout(
  { timeoutSeconds }: StreamLimits,
  { maxTimeoutSeconds }: StreamCallNeeds,
  body: unknown,
): void {
  if (timeoutSeconds === null || timeoutSeconds <= maxTimeoutSeconds) return;
  const message = `should be at most ${maxTimeoutSeconds}, the ${flagOf('maxTimeoutSeconds')} of this service, or null`;
  throw validationFailed('requestBody', [{ path: ['timeoutSeconds'], message }], body);
}

/**
 * Throws unless the URLs of this endpoint are allowed for webhooks and it accepts the test webhook.
 *
 * @param secrets the stream's own secrets, which sign the webhook
 */
export async function tryWebhook(
  { refuseUrl, testWebhook }: Pick<StreamCallNeeds, 'refuseUrl' | 'testWebhook'>,
  webhook: object,
  { id, webhookUrl: url, headers, oauth2 }: StreamEndpoint,
  secrets: readonly string[],
): Promise<void> {
  for (const [path, text] of [
    [['webhookUrl'], url],
    [['oauth2', 'tokenUrl'], oauth2?.tokenUrl],
  ] as const) {
    const refused = text === undefined ? undefined : await refuseUrl(new URL(text));
    if (refused === undefined) continue;
    throw validationFailed('requestBody', [{ path, message: refused }], { webhookUrl: url });
  }
  const failure = await testWebhook(webhook, {
    url,
    headers,
    secrets,
    oauth2: oauth2 === null ? undefined : { streamId: id, credentials: oauth2 },
  });
  if (failure === undefined) return;
  const shown = hideSecrets(url);
  throw new HttpError(400, `Could not POST to ${shown}. Please check your webhook URL.`, {
    'requestBody.webhookUrl': {
      message: `${expectationOf(url)}, but it failed: ${failure}`,
      value: shown,
    },
  });
}

function expectationOf(url: string): string {
  if (isTablesUrl(url)) return 'should be of a database in which the tables can be created';
  return queueBrokerOf(url) === undefined
    ? 'should respond to the test webhook with a 2xx'
    : 'should be of a queue that accepts the test webhook';
}

/**
 * Returns the status fields that all families share. A `problem` that is not empty replaces the
 * status message of an active stream.
 */
export function toStatusFields(
  record: StreamRecord,
  problem: string,
): {
  id: string;
  status: StreamStatus;
  statusMessage: string;
  isErrorSince: string | null;
  amountOfAddresses: number;
} {
  return {
    id: record.id,
    status: record.status,
    statusMessage: (record.status === 'active' && problem) || record.statusMessage,
    isErrorSince: record.errorSince === null ? null : new Date(record.errorSince).toISOString(),
    amountOfAddresses: record.addressCount,
  };
}

/**
 * Returns a copy of `base` with the given fields. Null is copied like any other value, because
 * schemas reject it where it is invalid.
 */
export function withGiven<Options extends object>(
  base: Options,
  given: { readonly [K in keyof Options]?: Options[K] | null | undefined },
): Options {
  const options = { ...base };
  for (const key of Object.keys(base) as (keyof Options)[]) {
    const value = given[key];
    if (value !== undefined) options[key] = value as Options[keyof Options];
  }
  return options;
}

/** Returns client credentials without the secret. */
export function showOAuth2(oauth2: OAuth2Credentials | null): OAuth2Client | null {
  if (oauth2 === null) return null;
  const { clientSecret: _, ...client } = oauth2;
  // JSON omits undefined fields.
  return client as OAuth2Client;
}

type Delivery = ReturnType<typeof deliveryOf<StreamRecord>>;

/** Returns the changes to the fields that streams of all families have. */
export function commonPatch(
  given: Optional<
    Pick<StreamRecord, 'tag' | 'description' | 'webhookUrl'> & Delivery & StreamLimits
  >,
  before: Delivery & Pick<StreamRecord, 'limits'>,
): StreamPatch {
  const { tag, description, webhookUrl } = given;
  const names = Object.keys(deliveryOf(before)) as (keyof Delivery)[];
  const isChanged = (name: keyof Delivery): boolean =>
    // Some clients send null for fields that they do not set, which needs no test webhook.
    given[name] !== undefined && given[name] !== before[name];
  return {
    ...(tag !== undefined && { tag }),
    ...(description !== undefined && { description }),
    ...(webhookUrl !== undefined && { webhookUrl }),
    ...Object.fromEntries(names.filter(isChanged).map((name) => [name, given[name]])),
    ...(Object.keys(before.limits).some((name) => name in given) && {
      limits: withGiven(before.limits, given),
    }),
  };
}
