/** What the service says in words, as the console writes: chains by their names, digits in groups. Pure. */
import type { ChainHealth } from '@sluice/kit/sluice';
import { formatCount } from '../ui/text/format.ts';

/** Numbers in hex; of Aptos with the network. Part of no hash, no longer number and no Move path. */
const CHAIN_ID = /(?<![\w:])(?:0x[0-9a-f]+|aptos:[a-z]+)(?!\w|::)/g;

/** Part of no hash, id, port or fraction. */
const LONG_NUMBER = /(?<![\w.:-])\d{5,}(?![\w-]|\.\d)/g;

/** `Block 23835243 of 0x1` becomes `Block 23,835,243 of Ethereum`; what is no chain that is watched stays. */
export const retell = (
  text: string,
  chains: readonly Pick<ChainHealth, 'id' | 'name'>[] = [],
): string =>
  text
    .replaceAll(CHAIN_ID, (found) => chains.find(({ id }) => id === found)?.name ?? found)
    .replaceAll(LONG_NUMBER, (digits) => formatCount(BigInt(digits)));
