/** Names of chains in what the service says in words. Pure. */
import type { ChainHealth } from '@sluice/kit/sluice';

/** Numbers in hex; of Aptos with the network. Part of no hash, no longer number and no Move path. */
const CHAIN_ID = /(?<![\w:])(?:0x[0-9a-f]+|aptos:[a-z]+)(?!\w|::)/g;

/** `the nodes of 0x1` becomes `the nodes of Ethereum`; what is no chain that is watched stays. */
export const nameChains = (
  text: string,
  chains: readonly Pick<ChainHealth, 'id' | 'name'>[],
): string =>
  text.replaceAll(CHAIN_ID, (found) => chains.find(({ id }) => id === found)?.name ?? found);
