/** Creates a client with a method for every call of the compatible API. */
import { toPage } from './compatible/responses.ts';
import { type LabelOptions, mapAddresses, toChainIds, toLabels } from './compatible/arguments.ts';
import type { NetworkCalls } from './compatible/networkCalls.ts';
import { createCalls } from './calls.ts';
import type { Calls } from './calls.ts';
import type {
  AddressesResponse,
  DeliveryLog,
  HistoryFilter,
  HistoryRecord,
  ListOptions,
  LogFilter,
  Settings,
  Stats,
  StreamAddress,
  StreamStats,
  StreamStatus,
} from '../contract/shapes.generated.ts';
import { ROUTES } from '../contract/routes.generated.ts';
import type { Page } from '../contract/generic.ts';
import { SluiceError } from '../errors.ts';
import { createFamilyStreams, networkCallsOf } from '../families/client.ts';
import type { FamilyStreamsClient, Networks, NetworkType } from '../families/client.ts';
import type { ListResult } from './pages.ts';
import { connect } from './request.ts';
import type { Call, CallOptions, CallResult, ConnectionOptions } from './request.ts';
import type { Given } from './given.ts';

/** Options of {@link createClient}. */
export interface ClientOptions extends Omit<ConnectionOptions, 'apiKey'> {
  /**
   * API key, sent as `x-api-key`: visible ASCII characters without spaces. Pass null on pages of
   * the service's own origin, where the session cookie authenticates instead.
   */
  apiKey: string | null;
}

/** The chain family of a stream call. */
export interface NetworkOptions<Network extends NetworkType = NetworkType> {
  /**
   * The chain family of the stream.
   * @default 'evm'
   */
  readonly networkType?: Network | undefined;
}

/** Call options with the chain family, for calls that take a stream's id but none of its fields. */
export type StreamCallOptions<Network extends NetworkType = NetworkType> = CallOptions &
  NetworkOptions<Network>;

/** Options of `streams.list`. */
export interface ListStreamsOptions<Network extends NetworkType = NetworkType>
  extends ListOptions, NetworkOptions<Network> {
  /**
   * Status of the streams to list. This option is newer than the official client; a service may
   * ignore it.
   */
  readonly status?: StreamStatus | undefined;
}

/** Options of `streams.listAddresses`. */
export interface ListAddressesOptions extends ListOptions, NetworkOptions {}

interface ChainFilter {
  /** Ids of the chains whose rows are listed: hex, decimal strings or numbers. */
  readonly chainId?: readonly (string | number)[] | undefined;
}

/**
 * Options of `history.list`. All except `excludePayload` and the page options are newer than the
 * official client; a service may ignore them.
 */
export type ListHistoryOptions = ListOptions & Given<HistoryFilter> & ChainFilter;

/**
 * Options of `history.logs`. The filters are newer than the official client; a service may ignore
 * them.
 */
export type ListLogsOptions = ListOptions & Given<LogFilter> & ChainFilter;

/**
 * The calls about streams. Methods reject only with a SluiceError; calls with invalid arguments are
 * not sent.
 */
