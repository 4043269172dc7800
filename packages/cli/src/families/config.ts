import type { Config } from '@sluice/service';

/** Returns whether the settings have nodes of any chain. */
export const hasChains = ({ chains, aptos }: Config): boolean =>
  chains.length > 0 || aptos.length > 0;
