/**
 * Our own routes, beyond the compatible API: deliveries, chain health, live events, console
 * sessions. What the console and the command line are built on.
 */
import { SLUICE_ROUTES } from '../contract/routes.generated.ts';
import type { SluiceRoute } from '../contract/route.ts';
import type {
  DeliveryFilter,
  DeliverySummary,
  Explanation,
  Job,
  ListOptions,
  ReplayEstimate,
} from '../contract/shapes.generated.ts';
import type { LiveEvent } from '../contract/liveEvent.ts';
import { isSluiceError, SluiceError } from '../errors.ts';
import { createCalls } from './calls.ts';
import type { Calls } from './calls.ts';
import { readEventStream } from './eventStream.ts';
import { importAddresses } from './importAddresses.ts';
import type { AddressImport } from './importAddresses.ts';
import type { AnyPage } from './pages.ts';
import { connect, sleep } from './request.ts';
import type { Call, CallOptions, CallResult, Connection, ConnectionOptions } from './request.ts';
import type { SluiceMethods } from './sluiceMethods.generated.ts';

export type * from '../contract/shapes.generated.ts';
export type * from '../contract/liveEvent.ts';
export type { OneOrSeveral } from '../contract/generic.ts';
export { DELIVERY_STATES, JOB_STATES } from '../contract/values.ts';
export * from '../contract/rules/auditHash.ts';
export * from '../contract/rules/inbox.ts';
export * from '../contract/rules/text.ts';
export { isSluiceError, SluiceError, type SluiceErrorCode } from '../errors.ts';
export type { AddressImport } from './importAddresses.ts';
export * from './nearMisses.ts';
export * from './seen.ts';
export * from './shortIds.ts';
export type { AnyPage, ListedPage, ListResult } from './pages.ts';
export type { CallOptions, CallResult, WithResponse } from './request.ts';

/** `apiKey` is left out where a console session's cookie signs the calls in. */
export type SluiceClientOptions = ConnectionOptions;

/**
 * Name of the file that holds the body of a delivery, `<tag>-<block>-<phase>-<end of the id>.json`: what
 * `sluice fixture save` writes and the console hands out, what `sluice fixture run` signs and sends, and
 * what `signedRequest` of the testing entry takes as `body`.
 */
export const toFixtureName = ({
  id,
  tag,
  blockNumber,
  phase,
}: Pick<DeliverySummary, 'id' | 'tag' | 'blockNumber' | 'phase'>): string =>
  `${tag.replaceAll(/[^\w.-]+/g, '_') || 'stream'}-${blockNumber}-${phase}-${id.slice(-6)}.json`;

/** Where a live connection stands. */
export type LiveState =
  | { readonly state: 'connecting' }
  /** The service has noted where it begins: what happens from now on is told. */
  | { readonly state: 'live' }
  /** It broke, for this reason, and is tried again after the wait. */
  | { readonly state: 'waiting'; readonly retryInMs: number; readonly error: SluiceError }
  /** It ended: aborted, left, or refused for good. */
  | { readonly state: 'closed' };

/** What `liveEvents` takes. */
export interface LiveEventsOptions {
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Id of the last event handled before; what came after it is sent first. */
  readonly lastEventId?: string | undefined;
  /** Called at each change of the connection. */
  readonly onState?: ((state: LiveState) => void) | undefined;
}

/** A live event and its place in the stream of them. */
export interface ReceivedEvent {
  /** Of this event alone; pass the last one as `lastEventId` to go on after it. */
  readonly id: string;
  readonly event: LiveEvent;
}

