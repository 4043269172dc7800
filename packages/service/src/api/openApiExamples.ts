/** Examples of the common shapes. A test checks them against the schemas. */
import { evmStreamDefaults } from '@sluice/kit/contract';

const STREAM_ID = '3f1c9a52-7a1e-4c35-9a53-0d0f6a4c3b11';
const DELIVERY_ID = '01a0ca44-c660-7000-8b60-c0ee13d42f05';
const ADDRESS = '0xcfdf6aaae9f6b927e3736fbd327853b622c5060e';
const TRANSFER = 'Transfer(address,address,uint256)';
const AT = '2026-09-21T14:00:00.000Z';

const wanted = {
  webhookUrl: 'https://example.com/hook',
  description: 'Transfers of our token',
  tag: 'transfers',
  chainIds: ['0x1'],
  topic0: [TRANSFER],
  includeContractLogs: true,
};

const stream = {
  id: STREAM_ID,
  ...evmStreamDefaults(),
  ...wanted,
  maxPerSecond: 20,
  status: 'active',
  statusMessage: 'Stream is active',
  createdAt: AT,
  updatedAt: AT,
  amountOfAddresses: 1,
};

const counters = {
  totalWebhooksDelivered: 1200,
  totalWebhooksFailed: 3,
  totalLogsProcessed: 2410,
  totalTxsProcessed: 0,
  totalTxsInternalProcessed: 0,
};

export const EXAMPLES: Readonly<Record<string, unknown>> = {
  CreateEvmStream: wanted,
  UpdateEvmStream: { webhookUrl: 'https://example.com/other' },
  EvmStream: stream,
  EvmStreamPage: { result: [stream], total: 1, page_size: 1 },
  CreateAptosStream: {
    webhookUrl: 'https://example.com/hook',
    description: 'Withdrawals',
    tag: 'withdrawals',
    network: ['mainnet'],
    events: ['0x1::coin::WithdrawEvent'],
    allAddresses: true,
  },
  AptosStreamStatus: { status: 'paused', statusMessage: 'Stream was paused by the user' },
  SetStreamStatus: { status: 'paused' },
  EvmAddresses: { address: ADDRESS },
  LabeledEvmAddresses: { address: [ADDRESS], labels: { [ADDRESS]: 'Treasury' } },
  AptosAddresses: { address: '0x1' },
  LabeledAptosAddresses: { address: ['0x1'], labels: { '0x1': 'framework' } },
  AddressesResponse: {
    streamId: STREAM_ID,
    address: ADDRESS,
    effectiveFrom: { '0x1': 23_456_789 },
  },
  HistoryRecord: {
    id: DELIVERY_ID,
    date: AT,
    tinyPayload: { chainId: '0x1', confirmed: true, block: '23456777', records: 2, retries: 7 },
    errorMessage: 'HTTP 500',
    webhookUrl: 'https://example.com/hook',
    streamId: STREAM_ID,
    tag: 'transfers',
  },
  DeliveryLog: {
    id: DELIVERY_ID,
    streamId: STREAM_ID,
    chain: '0x1',
    webhookUrl: 'https://example.com/hook',
    tag: 'transfers',
    retries: 0,
    deliveryStatus: 'success',
    blockNumber: 23_456_777,
    errorMessage: '',
    type: 'evm',
    createdAt: AT,
    updatedAt: AT,
  },
  Settings: { region: 'us-east-1', secretKey: '9a1f…' },
  SetSettings: { region: 'eu-central-1' },
  StreamStats: { streamId: STREAM_ID, ...counters, createdAt: AT, updatedAt: AT },
  Stats: {
    ...counters,
    streams: [{ streamId: STREAM_ID, ...counters }],
    createdAt: AT,
    updatedAt: AT,
  },
  CreateHistoricalJob: {
    chainId: '0x1',
    streamId: STREAM_ID,
    blockFrom: 23_000_000,
    blockTo: 23_000_999,
  },
  Error: {
    message: 'Validation Failed',
    details: {
      'requestBody.chainIds.0': {
        message: 'should be a chain ID in hex, e.g. 0x1 (names such as eth are not chain IDs)',
        value: 'eth',
      },
    },
    requestId: '5d0c1f0e-8a2b-4a5f-8a77-1f3f3c1c2a10',
  },
};
