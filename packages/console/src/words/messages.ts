/** Formats messages of the service: names for chain ids, separators in long numbers. Pure. */
import type { ChainHealth } from '@sluice/kit/sluice';
import { formatCount } from '../ui/text/format.ts';

/** A chain id that is not part of a hash, a longer number or a Move path. */
const CHAIN_ID = /(?<![\w:])(?:0x[0-9a-f]+|aptos:[a-z]+)(?!\w|::)/g;

/** A number that is not part of a hash, id, port or fraction. */
const LONG_NUMBER = /(?<![\w.:-])\d{5,}(?![\w-]|\.\d)/g;

/** Turns `Block 23835243 of 0x1` into `Block 23,835,243 of Ethereum`; unknown chain ids stay. */
export const formatMessage = (
  text: string,
  chains: readonly Pick<ChainHealth, 'id' | 'name'>[] = [],
): string =>
  text
    .replaceAll(CHAIN_ID, (found) => chains.find(({ id }) => id === found)?.name ?? found)
    .replaceAll(LONG_NUMBER, (digits) => formatCount(BigInt(digits)));
