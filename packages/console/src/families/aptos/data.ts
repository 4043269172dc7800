import { type AptosBackfill, findAptosNetwork } from '@sluice/kit/contract';
import { sluice } from '../../data/queries/service.ts';

export const startAptosBackfill = async (
  chainId: string,
  blocks: AptosBackfill,
): Promise<unknown> => sluice.createAptosBackfill(findAptosNetwork(chainId)!, blocks);
