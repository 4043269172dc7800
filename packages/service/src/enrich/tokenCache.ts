/** An in-memory cache of tokens, limited by size. The least recently used tokens are evicted. */
import type { Token } from '../store/enrichment/contract.ts';

export interface TokenCache {
  /** Returns the token; undefined if it is not in the cache or is too old. */
  find(address: string): Token | undefined;
  /** @param readAt time of the read from the chain, in Unix milliseconds */
  save(token: Token, readAt: number): void;
}

/**
 * Maximum ages of an entry with and without metadata. Names rarely change, but a contract without
 * metadata may soon return some.
 */
const FRESH_MS = 24 * 60 * 60_000;
const FRESH_UNKNOWN_MS = 10 * 60_000;

/** Estimated memory of an entry without its text, in bytes. */
const ENTRY_BYTES = 250;
const sizeOf = ({ name, symbol }: Token): number => ENTRY_BYTES + 2 * (name.length + symbol.length);

/** Returns whether token metadata of this age is still valid. */
export const isFresh = (token: Token, ageMs: number): boolean =>
  ageMs < (isToken(token) ? FRESH_MS : FRESH_UNKNOWN_MS);

/** Returns whether the contract has any token metadata. */
export const isToken = ({ name, symbol, decimals, standard }: Token): boolean =>
  name !== '' || symbol !== '' || standard !== '' || decimals !== null;

export function createTokenCache(limitBytes: number, now: () => number = Date.now): TokenCache {
  /**
   * Entries by address, least recently used first: each use moves an entry to the end of the map.
   */
  const entries = new Map<string, { token: Token; readAt: number }>();
  let bytes = 0;
  return {
    find(address) {
      const entry = entries.get(address);
      if (entry === undefined || !isFresh(entry.token, now() - entry.readAt)) return undefined;
      entries.delete(address);
      entries.set(address, entry);
      return entry.token;
    },
    save(token, readAt) {
      const before = entries.get(token.address);
      if (before !== undefined) bytes -= sizeOf(before.token);
      entries.delete(token.address);
      entries.set(token.address, { token, readAt });
      bytes += sizeOf(token);
      for (const [address, oldest] of entries) {
        if (bytes <= limitBytes) break;
        entries.delete(address);
        bytes -= sizeOf(oldest.token);
      }
    },
  };
}
