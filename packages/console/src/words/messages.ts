/**
 * Formats messages of the service: replaces chain ids with names, and adds separators to long
 * numbers.
 */
import type { ChainHealth } from '@sluice/kit/sluice';
import { CHAIN_ID } from '../families/words.ts';
import { formatCount } from '../ui/text/format.ts';

/** Matches numbers of five or more digits that are not part of a hash, id, port or fraction. */
const LONG_NUMBER = /(?<![\w.:-])\d{5,}(?![\w-]|\.\d)/g;

/**
 * Turns `Block 23835243 of 0x1` into `Block 23,835,243 of Ethereum`. Unknown chain ids stay
 * unchanged.
 */
export const formatMessage = (
  text: string,
  chains: readonly Pick<ChainHealth, 'id' | 'name'>[] = [],
): string =>
  text
    .replaceAll(CHAIN_ID, (found) => chains.find(({ id }) => id === found)?.name ?? found)
    .replaceAll(LONG_NUMBER, (digits) => formatCount(BigInt(digits)));
