/**
 * The published official npm client. An interceptor in its HTTP library redirects the requests to
 * the tested service, because the client has no setting for the address. Its types are declared
 * here, because its packages are not installed when the project is type-checked.
 */
import { createRequire } from 'node:module';
import type {
  DeliveryLog,
  HistoryRecord,
  Settings,
  Stats,
  StreamStats,
} from '@sluice/kit/contract';

const require = createRequire(new URL('../peers/package.json', import.meta.url));

const HOSTED = 'https://api.moralis-streams.com';

type Json = Record<string, unknown>;

export interface OfficialChain {
  readonly hex: string;
}
export interface OfficialAddress {
  readonly checksum: string;
  readonly lowercase: string;
}
export interface OfficialStream {
  readonly id: string;
  readonly webhookUrl: string;
  readonly description: string;
  readonly tag: string;
  readonly chains: readonly OfficialChain[];
  readonly chainIds: readonly string[];
  readonly topic0: readonly string[] | undefined;
  readonly abi: unknown;
  readonly allAddresses: boolean;
  readonly includeNativeTxs: boolean;
  readonly includeContractLogs: boolean;
  readonly includeInternalTxs: boolean;
  readonly includeAllTxLogs: boolean;
  readonly advancedOptions: unknown;
  readonly status: string;
  readonly statusMessage: string;
  toJSON(): Json;
}
export interface OfficialAddresses {
  readonly streamId: string;
  readonly address: OfficialAddress | readonly OfficialAddress[];
}
export interface OfficialResponse<Result> {
  readonly result: Result;
  readonly raw: unknown;
  toJSON(): unknown;
}
export interface OfficialPage<Result> extends OfficialResponse<Result> {
  readonly pagination: { readonly total: number; readonly cursor?: string };
  hasNext(): boolean;
  next(): Promise<OfficialPage<Result>>;
}

export interface OfficialStreams {
  add(options: Json): Promise<OfficialResponse<OfficialStream>>;
  update(options: Json): Promise<OfficialResponse<OfficialStream>>;
  delete(options: { id: string }): Promise<OfficialResponse<OfficialStream>>;
  getAll(options: {
    limit?: number;
    cursor?: string;
  }): Promise<OfficialPage<readonly OfficialStream[]>>;
  getById(options: { id: string }): Promise<OfficialResponse<OfficialStream>>;
  updateStatus(options: { id: string; status: string }): Promise<OfficialResponse<OfficialStream>>;
  addAddress(options: {
    id: string;
    address: string | readonly string[];
  }): Promise<OfficialResponse<OfficialAddresses>>;
  deleteAddress(options: {
    id: string;
    address: string | readonly string[];
  }): Promise<OfficialResponse<OfficialAddresses>>;
  getAddresses(options: {
    id: string;
    limit?: number;
    cursor?: string;
  }): Promise<OfficialPage<readonly { address: OfficialAddress }[]>>;
  getHistory(options: {
    limit: number;
    cursor?: string;
    excludePayload?: boolean;
  }): Promise<OfficialPage<readonly HistoryRecord[]>>;
  getLogs(options: {
    limit: number;
    cursor?: string;
  }): Promise<
    OfficialPage<readonly (Omit<DeliveryLog, 'chain'> & { readonly chain: OfficialChain })[]>
  >;
  retry(options: { id: string; streamId: string }): Promise<OfficialResponse<HistoryRecord>>;
  getStats(): Promise<OfficialResponse<Stats>>;
  getStatsById(options: { streamId: string }): Promise<OfficialResponse<StreamStats>>;
  setSettings(options: Json): Promise<OfficialResponse<Settings>>;
  readSettings(): Promise<OfficialResponse<Settings>>;
  verifySignature(options: { body: unknown; signature: string }): boolean;
  parsedLogs(webhook: unknown): Json[];
}

/** The methods of `OfficialStreams` that support Aptos streams, with the types for Aptos. */
export interface OfficialAptosStreams {
  add(options: Json): Promise<OfficialResponse<OfficialAptosStream>>;
  update(options: Json): Promise<OfficialResponse<OfficialAptosStream>>;
  delete(options: Json): Promise<OfficialResponse<unknown>>;
  getAll(options: Json): Promise<OfficialPage<readonly OfficialAptosStream[]>>;
  getById(options: Json): Promise<OfficialResponse<OfficialAptosStream>>;
  updateStatus(options: Json): Promise<OfficialResponse<unknown>>;
  addAddress(options: Json): Promise<OfficialResponse<OfficialAptosAddresses>>;
  deleteAddress(options: Json): Promise<OfficialResponse<OfficialAptosAddresses>>;
  getAddresses(options: Json): Promise<OfficialPage<unknown>>;
}

export interface OfficialAptosStream {
  readonly id: string;
  readonly network: readonly string[];
  toJSON(): Json;
}

export interface OfficialAptosAddresses {
  readonly streamId: string;
  readonly address: unknown;
}

export interface SentRequest {
  readonly method: string;
  readonly url: string;
  /** The body as the client passes it to its HTTP library. */
  readonly body: unknown;
}

export interface OfficialClient {
  readonly streams: OfficialStreams;
  /** Starts a second client with a different API key, and returns its streams. */
  withApiKey(apiKey: string): Promise<OfficialStreams>;
  /** Requests so far, oldest first, with their original URLs. */
  readonly sent: readonly SentRequest[];
}

interface AxiosConfig {
  url?: string;
  method?: string;
  data?: unknown;
  proxy?: false;
}
interface Core {
  registerModules(modules: readonly unknown[]): void;
  start(config: Json): Promise<void>;
}
interface Module<Instance> {
  create(core: Core): Instance;
}

/** Starts the client. A process can do this only once. */
export async function startOfficialClient({
  baseUrl,
  apiKey,
  streamsSecret,
}: {
  baseUrl: string;
  apiKey: string;
  streamsSecret: string;
}): Promise<OfficialClient> {
  const axios = require('axios') as {
    interceptors: { request: { use(change: (config: AxiosConfig) => AxiosConfig): void } };
  };
  const { default: Moralis } = require('moralis') as {
    default: { Streams: OfficialStreams; start(config: Json): Promise<void> };
  };

  const sent: SentRequest[] = [];
  axios.interceptors.request.use((config) => {
    const { url = '', method = '', data } = config;
    if (!url.startsWith(HOSTED))
      throw new Error(`Unexpected request of the official client to ${url}`);
    sent.push({ method: method.toUpperCase(), url, body: data });
    return { ...config, url: baseUrl + url.slice(HOSTED.length), proxy: false };
  });
  await Moralis.start({ apiKey, streamsSecret });

  return {
    streams: Moralis.Streams,
    sent,
    async withApiKey(apiKey) {
      const { Core } = require('moralis/common-core') as { Core: { create(): Core } };
      const { Streams } = require('moralis/streams') as { Streams: Module<OfficialStreams> };
      const { ApiUtils } = require('@moralisweb3/api-utils') as { ApiUtils: Module<unknown> };
      const { CommonEvmUtils } = require('moralis/common-evm-utils') as {
        CommonEvmUtils: Module<unknown>;
      };
      const core = Core.create();
      const streams = Streams.create(core);
      core.registerModules([CommonEvmUtils.create(core), ApiUtils.create(core), streams]);
      await core.start({ apiKey });
      return streams;
    },
  };
}
