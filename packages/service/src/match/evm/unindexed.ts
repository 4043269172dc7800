/**
 * Contracts whose transfers have no indexed parameters, so that the parties are in the data. They
 * are listed, because the log does not show whether the third parameter is an amount or a token,
 * and because nodes cannot search the data of logs.
 */
import { keccak256 } from '@sluice/kit/contract';
import type { EvmLog } from './block.ts';

/** NFT contracts by chain. */
const CONTRACTS: Readonly<Record<string, readonly string[]>> = {
  // CryptoKitties
  '0x1': ['0x06012c8cf97bead5deae237070f9587f8e7a266d'],
};

const EVENTS = ['Transfer(address,address,uint256)', 'Approval(address,address,uint256)'].map(
  (signature) => keccak256(signature),
);

/** Number of hex digits of three words. */
const DATA_DIGITS = 3 * 64;

/**
 * Returns the topics of a log. For a transfer or approval without indexed parameters, appends the
 * words of the data, so that the topics are those of ERC-721.
 */
export function topicsOf(chain: string, { address, topics, data }: EvmLog): readonly string[] {
  const [event = '', ...indexed] = topics;
  const isUnindexed =
    indexed.length === 0 &&
    data.length === 2 + DATA_DIGITS &&
    EVENTS.includes(event) &&
    CONTRACTS[chain]?.includes(address);
  if (!isUnindexed) return topics;
  return [event, ...[2, 66, 130].map((at) => `0x${data.slice(at, at + 64)}`)];
}

/** Returns the filters that find these logs, for a search by the given events. */
export function unindexedFilters(
  chain: string,
  events: readonly string[] | null,
): { address: readonly string[]; topics: readonly (readonly string[])[] }[] {
  const address = CONTRACTS[chain];
  const wanted = EVENTS.filter((event) => events === null || events.includes(event));
  return address === undefined || wanted.length === 0 ? [] : [{ address, topics: [wanted] }];
}
