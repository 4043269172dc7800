/** Creates a client with a method for every call of the compatible API. */
import { toPage, toStream } from './compatible/responses.ts';
import type { Stream } from './compatible/responses.ts';
import {
  lowerAddress,
  mapAddresses,
  toBlockNumber,
  toChainIds,
  toChainIdStrictly,
  toEvmBody,
  toLabels,
} from './compatible/arguments.ts';
import { createCalls } from './calls.ts';
import type { Calls } from './calls.ts';
import type {
  AddressesResponse,
  AptosStream,
  AptosStreamStatus,
  CreateAptosStream,
  CreateEvmStream,
  DeliveryLog,
  DryRunResult,
  CompatibleDryRun,
  HistoricalJob,
  HistoricalJobResponse,
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
import type { ListResult } from './pages.ts';
import { connect } from './request.ts';
import type { Call, CallOptions, CallResult, ConnectionOptions } from './request.ts';
import type { Given } from './given.ts';
import { checksummedAddress, networkOf, type NetworkCalls } from './compatible/networks.ts';

/** Options of {@link createClient}. */
export interface ClientOptions extends Omit<ConnectionOptions, 'apiKey'> {
  /**
   * API key, sent as `x-api-key`: visible ASCII characters without spaces. Pass null on pages of
   * the service's own origin, where the session cookie authenticates instead.
   */
  apiKey: string | null;
}

/** The chain families, with the response types of their stream calls. */
export interface Networks {
  evm: { stream: Stream; deleted: Stream; status: Stream };
  aptos: { stream: AptosStream; deleted: true; status: AptosStreamStatus };
}

/** The name of a chain family: `evm` or `aptos`. */
export type NetworkType = keyof Networks;

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

/** Labels of addresses, in a call that adds or replaces addresses. */
export interface LabelOptions {
  /**
   * Labels by address, for addresses in this call. Addresses may have any casing. A label has at
   * most 64 characters; an empty one removes the label. `listAddresses` returns labels as `label`.
   * Sluice only; the hosted service rejects them.
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

interface AptosChoice {
  readonly networkType: 'aptos';
}

/** The fields of an EVM stream; see {@link CreateEvmStream}. */
export type StreamFields = Given<CreateEvmStream>;

/** Fields of an EVM stream to change; absent fields stay unchanged. */
export type StreamChanges = Partial<StreamFields>;

/** The fields of an Aptos stream; see {@link CreateAptosStream}. */
export type AptosStreamFields = Omit<Given<CreateAptosStream>, 'network'> & {
  /** At least one network: a name, or the chain id `1` (mainnet) or `2` (testnet). */
  readonly network: readonly (CreateAptosStream['network'][number] | '1' | '2')[];
};

/** Fields of an Aptos stream to change; absent fields stay unchanged. */
export type AptosStreamChanges = Partial<AptosStreamFields>;

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

/** A block of a chain. */
export interface BlockIdentifier {
  /** Hex, a decimal string or a number. */
  readonly chainId: string | number;
  readonly blockNumber: number;
}

/** A block, and the fields of the stream to preview for it. */
export type DryRunOptions = BlockIdentifier & Given<CompatibleDryRun>;

/** A stream and the inclusive range of past blocks to match. */
export type HistoricalJobOptions = Given<HistoricalJob> & Pick<BlockIdentifier, 'chainId'>;

/**
 * The calls about streams. Methods reject only with a SluiceError; calls with invalid arguments are
 * not sent.
 */
export interface StreamsClient {
  /**
   * Creates a stream. The service first POSTs a test webhook to `webhookUrl`, and rejects the
   * stream unless the response is a 2xx.
   */
  create(stream: AptosStreamFields & AptosChoice, options?: CallOptions): CallResult<AptosStream>;
  create(stream: StreamFields & NetworkOptions<'evm'>, options?: CallOptions): CallResult<Stream>;
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
  update(
    id: string,
    changes: AptosStreamChanges & AptosChoice,
    options?: CallOptions,
  ): CallResult<AptosStream>;
  update(
    id: string,
    changes: StreamChanges & NetworkOptions<'evm'>,
    options?: CallOptions,
  ): CallResult<Stream>;
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

  // The calls below are for EVM streams and newer than the official client. A service without them
  // rejects with `not_found`.

  /** Creates a stream with the fields and addresses of the stream `id`. */
  duplicate(id: string, options?: CallOptions): CallResult<Stream>;
  /** Replaces all addresses. Addresses without a label in the call lose their labels. */
  replaceAddresses(
    id: string,
    addresses: readonly string[],
    options?: CallOptions & LabelOptions,
  ): CallResult<AddressesResponse>;
  /** Previews the webhook that a stream would send for a block. Nothing is sent or stored. */
  dryRunBlock(dryRun: DryRunOptions, options?: CallOptions): CallResult<DryRunResult>;
  /**
   * Matches a block against the stream as it is now, and sends the webhook. Sluice returns the
   * number of records; if it is 0, no webhook is sent.
   */
  sendBlock(
    block: BlockIdentifier & { readonly streamId: string },
    options?: CallOptions,
  ): CallResult<number | null | undefined>;
  /** Starts a backfill: matches an inclusive range of past blocks, and sends the webhooks. */
  createHistoricalJob(
    job: HistoricalJobOptions,
    options?: CallOptions,
  ): CallResult<HistoricalJobResponse>;
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
  const connection =
    apiKey === null ? connect(rest, { credentials: 'same-origin' }) : connect({ ...rest, apiKey });

  const calls = createCalls(connection);
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

function createStreams({ one, list }: Calls): StreamsClient {
  /** Sends a call whose response is a stream. */
  const streamCall = <Data>(
    networkType: unknown,
    build: (network: NetworkCalls) => Call,
    options: CallOptions | undefined,
  ): CallResult<Data> =>
    one(
      () => build(networkOf(networkType)),
      options,
      (body) => networkOf(networkType).toStream(body) as Data,
    );

  return {
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
        () => ({ route: networkOf(networkType).routes.list, query: { status } }),
        place,
        options,
        pageOf((row) => networkOf(networkType).toStream(row) as Networks[Network]['stream']),
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
        () => ({ route: networkOf(networkType).routes.delete, path: { id }, body: {} }),
        options,
        (body) => (networkType === 'aptos' ? body : toStream(body)) as never,
      ),

    setStatus: <Network extends NetworkType>(
      id: string,
      status: 'active' | 'paused',
      { networkType, ...options }: StreamCallOptions<Network> = {},
    ) =>
      one<Networks[Network]['status']>(
        () => ({
          route: networkOf(networkType).routes.setStatus,
          path: { id },
          body: { status },
          repeatable: true,
        }),
        options,
        (body) => (networkType === 'aptos' ? body : toStream(body)) as never,
      ),

    addAddress: (id, given, { networkType, labels, ...options } = {}) =>
      one(() => {
        const { routes, added } = networkOf(networkType);
        const body = { address: mapAddresses(given, added), ...toLabels(labels, added) };
        return { route: routes.addAddresses, path: { id }, body, repeatable: true };
      }, options),

    removeAddress: (id, given, { networkType, ...options } = {}) =>
      one(() => {
        const { routes, removed } = networkOf(networkType);
        const body = { address: mapAddresses(given, removed) };
        return { route: routes.removeAddresses, path: { id }, body };
      }, options),

    listAddresses: (id, { networkType, ...place } = {}, options) =>
      list(
        () => ({ route: networkOf(networkType).routes.listAddresses, path: { id } }),
        place,
        options,
        pageOf<StreamAddress>(),
      ),

    duplicate: (id, options) =>
      one(() => ({ route: ROUTES.duplicateEvmStream, path: { id } }), options, toStream),

    replaceAddresses: (id, addresses, { labels, ...options } = {}) =>
      one(() => {
        const body = {
          address: mapAddresses(addresses, checksummedAddress),
          ...toLabels(labels, checksummedAddress),
        };
        return { route: ROUTES.replaceEvmAddresses, path: { id }, body, repeatable: true };
      }, options),

    dryRunBlock: ({ chainId, blockNumber, addresses, ...fields }, options) =>
      one(() => {
        const body = {
          ...toEvmBody(fields),
          addresses: addresses && mapAddresses(addresses, lowerAddress),
        };
        const path = toBlockPath({ chainId, blockNumber });
        return { route: ROUTES.dryRunEvmBlock, path, body, repeatable: true };
      }, options),

    sendBlock: ({ streamId, ...block }, options) =>
      one(
        () => ({ route: ROUTES.sendEvmBlock, path: { ...toBlockPath(block), streamId } }),
        options,
      ),

    createHistoricalJob: ({ chainId, streamId, blockFrom, blockTo }, options) =>
      one(
        () => ({
          route: ROUTES.createHistoricalJob,
          body: {
            chainId: toChainIdStrictly('chainId', chainId),
            streamId,
            blockFrom: toBlockNumber('blockFrom', blockFrom),
            blockTo: toBlockNumber('blockTo', blockTo),
          },
        }),
        options,
      ),
  };
}

const toBlockPath = ({ chainId, blockNumber }: BlockIdentifier) => ({
  chainId: toChainIdStrictly('chainId', chainId),
  blockNumber: String(toBlockNumber('blockNumber', blockNumber)),
});

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
