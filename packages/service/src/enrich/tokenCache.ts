/** An in-memory cache of tokens, limited by size; the least recently used are evicted. */
import type { Token } from '../store/enrichment/contract.ts';

export interface TokenCache {
  /** Returns undefined if the token is missing or too old. */
  find(address: string): Token | undefined;
  /** @param readAt when the chain was read, in Unix milliseconds */
  save(token: Token, readAt: number): void;
}

/**
 * Names rarely change; a contract without metadata may soon get some, such as behind a new proxy.
 */
const FRESH_MS = 24 * 60 * 60_000;
const FRESH_UNKNOWN_MS = 10 * 60_000;

/** Overhead of an entry beyond its text. */
const ENTRY_BYTES = 250;
const sizeOf = ({ name, symbol }: Token): number => ENTRY_BYTES + 2 * (name.length + symbol.length);

/** Whether token metadata of this age is still valid. */
export const isFresh = (token: Token, ageMs: number): boolean =>
  ageMs < (isToken(token) ? FRESH_MS : FRESH_UNKNOWN_MS);

/** Whether the contract has any token metadata. */
export const isToken = ({ name, symbol, decimals, standard }: Token): boolean =>
  name !== '' || symbol !== '' || standard !== '' || decimals !== null;

export function createTokenCache(limitBytes: number, now: () => number = Date.now): TokenCache {
  /** In order of use, since a map iterates in insertion order. */
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
