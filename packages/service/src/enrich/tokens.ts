/** Tokens of one chain, from memory, the ledger, or the chain itself. */
import type { BlockRef } from '../store/blocks/contract.ts';
import type { Store } from '../store/store.ts';
import type { Token } from '../store/enrichment/contract.ts';
import { orOutage } from './outage.ts';
import { createTokenCache, isFresh } from './tokenCache.ts';

export interface Tokens {
  /** Returns the token if it is in memory and not too old; undefined otherwise. */
  find(address: string): Token | undefined;
  /**
   * Returns the tokens, and reads unknown ones at this block. Omits tokens that the nodes refuse.
   * Tokens that `giveUp` listed have empty metadata.
   *
   * @throws RetryableError when no node could be queried
   */
  read(block: BlockRef, addresses: ReadonlySet<string>): Promise<Map<string, Token>>;
  /**
   * Makes reads near this block skip these tokens for a while, so that no other body waits for
   * them.
   */
  giveUp(block: BlockRef, addresses: readonly string[]): void;
}

/** Maximum number of tokens that are queried together. An EVM token takes several calls. */
const BATCH = 100;
/** Time, and distance in blocks from the last read, within which a refused token is not read again. */
const GIVEN_UP_MS = 10 * 60_000;
const GIVEN_UP_BLOCKS = 64;
const MAX_GIVEN_UP = 10_000;

export function createTokens({
  chain,
  store,
  ask: askChain,
  cacheBytes,
}: {
  chain: string;
  store: Pick<Store, 'readTokens' | 'saveTokens'>;
  /**
   * Reads tokens from the chain; omits tokens that its nodes refuse.
   * @throws RetryableError when no node could be queried
   */
  ask(block: BlockRef, addresses: readonly string[]): Promise<Token[]>;
  cacheBytes: number;
}): Tokens {
  const cache = createTokenCache(cacheBytes);
  /**
   * Block and time at which each contract was passed to `giveUp`. The block is kept because nodes
   * may still have the state of distant blocks.
   */
  const givenUp = new Map<string, { number: number; at: number }>();
  const isGivenUp = (address: string, { number }: BlockRef): boolean => {
    const given = givenUp.get(address);
    const isNear =
      given !== undefined &&
      Date.now() - given.at < GIVEN_UP_MS &&
      Math.abs(given.number - number) <= GIVEN_UP_BLOCKS;
    // The distance counts from the last skipped read, so that the time is the limit while a chain
    // advances, however fast it is.
    if (isNear) given.number = number;
    return isNear;
  };
  /** Reads in progress by contract, so that several streams of a block share a read. */
  const asking = new Map<string, Promise<Token | undefined>>();

  const ask = async (block: BlockRef, addresses: readonly string[]): Promise<Token[]> => {
    const now = Date.now();
    const stored = await orOutage(store.readTokens(chain, addresses));
    const fresh = stored.filter(({ token, readAt }) => isFresh(token, now - readAt));
    for (const { token, readAt } of fresh) cache.save(token, readAt);
    const known = new Set(fresh.map(({ token }) => token.address));
    const unknown = addresses.filter((address) => !known.has(address));
    if (unknown.length === 0) return fresh.map(({ token }) => token);

    const read = await askChain(block, unknown);
    await orOutage(store.saveTokens(chain, read));
    for (const token of read) cache.save(token, now);
    return [...fresh.map(({ token }) => token), ...read];
  };

  return {
    find: (address) => cache.find(address),
    async read(block, addresses) {
      const found = new Map<string, Token>();
      const missing: string[] = [];
      for (const address of addresses) {
        const token =
          cache.find(address) ??
          (isGivenUp(address, block) ? unknownToken(address, block.number) : undefined);
        if (token === undefined) missing.push(address);
        else found.set(address, token);
      }
      const unasked = missing.filter((address) => !asking.has(address));
      for (let start = 0; start < unasked.length; start += BATCH) {
        const batch = unasked.slice(start, start + BATCH);
        const answer = ask(block, batch);
        for (const address of batch) {
          const token = answer
            .then((tokens) => tokens.find((each) => each.address === address))
            .finally(() => asking.delete(address));
          asking.set(address, token);
        }
      }
      const asked = await Promise.all(missing.map((address) => asking.get(address)!));
      for (const token of asked) if (token !== undefined) found.set(token.address, token);
      return found;
    },
    giveUp({ number }, addresses) {
      if (givenUp.size > MAX_GIVEN_UP) givenUp.clear();
      for (const address of addresses) givenUp.set(address, { number, at: Date.now() });
    },
  };
}

const unknownToken = (address: string, blockNumber: number): Token => ({
  address,
  name: '',
  symbol: '',
  decimals: null,
  standard: '',
  blockNumber,
});