/** Every method rejects with a SluiceError. */
export interface SluiceClient extends SluiceMethods {
  /** Trades an API key for a session cookie; rejects with `unauthorized` when it is not known. */
  createSession(apiKey: string, options?: CallOptions): CallResult<void>;
  /** Whether the calls of this client are signed in, by key or session. */
  checkSession(options?: CallOptions): CallResult<boolean>;
  /**
   * Adds many addresses to a stream, in their order and in parts of about a tenth of a second; each part
   * takes effect whole. Addresses that are there stay, so that an import which broke off may go on anywhere
   * before the place it came to.
   */
  importAddresses(wanted: AddressImport, options?: CallOptions): Promise<void>;
  /**
   * Why a webhook was sent, or not, stream by stream: of the hash of a transaction or block, a block
   * number, a ledger version, an address, a name that ends in `.eth`, or the id of a delivery. `chain` where
   * several have it. What cannot be found is part of the answer, and no error.
   */
  explain(
    query: string,
    options?: CallOptions & { readonly chain?: string | undefined },
  ): CallResult<Explanation>;
  /** What a replay of these deliveries would send. */
  estimateReplay(filter: DeliveryFilter, options?: CallOptions): CallResult<ReplayEstimate>;
  /** Pauses, goes on with or ends a backfill; rejects with `conflict` where it is over already. */
  setJobState(
    id: string,
    state: 'paused' | 'running' | 'cancelled',
    options?: CallOptions,
  ): CallResult<Job>;
  /**
   * What happens, as it happens. A broken connection is opened again, after 1 s at first and 10 s at
   * most, where it left off; `{ type: 'reset' }` tells that events were missed: read anew then.
   * Throws when the service refuses for good, e.g. with `unauthorized`.
   */
  liveEvents(options?: LiveEventsOptions): AsyncGenerator<ReceivedEvent, undefined>;
}

/** The service sends something every 5 s at least: a connection silent for twice that is dead. */
const SILENCE_MS = 10_000;
const RECONNECT_MIN_MS = 1_000;
const RECONNECT_MAX_MS = 10_000;

/**
 * A client for our own routes.
 * @throws SluiceError `invalid_argument` when an option is unusable.
 */
export function createSluiceClient(options: SluiceClientOptions): SluiceClient {
  // Workers know no credentials mode: they get none where there is no session to send.
  const connection = connect(
    options,
    options.apiKey === undefined ? { credentials: 'same-origin' } : {},
  );
  const calls = createCalls(connection);
  const { one } = calls;
  const toMethods = Object.entries(SLUICE_ROUTES).map(([name, route]) => [
    name,
    toMethod(route, calls),
  ]);
  return {
    ...(Object.fromEntries(toMethods) as SluiceMethods),

    createSession: (apiKey, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.createSession, body: { apiKey }, secrets: [apiKey] }),
        options,
        nothing,
      ),

    checkSession: (options) =>
      one(
        () => ({ route: SLUICE_ROUTES.checkSession, accepts: [401] }),
        options,
        (_, { ok }) => ok,
      ),

    importAddresses: (wanted, options) => importAddresses(calls, wanted, options),

    explain: (q, { chain, ...options } = {}) =>
      one(() => ({ route: SLUICE_ROUTES.explain, query: { q, chain } }), options),

    estimateReplay: (filter, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.estimateReplay, body: { filter }, repeatable: true }),
        options,
      ),

    setJobState: (id, state, options) =>
      one(
        () => ({
          route: SLUICE_ROUTES.setJobState,
          path: { id },
          body: { state },
          repeatable: true,
        }),
        options,
      ),

    liveEvents: (options) => readLiveEvents(connection, options),
  };
}

/** A method of the parameters of the path, in their order, then what the route takes, then options. */
function toMethod(route: SluiceRoute, { one, list }: Calls) {
  const { takes, reads, repeatable = false } = route;
  const names = [...route.path.matchAll(/\{(\w{1,40})\}/g)].map(([, name = '']) => name);
  return (...given: unknown[]): unknown => {
    const path = Object.fromEntries(names.map((name, n) => [name, given[n]])) as Call['path'];
    const rest = given.slice(names.length);
    const taken = takes && (rest.shift() ?? {});
    const options = rest[0] as CallOptions | undefined;
    if (reads === 'page') {
      const { limit, cursor, ...query } = taken as ListOptions;
      return list(() => ({ route, path, query }) as Call, { limit, cursor }, options, toPage);
    }
    const build = () =>
      ({ route, path, [takes ?? '']: taken, repeatable, asText: reads === 'text' }) as Call;
    if (reads === 'nothing') return one(build, options, nothing);
    return one(build, options, reads === 'list' ? (answer) => toPage(answer).result : undefined);
  };
}

