import type { ChainFamily } from '../../shapes.generated.ts';
import { findAptosNetwork } from './aptos.ts';

/** Returns the family of a chain by its id, such as `0x1` or `aptos:mainnet`. */
export const familyOf = (chainId: string): ChainFamily =>
  findAptosNetwork(chainId) === undefined ? 'evm' : 'aptos';
