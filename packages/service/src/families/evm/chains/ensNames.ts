/** Normalizes ENS names, and lists the chains that resolve them. */
import { normalize } from 'viem/ens';

/** Chains that resolve names, in order of preference: Ethereum and its testnet Sepolia. */
export const NAME_CHAINS = ['0x1', '0xaa36a7'] as const;

/**
 * The address of a name; undefined if the name does not resolve, `elsewhere` if it resolves through
 * an off-chain server.
 */
export type NameAnswer = `0x${string}` | 'elsewhere' | undefined;

const MAX_CHARACTERS = 255;
/**
 * Matches lowercase ASCII labels, which need no further normalization. Excludes labels with a
 * prefix such as `xn--`, which indicates another encoding.
 */
const PLAIN_LABEL = /^(?!..--)[a-z0-9-]+$/;

/** Returns a name in normalized form (ENSIP-15); undefined if the name is invalid. */
export function toName(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS || !text.includes('.')) return undefined;
  const lower = text.toLowerCase();
  if (lower.split('.').every((label) => PLAIN_LABEL.test(label))) return lower;
  try {
    return normalize(text);
  } catch {
    return undefined;
  }
}

/**
 * Loads the Unicode tables, which blocks the event loop for about 200 ms. Otherwise, the first name
 * that isn't plain ASCII would load them.
 */
export function unpackNames(): void {
  toName('é.eth');
}