const nothing = (): void => {};

function toPage<Row>(answer: unknown): AnyPage<Row> {
  const page = answer as AnyPage<Row> | undefined;
  if (Array.isArray(page?.result)) return page;
  throw new SluiceError('invalid_answer', 'The answer is no list');
}

async function* readLiveEvents(
  connection: Connection,
  { signal, lastEventId, onState }: LiveEventsOptions = {},
): AsyncGenerator<ReceivedEvent, undefined> {
  let lastId = lastEventId;
  let failures = 0;
  try {
    for (;;) {
      if (signal?.aborted) return;
      onState?.({ state: 'connecting' });
      let problem: SluiceError;
      try {
        const onId = (id: string): void => void (lastId = id);
        for await (const received of readOnce(connection, { lastId, onId, signal, onState })) {
          failures = 0;
          lastId = received.id || lastId;
          yield received;
        }
        problem = new SluiceError('network_error', 'The live connection ended');
      } catch (error) {
        if (signal?.aborted) return;
        if (!isSluiceError(error) || !mayReconnect(error)) throw error;
        problem = error;
      }
      const limitMs = Math.min(RECONNECT_MAX_MS, RECONNECT_MIN_MS * 2 ** failures++);
      const retryInMs = RECONNECT_MIN_MS + Math.random() * (limitMs - RECONNECT_MIN_MS);
      onState?.({ state: 'waiting', retryInMs, error: problem });
      try {
        await sleep(retryInMs, signal);
      } catch {
        return;
      }
    }
  } finally {
    onState?.({ state: 'closed' });
  }
}

const mayReconnect = ({ code }: SluiceError): boolean =>
  code === 'network_error' ||
  code === 'timeout' ||
  code === 'rate_limited' ||
  code === 'server_error';

/** One connection, until it ends or breaks. */
async function* readOnce(
  connection: Connection,
  {
    lastId,
    onId,
    signal,
    onState,
  }: Pick<LiveEventsOptions, 'signal' | 'onState'> & {
    lastId: string | undefined;
    onId(id: string): void;
  },
): AsyncGenerator<ReceivedEvent, undefined> {
  const own = new AbortController();
  const onAbort = () => own.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (lastId) headers['last-event-id'] = lastId;
    const options = { signal: own.signal, headers };
    const response = await connection.open({ route: SLUICE_ROUTES.liveEvents }, options);
    if (!response.headers.get('content-type')?.includes('text/event-stream') || !response.body) {
      throw new SluiceError('invalid_answer', 'The answer is no event stream');
    }
    // The headers come before the service has looked where its events stand; its greeting comes after.
    const chunks = readChunks(response.body, () => onState?.({ state: 'live' }));
    for await (const { id, data } of readEventStream(chunks, onId)) {
      yield { id, event: parseEvent(data) };
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    own.abort();
  }
}

/** The bytes of a body; a failure, or silence, is a network error. */
async function* readChunks(
  body: ReadableStream<Uint8Array>,
  onFirst: () => void,
): AsyncGenerator<Uint8Array, undefined> {
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isFirst = true;
  try {
    for (;;) {
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          reject(new SluiceError('network_error', `Nothing came for ${SILENCE_MS / 1000} s`));
        }, SILENCE_MS);
      });
      const { done, value } = await Promise.race([reader.read(), silence]);
      clearTimeout(timer);
      if (done) return;
      if (isFirst) onFirst();
      isFirst = false;
      yield value;
    }
  } catch (cause) {
    if (isSluiceError(cause)) throw cause;
    throw new SluiceError('network_error', 'The live connection broke', { cause });
  } finally {
    clearTimeout(timer);
    // Not awaited: cancelling may wait for a connection that has gone silent.
    reader.cancel().catch(() => {});
  }
}

function parseEvent(data: string): LiveEvent {
  try {
    return JSON.parse(data) as LiveEvent;
  } catch (cause) {
    throw new SluiceError('invalid_answer', 'A live event is not JSON', { cause });
  }
}
