/** Composes how the console shows chains. */
import type { NetworkType } from '@sluice/kit';
import { APTOS_CHAIN_PAGES } from './aptos/chains.ts';
import type { ChainPages } from './chainPages.ts';
import { EVM_CHAIN_PAGES } from './evm/chains.ts';

export const CHAIN_PAGES: Readonly<Record<NetworkType, ChainPages>> = {
  evm: EVM_CHAIN_PAGES,
  aptos: APTOS_CHAIN_PAGES,
};
