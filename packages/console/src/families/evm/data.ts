import type { HistoricalJobOptions } from '@sluice/kit';
import { loadClient } from '../../data/queries/service.ts';

export async function startEvmBackfill(
  chainId: string,
  blocks: Omit<HistoricalJobOptions, 'chainId'>,
): Promise<unknown> {
  const { streams } = await loadClient();
  return streams.createHistoricalJob({ ...blocks, chainId });
}