export interface StreamsClient extends FamilyStreamsClient {
  /**
   * Creates a stream. The service first POSTs a test webhook to `webhookUrl`, and rejects the
   * stream unless the response is a 2xx.
   */
  create<Network extends NetworkType = 'evm'>(
    stream: Networks[Network]['fields'] & NetworkOptions<Network>,
    options?: CallOptions,
  ): CallResult<Networks[Network]['stream']>;
  list<Network extends NetworkType = 'evm'>(
    query?: ListStreamsOptions<Network>,
    options?: CallOptions,
  ): ListResult<Networks[Network]['stream']>;
  get<Network extends NetworkType = 'evm'>(
    id: string,
    options?: StreamCallOptions<Network>,
  ): CallResult<Networks[Network]['stream']>;
  /**
   * Changes the given fields. If `webhookUrl` or `headers` are given, the service first POSTs a
   * test webhook, as for a new stream.
   */
  update<Network extends NetworkType = 'evm'>(
    id: string,
    changes: Partial<Networks[Network]['fields']> & NetworkOptions<Network>,
    options?: CallOptions,
  ): CallResult<Networks[Network]['stream']>;
  /** Deletes a stream. Returns the deleted EVM stream, or `true` for Aptos. */
  delete<Network extends NetworkType = 'evm'>(
    id: string,
    options?: StreamCallOptions<Network>,
  ): CallResult<Networks[Network]['deleted']>;
  /**
   * Pauses or resumes a stream. Before Sluice resumes a stream, it POSTs a test webhook, as for a
   * new stream. Only the service sets the statuses `error` and `terminated`. Returns the stream for
   * EVM, but only the status for Aptos.
   */
  setStatus<Network extends NetworkType = 'evm'>(
    id: string,
    status: 'active' | 'paused',
    options?: StreamCallOptions<Network>,
  ): CallResult<Networks[Network]['status']>;
  /**
   * Adds addresses to the existing ones. Addresses may have any casing; the leading zeros of Aptos
   * addresses are optional. In responses of Sluice, `effectiveFrom` is the first block in which the
   * addresses are watched, by chain.
   */
  addAddress(
    id: string,
    address: string | readonly string[],
    options?: StreamCallOptions & LabelOptions,
  ): CallResult<AddressesResponse>;
  removeAddress(
    id: string,
    address: string | readonly string[],
    options?: StreamCallOptions,
  ): CallResult<AddressesResponse>;
  listAddresses(
    id: string,
    query?: ListAddressesOptions,
    options?: CallOptions,
  ): ListResult<StreamAddress>;
}

/** Reads the history of EVM and Aptos webhooks, newest first, and sends webhooks again. */
export interface HistoryClient {
  /** Lists webhooks whose last attempt failed, including those that will be retried. */
  list(query?: ListHistoryOptions, options?: CallOptions): ListResult<HistoryRecord>;
  /**
   * Lists attempted webhooks, including delivered ones, each with the result of its last attempt.
   */
  logs(query?: ListLogsOptions, options?: CallOptions): ListResult<DeliveryLog>;
  /** Sends a webhook of the history again, and returns its record. */
  replay(
    record: { readonly streamId: string; readonly id: string },
    options?: CallOptions,
  ): CallResult<HistoryRecord>;
}

/** Reads and changes the settings of the account. */
export interface SettingsClient {
  /** Reads the settings. `secretKey` is the streams secret, which signs webhooks: do not log it. */
  read(options?: CallOptions): CallResult<Settings>;
  /** Changes the given settings, and returns all of them. */
  set(settings: Readonly<Settings>, options?: CallOptions): CallResult<Settings>;
}

/** Reads delivery counters. */
export interface StatsClient {
  /** Reads the counters of all streams. */
  all(options?: CallOptions): CallResult<Stats>;
  /** Reads the counters of one stream; rejects with `not_found` if the stream does not exist. */
  stream(streamId: string, options?: CallOptions): CallResult<StreamStats>;
}

/** All calls of the compatible API, by topic. */
export interface Client {
  readonly streams: StreamsClient;
  readonly history: HistoryClient;
  readonly settings: SettingsClient;
  readonly stats: StatsClient;
}

/**
 * Creates a client for one account of a service.
 * @throws SluiceError `invalid_argument` if an option is invalid.
 */
export function createClient(options: ClientOptions): Client {
  if (options.apiKey === undefined) {
    throw new SluiceError('invalid_argument', 'apiKey is required');
  }
  const { apiKey, ...rest } = options;
  const calls = createCalls(connect({ ...rest, apiKey: apiKey ?? undefined }));
  return {
    streams: createStreams(calls),
    history: createHistory(calls),
    settings: createSettings(calls),
    stats: createStats(calls),
  };
}

/** Returns a function that reads a page and converts each row with `toRow`. */
const pageOf =
  <Row>(toRow: (row: unknown) => Row = (row) => row as Row) =>
  (body: unknown): Page<Row> =>
    toPage(body, toRow);

