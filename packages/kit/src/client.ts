/** `createClient`: every call of the compatible API as a method. */
import { toChainId } from './contract/chains.ts';
import { checksumAddress, toAddress } from './contract/evm.ts';
import { ROUTES } from './contract/routes.ts';
import { PAGE_LIMIT } from './contract/streams.ts';
import type {
  AbiItem,
  AddressesAnswer,
  CreateEvmStream,
  EvmStream,
  Page,
  StreamAddress,
  StreamStatus,
} from './contract/streams.ts';
import { SluiceError } from './errors.ts';
import { createList } from './pages.ts';
import type { ListResult } from './pages.ts';
import { connect } from './request.ts';
import type { Call, CallOptions, Connection, ConnectionOptions } from './request.ts';
import type { Abi } from 'abitype';

export interface ClientOptions extends Omit<ConnectionOptions, 'apiKey'> {
  /**
   * Sent as `x-api-key`. Visible ASCII characters, no spaces. Null in a page of the service's own
   * origin, where the session's cookie speaks instead.
   */
  apiKey: string | null;
}

/** A stream as a service answers it. What the hosted service may leave out is optional. */
export interface Stream extends Omit<EvmStream, 'createdAt' | 'updatedAt' | 'amountOfAddresses'> {
  /** ISO 8601. */
  createdAt?: string;
  /** ISO 8601. */
  updatedAt?: string;
  amountOfAddresses?: number;
}

type Accepts<T> = T extends (infer Item)[] ? readonly Item[] : T;

/** What a stream watches and where it delivers; see {@link CreateEvmStream} for each field. */
export type StreamFields = {
  readonly [K in keyof CreateEvmStream as Exclude<K, 'chainIds' | 'abi'>]: Accepts<
    CreateEvmStream[K]
  >;
} & {
  /** Hex (`0x89`), decimal text (`137`) or numbers (`137`); at least one. */
  readonly chainIds: readonly (string | number)[];
  /** Event items used to decode; an `as const` ABI will do. */
  readonly abi?: readonly AbiItem[] | Abi | null | undefined;
};

export interface NetworkChoice {
  /**
   * The chain family.
   * @default 'evm'
   */
  readonly networkType?: 'evm' | undefined;
}

/** Any part of a stream; what is absent stays as it is. */
export type StreamChanges = Partial<StreamFields>;

export interface ListOptions {
  /**
   * Rows per page, 1 to 100.
   * @default 100
   */
  readonly limit?: number | undefined;
  /** The `cursor` of an earlier page, to go on after it. */
  readonly cursor?: string | undefined;
}

export interface ListStreamsOptions extends ListOptions, NetworkChoice {
  /** Only streams with this status. Ours; the hosted service may ignore it. */
  readonly status?: StreamStatus | undefined;
}

/** Every method rejects with a SluiceError; an argument that cannot be right is not sent at all. */
export interface StreamsClient {
  /** Creates a stream. The service first POSTs a test webhook to `webhookUrl` and needs a 2xx. */
  create(stream: StreamFields & NetworkChoice, options?: CallOptions): Promise<Stream>;
  list(query?: ListStreamsOptions, options?: CallOptions): ListResult<Stream>;
  get(id: string, options?: CallOptions): Promise<Stream>;
  /** Changes the given fields; the service POSTs a test webhook again. */
  update(id: string, changes: StreamChanges, options?: CallOptions): Promise<Stream>;
  /** Deletes a stream and answers it as it was. */
  delete(id: string, options?: CallOptions): Promise<Stream>;
  /** Pauses or resumes; `error` and `terminated` are set by the service. */
  setStatus(id: string, status: 'active' | 'paused', options?: CallOptions): Promise<Stream>;
  /**
   * Watches more addresses, in any casing; known ones stay. `effectiveFrom` in the answer of our
   * service is, per chain, the first block they are watched at.
   */
  addAddress(
    id: string,
    address: string | readonly string[],
    options?: CallOptions,
  ): Promise<AddressesAnswer>;
  removeAddress(
    id: string,
    address: string | readonly string[],
    options?: CallOptions,
  ): Promise<AddressesAnswer>;
  listAddresses(id: string, query?: ListOptions, options?: CallOptions): ListResult<StreamAddress>;
}

export interface Client {
  readonly streams: StreamsClient;
}

/**
 * A client for one account of a service.
 * @throws SluiceError `invalid_argument` when an option is unusable.
 */
export function createClient(options: ClientOptions): Client {
  if (options.apiKey === undefined) {
    throw new SluiceError('invalid_argument', 'apiKey is required');
  }
  const { apiKey, ...rest } = options;
  const connection =
    apiKey === null ? connect(rest, { credentials: 'same-origin' }) : connect({ ...rest, apiKey });
  return { streams: createStreams(connection) };
}

