/**
 * A server that returns the contract's example for every call and records the requests. It has no
 * other state, because only the requests are compared.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ROUTES, TEST_WEBHOOK } from '@sluice/kit/contract';

type RouteName = keyof typeof ROUTES;

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Query parameters, sorted by name; values of the same name keep their order. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Parsed JSON; undefined if the request has no body. */
  readonly body: unknown;
  readonly contentType: string | undefined;
  readonly apiKey: string | undefined;
}

export interface RecordingServer {
  readonly url: string;
  /** Returns the requests since the previous call. */
  take(): RecordedRequest[];
  close(): void;
}

export const STREAM_ID = '6c86e9ed-0a93-4f8f-af4d-929ee8918bbb';
export const HISTORY_ID = '2fa85f64-5717-4562-b3fc-2c963f66afa6';

const EVM_STREAM = {
  id: STREAM_ID,
  webhookUrl: 'https://webhook.site/4f1b1b1b',
  description: 'test',
  tag: 'test',
  topic0: [],
  allAddresses: true,
  includeNativeTxs: true,
  includeContractLogs: true,
  includeInternalTxs: true,
  abi: null,
  advancedOptions: null,
  chainIds: ['0x1', '0x89'],
  status: 'paused',
  statusMessage: 'Stream was paused by the user',
};

const APTOS_STREAM = {
  id: STREAM_ID,
  webhookUrl: 'https://webhook.site/4f1b1b1b',
  description: 'test',
  tag: 'test',
  network: ['mainnet', 'testnet'],
  functions: ['0x1::aptos_account::transfer'],
  events: ['0x1::coin::WithdrawEvent'],
  includePayload: true,
  includeEvents: true,
  includeChanges: true,
  demo: false,
  allAddresses: false,
  isErrorSince: null,
  status: 'active',
  statusMessage: 'Stream is active',
  amountOfAddresses: 0,
};

const HISTORY = {
  id: HISTORY_ID,
  date: '2022-11-08T14:21:47.000Z',
  tinyPayload: { chainId: '0x1', confirmed: true, block: '15925165', records: 2, retries: 1 },
  errorMessage: 'Request failed with status code 500',
  webhookUrl: 'https://webhook.site/4f1b1b1b',
  streamId: STREAM_ID,
  tag: 'test',
};

const LOG = {
  id: HISTORY_ID,
  streamId: STREAM_ID,
  chain: '0x1',
  webhookUrl: 'https://webhook.site/4f1b1b1b',
  tag: 'test',
  retries: 0,
  deliveryStatus: 'success',
  blockNumber: 15925165,
  errorMessage: '',
  type: 'evm',
  createdAt: '2022-11-08T14:21:47.000Z',
};

const COUNTERS = {
  totalWebhooksDelivered: 1,
  totalWebhooksFailed: 2,
  totalLogsProcessed: 3,
  totalTxsProcessed: 4,
  totalTxsInternalProcessed: 5,
};

const listOf = (row: unknown) => () => ({ result: [row], total: 1 });
const given = (body: unknown) => ({ streamId: STREAM_ID, ...(body as object) });

const RESPONSES: Readonly<Record<RouteName, (body: unknown) => unknown>> = {
  listEvmStreams: listOf(EVM_STREAM),
  createEvmStream: () => EVM_STREAM,
  getEvmStream: () => EVM_STREAM,
  updateEvmStream: () => EVM_STREAM,
  deleteEvmStream: () => EVM_STREAM,
  setEvmStreamStatus: () => EVM_STREAM,
  listEvmAddresses: listOf({ address: '0x295522b61890c3672d12efbff4358a6411ce996f' }),
  addEvmAddresses: given,
  removeEvmAddresses: given,
  listAptosStreams: listOf(APTOS_STREAM),
  createAptosStream: () => APTOS_STREAM,
  getAptosStream: () => APTOS_STREAM,
  updateAptosStream: () => APTOS_STREAM,
  deleteAptosStream: () => true,
  setAptosStreamStatus: () => ({ status: 'active', statusMessage: 'Stream is active' }),
  listAptosAddresses: listOf({ address: `0x${'1'.padStart(64, '0')}` }),
  addAptosAddresses: given,
  removeAptosAddresses: given,
  listHistory: listOf(HISTORY),
  replayHistory: () => HISTORY,
  listLogs: listOf(LOG),
  readSettings: () => ({ region: 'us-east-1', secretKey: 'the-streams-secret' }),
  setSettings: (body) => body,
  getStats: () => COUNTERS,
  getStreamStats: () => ({ ...COUNTERS, streamId: STREAM_ID }),
  duplicateEvmStream: () => EVM_STREAM,
  replaceEvmAddresses: given,
  dryRunEvmBlock: () => TEST_WEBHOOK,
  sendEvmBlock: () => null,
  createHistoricalJob: () => ({ message: 'Job created', totalPartitions: 1 }),
};

/**
 * Paths with fewer parameters come first, because a path with parameters can also match a literal
 * one.
 */
const MATCHERS = (Object.keys(ROUTES) as RouteName[])
  .map((name) => ({
    name,
    method: ROUTES[name].method,
    parameters: ROUTES[name].path.split('{').length,
    pattern: new RegExp(`^${ROUTES[name].path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))
  .sort((a, b) => a.parameters - b.parameters);

export async function startRecordingServer(): Promise<RecordingServer> {
  let requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url = '', headers } = request;
      const { pathname, searchParams } = new URL(url, 'http://localhost');
      const sent = await text(request);
      const body: unknown = sent === '' ? undefined : JSON.parse(sent);
      searchParams.sort();
      requests.push({
        method,
        path: pathname,
        query: [...searchParams],
        body,
        contentType: headers['content-type']?.split(';')[0],
        apiKey: headers['x-api-key']?.toString(),
      });
      const route = MATCHERS.find((it) => it.method === method && it.pattern.test(pathname));
      response.writeHead(route ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(route ? RESPONSES[route.name](body) : { message: 'Not found' }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = requests;
      requests = [];
      return taken;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
