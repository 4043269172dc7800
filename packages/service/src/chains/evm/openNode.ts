import { createHeaderProver } from '../../ingest/evm/headerLayout.ts';
import { createHeaderRules } from '../../ingest/evm/headerRules.ts';
import { createLearned } from '../../ingest/evm/learned.ts';
import { networkOf } from '../../ingest/evm/networks.ts';
import { createProvider } from '../../ingest/evm/provider.ts';
import type { OpenNode } from '../testNode.ts';

export const openEvmNode: OpenNode = ({ chainId, url }, { connect }) => {
  const headers = createHeaderRules({
    ...{ trust: 'evidence', network: networkOf(chainId) },
    ...{ prover: createHeaderProver(), learned: createLearned() },
  });
  return createProvider(chainId, url, new URL(url).host, headers, undefined, connect);
};
