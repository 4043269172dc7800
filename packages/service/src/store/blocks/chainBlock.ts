import type { ChainBlock } from '@sluice/kit/contract';
import type { BlockHeader } from './contract.ts';

/** Converts a block to the API's format, with its timestamp in milliseconds instead of seconds. */
export const toChainBlock = ({
  number,
  hash,
  timestamp,
  matches,
}: BlockHeader & { matches: number }): ChainBlock => ({
  number,
  hash,
  timestamp: timestamp * 1000,
  matches,
});
