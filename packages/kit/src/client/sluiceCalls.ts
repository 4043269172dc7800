/**
 * The calls of the routes that only Sluice has, such as deliveries, chain health, live events and
 * console sessions. The console is built on them.
 */
import { SLUICE_ROUTES } from '../contract/routes.generated.ts';
import type { SluiceRoute } from '../contract/route.ts';
import type {
  DeliveryFilter,
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
import type { ImportAddressesOptions } from './importAddresses.ts';
import type { AnyPage } from './pages.ts';
import { connect, sleep } from './request.ts';
import type { Call, CallOptions, CallResult, Connection, ConnectionOptions } from './request.ts';
import type { SluiceMethods } from './sluiceMethods.generated.ts';

/** The state of a live connection. */
export type LiveState =
  | { readonly state: 'connecting' }
  /** The connection is open; events are received. */
  | { readonly state: 'live' }
  /** The connection failed. It is opened again after `retryInMs`. */
  | { readonly state: 'waiting'; readonly retryInMs: number; readonly error: SluiceError }
  /** The connection ended: it was aborted, closed, or permanently rejected. */
  | { readonly state: 'closed' };

/** Options of `liveEvents`. */
export interface LiveEventsOptions {
  /** Signal that ends the iteration without error. */
  readonly signal?: AbortSignal | undefined;
  /** Id of the last event that was handled; the events after it are sent first. */
  readonly lastEventId?: string | undefined;
  /** Called at each state change of the connection. */
  readonly onState?: ((state: LiveState) => void) | undefined;
}

/** A live event with its id. */
export interface ReceivedLiveEvent {
  /** Unique id. Pass the last one as `lastEventId` to resume after it. */
  readonly id: string;
  readonly event: LiveEvent;
}

/** The calls of a Sluice client. They reject only with a SluiceError. */
export interface SluiceCalls extends SluiceMethods {
  /**
   * Exchanges an API key for a session cookie; rejects with `unauthorized` if the key is invalid.
   * The audit log shows `sessionName`, one line of at most 60 characters. Default: no name.
   */
  createSession(
    apiKey: string,
    options?: CallOptions & { readonly sessionName?: string | undefined },
  ): CallResult<void>;
  /** Returns whether this client is authenticated, by key or session. */
  checkSession(options?: CallOptions): CallResult<boolean>;
  /**
   * Adds many addresses to a stream, in order, in parts that take about 100 ms each. Each part is
   * added completely or not at all. Existing addresses stay, so an interrupted import can resume at
   * any earlier point.
   */
  importAddresses(wanted: ImportAddressesOptions, options?: CallOptions): Promise<void>;
  /**
   * Explains for each stream why a webhook was or was not sent. Takes a hash, a block number, a
   * ledger version, an address, a name that ends in `.eth`, or a delivery id. Pass `chain` if
   * several chains match. A query without results is not an error.
   */
  explain(
    query: string,
    options?: CallOptions & { readonly chain?: string | undefined },
  ): CallResult<Explanation>;
  /** Estimates what a replay of the deliveries that match `filter` would send. */
  estimateReplay(filter: DeliveryFilter, options?: CallOptions): CallResult<ReplayEstimate>;
  /** Pauses, resumes or cancels a backfill; rejects with `conflict` if the backfill has ended. */
  setJobState(
    id: string,
    state: 'paused' | 'running' | 'cancelled',
    options?: CallOptions,
  ): CallResult<Job>;
  /**
   * Yields live events. A broken connection is resumed after 1 to 10 s. `{ type: 'reset' }` means
   * that events were missed: refetch all data. Throws if the service rejects the connection
   * permanently, for example with `unauthorized`.
   */
  liveEvents(options?: LiveEventsOptions): AsyncGenerator<ReceivedLiveEvent, undefined>;
}

/** The service sends data at least every 2 s, so a connection that is silent for 5 s is dead. */
const SILENCE_MS = 5_000;
const RECONNECT_MIN_MS = 1_000;
const RECONNECT_MAX_MS = 10_000;

/** Creates the calls of `createSluiceClient`. */
export function createSluiceCalls(options: ConnectionOptions): SluiceCalls {
  const connection = connect(options);
  const calls = createCalls(connection);
  const { one } = calls;
  const toMethods = Object.entries(SLUICE_ROUTES).map(([name, route]) => [
    name,
    toMethod(route, calls),
  ]);
  return {
    ...(Object.fromEntries(toMethods) as SluiceMethods),

    createSession: (apiKey, { sessionName, ...options } = {}) =>
      one(
        () => ({
          route: SLUICE_ROUTES.createSession,
          body: { apiKey, sessionName },
          secrets: [apiKey],
        }),
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

/** Creates a method that takes the path parameters, then the query or body, then options. */
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
    return one(build, options, reads === 'list' ? (body) => toPage(body).result : undefined);
  };
}

const nothing = (): void => {};

function toPage<Row>(body: unknown): AnyPage<Row> {
  const page = body as AnyPage<Row> | undefined;
  if (Array.isArray(page?.result)) return page;
  throw new SluiceError('invalid_response', 'The response is not a list');
}

async function* readLiveEvents(
  connection: Connection,
  { signal, lastEventId, onState }: LiveEventsOptions = {},
): AsyncGenerator<ReceivedLiveEvent, undefined> {
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

/** Reads one connection until it ends or breaks. */
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
): AsyncGenerator<ReceivedLiveEvent, undefined> {
  const own = new AbortController();
  const onAbort = () => own.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (lastId) headers['last-event-id'] = lastId;
    const options = { signal: own.signal, headers };
    const response = await connection.open({ route: SLUICE_ROUTES.liveEvents }, options);
    if (!response.headers.get('content-type')?.includes('text/event-stream') || !response.body) {
      throw new SluiceError('invalid_response', 'The response is not an event stream');
    }
    // The service sends the headers before it finds the position of the first event, and a greeting
    // afterward. The connection is live from the greeting on.
    const chunks = readChunks(response.body, () => onState?.({ state: 'live' }));
    for await (const { id, data } of readEventStream(chunks, onId)) {
      yield { id, event: parseEvent(data) };
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    own.abort();
  }
}

/** Yields the bytes of a body; throws `network_error` on failure or silence. */
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
          reject(new SluiceError('network_error', `No data received for ${SILENCE_MS / 1000} s`));
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
    // Not awaited, because canceling may wait for a silent connection.
    reader.cancel().catch(() => {});
  }
}

function parseEvent(data: string): LiveEvent {
  try {
    return JSON.parse(data) as LiveEvent;
  } catch (cause) {
    throw new SluiceError('invalid_response', 'A live event is not JSON', { cause });
  }
}