function createStreams(calls: Calls): StreamsClient {
  const { one, list } = calls;
  /** Sends a call whose response is a stream. */
  const streamCall = <Data>(
    networkType: unknown,
    build: (network: NetworkCalls) => Call,
    options: CallOptions | undefined,
  ): CallResult<Data> =>
    one(
      () => build(networkCallsOf(networkType)),
      options,
      (body) => networkCallsOf(networkType).toStream(body) as Data,
    );

  return {
    ...createFamilyStreams(calls),

    create: ({ networkType, ...fields }: NetworkOptions, options?: CallOptions) =>
      streamCall<never>(
        networkType,
        ({ routes, toBody }) => ({ route: routes.create, body: toBody(fields) }),
        options,
      ),

    list: <Network extends NetworkType>(
      { networkType, status, ...place }: ListStreamsOptions<Network> = {},
      options?: CallOptions,
    ) =>
      list(
        () => ({ route: networkCallsOf(networkType).routes.list, query: { status } }),
        place,
        options,
        pageOf((row) => networkCallsOf(networkType).toStream(row) as Networks[Network]['stream']),
      ),

    get: (id, { networkType, ...options } = {}) =>
      streamCall(networkType, ({ routes }) => ({ route: routes.get, path: { id } }), options),

    update: (id: string, { networkType, ...changes }: NetworkOptions, options?: CallOptions) =>
      streamCall<never>(
        networkType,
        ({ routes, toBody }) => ({
          route: routes.update,
          path: { id },
          body: toBody(changes),
          repeatable: true,
        }),
        options,
      ),

    delete: <Network extends NetworkType>(
      id: string,
      { networkType, ...options }: StreamCallOptions<Network> = {},
    ) =>
      one<Networks[Network]['deleted']>(
        () => ({ route: networkCallsOf(networkType).routes.delete, path: { id }, body: {} }),
        options,
        (body) => networkCallsOf(networkType).toDeleted(body) as never,
      ),

    setStatus: <Network extends NetworkType>(
      id: string,
      status: 'active' | 'paused',
      { networkType, ...options }: StreamCallOptions<Network> = {},
    ) =>
      one<Networks[Network]['status']>(
        () => ({
          route: networkCallsOf(networkType).routes.setStatus,
          path: { id },
          body: { status },
          repeatable: true,
        }),
        options,
        (body) => networkCallsOf(networkType).toStatus(body) as never,
      ),

    addAddress: (id, given, { networkType, labels, ...options } = {}) =>
      one(() => {
        const { routes, added } = networkCallsOf(networkType);
        const body = { address: mapAddresses(given, added), ...toLabels(labels, added) };
        return { route: routes.addAddresses, path: { id }, body, repeatable: true };
      }, options),

    removeAddress: (id, given, { networkType, ...options } = {}) =>
      one(() => {
        const { routes, removed } = networkCallsOf(networkType);
        const body = { address: mapAddresses(given, removed) };
        return { route: routes.removeAddresses, path: { id }, body };
      }, options),

    listAddresses: (id, { networkType, ...place } = {}, options) =>
      list(
        () => ({ route: networkCallsOf(networkType).routes.listAddresses, path: { id } }),
        place,
        options,
        pageOf<StreamAddress>(),
      ),
  };
}

function createHistory({ one, list }: Calls): HistoryClient {
  const toQuery = <Filter extends ChainFilter>(filter: Filter) => ({
    ...filter,
    chainId: filter.chainId && toChainIds(filter.chainId),
  });
  return {
    list: ({ limit, cursor, ...filter } = {}, options) =>
      list(
        () => ({ route: ROUTES.listHistory, query: toQuery(filter) }),
        { limit, cursor },
        options,
        pageOf<HistoryRecord>(),
      ),
    logs: ({ limit, cursor, ...filter } = {}, options) =>
      list(
        () => ({ route: ROUTES.listLogs, query: toQuery(filter) }),
        { limit, cursor },
        options,
        pageOf<DeliveryLog>(),
      ),
    replay: ({ streamId, id }, options) =>
      one(() => ({ route: ROUTES.replayHistory, path: { streamId, id }, body: {} }), options),
  };
}

function createSettings({ one }: Calls): SettingsClient {
  return {
    read: (options) => one(() => ({ route: ROUTES.readSettings }), options),
    set: (settings, options) =>
      one(() => {
        const { secretKey } = settings;
        const secrets = secretKey === undefined ? [] : [secretKey];
        return { route: ROUTES.setSettings, body: settings, repeatable: true, secrets };
      }, options),
  };
}

function createStats({ one }: Calls): StatsClient {
  return {
    all: (options) => one(() => ({ route: ROUTES.getStats }), options),
    stream: (streamId, options) =>
      one(() => ({ route: ROUTES.getStreamStats, path: { streamId } }), options),
  };
}
