/** Composes the tools that each chain family has. */
import type { Tool } from '../mcp/tool.ts';
import { createAptosStream, dryRunAptosRule } from './aptos/tools.ts';
import { createEvmStream, dryRunEvmRule } from './evm/tools.ts';

export const DRY_RUN_TOOLS: readonly Tool[] = [dryRunEvmRule, dryRunAptosRule];
export const CREATE_STREAM_TOOLS: readonly Tool[] = [createEvmStream, createAptosStream];
