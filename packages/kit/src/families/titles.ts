import type { ChainFamily } from '../contract/shapes.generated.ts';

/** Names of the chain families in texts. */
export const FAMILY_TITLES = { evm: 'EVM', aptos: 'Aptos' } as const satisfies Record<
  ChainFamily,
  string
>;
