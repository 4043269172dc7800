/** Tokens in memory, bounded by bytes: those used longest ago make room. */
import type { Token } from '../store/enrichment/contract.ts';

export interface TokenCache {
  /** Undefined when it is not here, or too old to go by. */
  find(address: string): Token | undefined;
  /** @param readAt Unix milliseconds: when the chain was asked */
  save(token: Token, readAt: number): void;
}

/** A name may change, seldom; a contract that says nothing yet may soon, e.g. behind a new proxy. */
const FRESH_MS = 24 * 60 * 60_000;
const FRESH_UNKNOWN_MS = 10 * 60_000;

/** Keys, numbers and what the engine keeps for an entry, on top of its text. */
const ENTRY_BYTES = 250;
const sizeOf = ({ name, symbol }: Token): number => ENTRY_BYTES + 2 * (name.length + symbol.length);

/** Whether what was read of a token may still be gone by. */
export const isFresh = (token: Token, ageMs: number): boolean =>
  ageMs < (isToken(token) ? FRESH_MS : FRESH_UNKNOWN_MS);

/** Whether the contract says anything of a token. */
export const isToken = ({ name, symbol, decimals, standard }: Token): boolean =>
  name !== '' || symbol !== '' || standard !== '' || decimals !== null;

export function createTokenCache(limitBytes: number, now: () => number = Date.now): TokenCache {
  /** In order of use: a map lists its keys in the order they were set. */
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
