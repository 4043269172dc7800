import { createEvmStreamSchema, evmDryRunSchema } from '@sluice/kit/calls';
import * as z from 'zod';
import { chainName as chain } from '../../mcp/chainName.ts';
import { addresses, createWithAddresses } from '../../mcp/createStreamTool.ts';
import { defineTool } from '../../mcp/tool.ts';

export const dryRunEvmRule = defineTool('dry_run_evm_rule', {
  title: 'Try an EVM rule on a block',
  description:
    'Matches a past block against the rule of a stream that does not exist yet. Sends and stores nothing.',
  input: z.strictObject({ chain, rule: evmDryRunSchema }),
  async call({ chain, rule }, { sluice }) {
    return await sluice.dryRunEvm(chain, rule);
  },
});

export const createEvmStream = defineTool('create_evm_stream', {
  title: 'Create an EVM stream',
  description: 'Creates a stream on EVM chains. Try its rule with dry_run_evm_rule first.',
  writes: true,
  input: z.strictObject({ stream: createEvmStreamSchema, addresses }),
  call: ({ stream, addresses }, connection) =>
    createWithAddresses({ ...stream }, addresses, connection),
});
