import type { AptosNetwork } from '../../contract/shapes.generated.ts';
import type { DryRun } from '../../operator/blockMatch.ts';
import { APTOS_CHAIN_FORMAT } from './chainFormat.ts';

export const dryRunAptos: DryRun = async (client, chain, fields, options) => {
  const network = APTOS_CHAIN_FORMAT.nameOf(chain) as AptosNetwork;
  return { closeMatches: [], ...(await client.dryRunAptos(network, fields, options)) };
};
