import { aptosDryRunSchema, createAptosStreamSchema } from '@sluice/kit/calls';
import type { AptosNetwork } from '@sluice/kit/sluice';
import * as z from 'zod';
import { chainName as chain } from '../../mcp/chainName.ts';
import { addresses, createWithAddresses } from '../../mcp/createStreamTool.ts';
import { defineTool } from '../../mcp/tool.ts';

export const dryRunAptosRule = defineTool('dry_run_aptos_rule', {
  title: 'Try an Aptos rule on a block',
  description:
    'Matches a past block, by height or ledger version, against the rule of a stream that does not exist yet. Sends and stores nothing.',
  input: z.strictObject({ network: chain, rule: aptosDryRunSchema }),
  async call({ network, rule }, { sluice }) {
    return await sluice.dryRunAptos(network as AptosNetwork, rule);
  },
});

export const createAptosStream = defineTool('create_aptos_stream', {
  title: 'Create an Aptos stream',
  description: 'Creates a stream on Aptos. Try its rule with dry_run_aptos_rule first.',
  writes: true,
  input: z.strictObject({ stream: createAptosStreamSchema, addresses }),
  call: ({ stream, addresses }, connection) =>
    createWithAddresses({ ...stream }, addresses, connection),
});
