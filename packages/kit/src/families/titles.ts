import type { ChainFamily } from '../contract/shapes.generated.ts';

/** Names of the chain families in texts. */
export const FAMILY_TITLES: Readonly<Record<ChainFamily, string>> = { evm: 'EVM', aptos: 'Aptos' };