function createStreams(connection: Connection): StreamsClient {
  /** A call whose answer is one stream. */
  const streamCall = async (call: Call, options: CallOptions | undefined): Promise<Stream> =>
    toStream(await connection.request(call, options));

  return {
    async create({ networkType, ...fields }, options) {
      checkNetwork(networkType);
      return streamCall({ route: ROUTES.createEvmStream, body: toBody(fields) }, options);
    },

    list({ networkType, limit, cursor, status } = {}, options = {}) {
      return createList(async (next) => {
        checkNetwork(networkType);
        const query = { limit: toLimit(limit), cursor: next ?? cursor, status };
        const call = { route: ROUTES.listEvmStreams, query };
        const page = toPage(await connection.request<Page<unknown> | undefined>(call, options));
        return { ...page, result: page.result.map(toStream) };
      });
    },

    async get(id, options) {
      return streamCall({ route: ROUTES.getEvmStream, path: { id } }, options);
    },

    async update(id, changes, options) {
      const body = toBody(changes);
      const route = ROUTES.updateEvmStream;
      return streamCall({ route, path: { id }, body, repeatable: true }, options);
    },

    async delete(id, options) {
      return streamCall({ route: ROUTES.deleteEvmStream, path: { id }, body: {} }, options);
    },

    async setStatus(id, status, options) {
      const route = ROUTES.setEvmStreamStatus;
      return streamCall({ route, path: { id }, body: { status }, repeatable: true }, options);
    },

    async addAddress(id, address, options) {
      const body = { address: mapAddresses(address, checksumAddress) };
      const route = ROUTES.addEvmAddresses;
      return connection.request({ route, path: { id }, body, repeatable: true }, options);
    },

    async removeAddress(id, address, options) {
      const body = { address: mapAddresses(address, (it) => it) };
      return connection.request({ route: ROUTES.removeEvmAddresses, path: { id }, body }, options);
    },

    listAddresses(id, { limit, cursor } = {}, options = {}) {
      return createList(async (next) => {
        const query = { limit: toLimit(limit), cursor: next ?? cursor };
        const call = { route: ROUTES.listEvmAddresses, path: { id }, query };
        return toPage(await connection.request<Page<StreamAddress> | undefined>(call, options));
      });
    },
  };
}

/** Callers without a compiler may ask for any network. */
function checkNetwork(networkType: unknown): void {
  if (networkType === undefined || networkType === 'evm') return;
  if (networkType === 'aptos') {
    throw new SluiceError('unsupported_network', 'The kit does not manage Aptos streams yet');
  }
  throw new SluiceError(
    'invalid_network',
    `Incorrect network provided. Got "${networkType as string}", Valid values are: "aptos", "evm"`,
  );
}

function toBody(fields: StreamChanges): unknown {
  const { chainIds } = fields;
  if (chainIds === undefined) return fields;
  if (!Array.isArray(chainIds)) {
    throw new SluiceError('invalid_argument', 'chainIds should be an array, e.g. ["0x1"]');
  }
  return { ...fields, chainIds: chainIds.map(toChainIdStrictly) };
}

function toChainIdStrictly(value: unknown): string {
  const id = toChainId(value);
  if (id !== undefined) return id;
  throw new SluiceError(
    'invalid_argument',
    `chainIds: ${JSON.stringify(value)} is no chain id; use hex such as "0x1" or a number`,
  );
}

function toLimit(limit: number = PAGE_LIMIT): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_LIMIT) return limit;
  throw new SluiceError(
    'invalid_argument',
    `limit should be a whole number from 1 to ${PAGE_LIMIT}`,
  );
}

/** Each address through `spell`, which gets it in lower case. */
function mapAddresses(
  given: string | readonly string[],
  spell: (address: string) => string,
): string | string[] {
  const one = (value: unknown): string => {
    const address = toAddress(value);
    if (address !== undefined) return spell(address);
    throw new SluiceError(
      'invalid_argument',
      `Invalid address provided: ${JSON.stringify(value)} is not 0x and 40 hex digits`,
    );
  };
  return typeof given === 'string' || !Array.isArray(given) ? one(given) : given.map(one);
}

const FLAGS = [
  'allAddresses',
  'includeNativeTxs',
  'includeContractLogs',
  'includeInternalTxs',
  'includeAllTxLogs',
  'filterPossibleSpamAddresses',
  'demo',
] as const satisfies (keyof EvmStream)[];

const NULLABLE = [
  'topic0',
  'getNativeBalances',
  'abi',
  'advancedOptions',
  'triggers',
] as const satisfies (keyof EvmStream)[];

const TEXTS = ['description', 'tag', 'statusMessage'] as const satisfies (keyof EvmStream)[];

/** Fills what a service leaves out, and keeps what it adds. */
function toStream(answer: unknown): Stream {
  if (typeof answer !== 'object' || answer === null || !('id' in answer)) {
    throw new SluiceError('invalid_answer', 'The answer is no stream');
  }
  const stream: { [field: string]: unknown } = { ...answer };
  for (const field of FLAGS) stream[field] ??= false;
  for (const field of NULLABLE) stream[field] ??= null;
  for (const field of TEXTS) stream[field] ??= '';
  return stream as object as Stream;
}

function toPage<Row>(answer: Page<Row> | undefined): Page<Row> {
  const result = Array.isArray(answer?.result) ? answer.result : [];
  return { ...answer, result, total: answer?.total ?? 0 };
}
