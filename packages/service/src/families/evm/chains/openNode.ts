import { toChainId } from '@sluice/kit/contract';
import { createHeaderProver } from '../ingest/headerLayout.ts';
import { createHeaderRules } from '../ingest/headerRules.ts';
import { createLearnedFacts } from '../ingest/learned.ts';
import { networkOf } from '../ingest/networks.ts';
import { createProvider } from '../ingest/provider.ts';
import { createRpcClient } from '../ingest/rpc/createRpcClient.ts';
import type { FindChain, OpenNode } from '../../../chains/testNode.ts';

export const openEvmNode: OpenNode = ({ chainId, url }, { connect }) => {
  const headers = createHeaderRules({
    trust: 'evidence',
    network: networkOf(chainId),
    prover: createHeaderProver(),
    learned: createLearnedFacts(),
  });
  return createProvider(chainId, url, new URL(url).host, headers, undefined, connect);
};

export const findEvmChain: FindChain = async (url, { connect }) => {
  const client = createRpcClient(url, new URL(url).host, connect);
  try {
    return toChainId(await client.request('eth_chainId', []));
  } finally {
    await client.close();
  }
};
