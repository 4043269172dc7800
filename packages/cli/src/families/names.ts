import type { NetworkType } from '@sluice/kit';

/** The chains of a family, in messages. */
export const CHAINS_OF: Readonly<Record<NetworkType, string>> = {
  evm: 'EVM chains',
  aptos: 'Aptos',
};
