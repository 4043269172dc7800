/** Composes the dry runs of the chain families, and what the console and the command line show. */
import type { ChainFamily } from '../contract/shapes.generated.ts';
import type { DryRun } from '../operator/blockMatch.ts';
import { countAptosRecords } from './aptos/describe.ts';
import { dryRunAptos } from './aptos/dryRun.ts';
import { countEvmRecords } from './evm/describe.ts';
import { dryRunEvm } from './evm/dryRun.ts';
import { type AnyWebhook, callByWebhook } from './webhooks.ts';

export const DRY_RUNS: Readonly<Record<ChainFamily, DryRun>> = {
  evm: dryRunEvm,
  aptos: dryRunAptos,
};

/** Returns the number of records that a webhook is sent for. */
export const countRecords = (webhook: AnyWebhook): number =>
  callByWebhook({ evm: countEvmRecords, aptos: countAptosRecords }, webhook);
