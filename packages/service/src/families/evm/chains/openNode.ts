import { createHeaderProver } from '../ingest/headerLayout.ts';
import { createHeaderRules } from '../ingest/headerRules.ts';
import { createLearnedFacts } from '../ingest/learned.ts';
import { networkOf } from '../ingest/networks.ts';
import { createProvider } from '../ingest/provider.ts';
import type { OpenNode } from '../../../chains/testNode.ts';

export const openEvmNode: OpenNode = ({ chainId, url }, { connect }) => {
  const headers = createHeaderRules({
    trust: 'evidence',
    network: networkOf(chainId),
    prover: createHeaderProver(),
    learned: createLearnedFacts(),
  });
  return createProvider(chainId, url, new URL(url).host, headers, undefined, connect);
};
