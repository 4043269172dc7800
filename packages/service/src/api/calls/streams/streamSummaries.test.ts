import { expect, test, vi } from 'vitest';
import { EVM_API } from '../../../families/evm/api/evmApi.ts';
import { DEFAULT_LIMITS, DEFAULT_OPTIONS } from '../../../store/streams/contract.ts';
import { type StreamSummaryHandlerNeeds, createStreamSummaryHandlers } from './streamSummaries.ts';

const CHAINS = ['0x1', '0x2'];

test('a list of streams reads the state of each chain once', async () => {
  const rows = ['a', 'b', 'c'].map((id) => ({
    id,
    family: 'evm',
    status: 'active',
    chainIds: CHAINS,
    webhookUrl: 'https://receiver.test/',
    options: { ...DEFAULT_OPTIONS, includeInternalTxs: true },
    limits: DEFAULT_LIMITS,
  }));
  const none = () => Promise.resolve([]);
  const whyDown = vi.fn((chain: string) => (chain === '0x2' ? 'its node is away' : undefined));
  const lacks = vi.fn((chain: string) => (chain === '0x1' ? ['traces'] : []));
  const { listStreamSummaries } = createStreamSummaryHandlers({
    store: {
      listStreams: () => Promise.resolve({ rows, total: rows.length, next: undefined }),
      readStreamStats: none,
      listBackOffs: none,
      listCertificates: none,
      listPauses: none,
      listDestinations: none,
    },
    families: { evm: EVM_API },
    hasSource: () => true,
    whyDown,
    lacks,
    maxTimeoutSeconds: 60,
    maxChildren: 10,
  } as unknown as StreamSummaryHandlerNeeds);
  const { result } = await listStreamSummaries();
  for (const { statusMessage } of result) {
    expect(statusMessage).toContain('0x2 is down: its node is away');
    expect(statusMessage).toContain('0x1');
  }
  expect(result).toHaveLength(3);
  expect(whyDown.mock.calls).toEqual([['0x1'], ['0x2']]);
  expect(lacks.mock.calls.map(([chain]) => chain)).toEqual([
    ...new Set(lacks.mock.calls.map(([chain]) => chain)),
  ]);
});
