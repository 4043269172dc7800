import type { DryRun } from '../../operator/blockMatch.ts';

export const dryRunEvm: DryRun = async (client, chain, fields, options) =>
  client.dryRunEvm(chain, fields, options);
