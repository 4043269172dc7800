/** Names of ENS: how they are spelled, and where they are asked for. */
import { normalize } from 'viem/ens';

/** Chains whose names are looked up, the one that people mean first: Ethereum and its testnet Sepolia. */
export const NAME_CHAINS = ['0x1', '0xaa36a7'] as const;

/** Undefined where it stands for none; `elsewhere` where a server outside of the chain would tell it. */
export type NameAnswer = `0x${string}` | 'elsewhere' | undefined;

const MOST_CHARACTERS = 255;
/** Labels that are normal once they are lower case. What they may not have is the prefix of another encoding. */
const PLAIN_LABEL = /^(?!..--)[a-z0-9-]+$/;

/** As names are compared (ENSIP-15); undefined for what can be none. */
export function toName(text: string): string | undefined {
  if (text.length > MOST_CHARACTERS || !text.includes('.')) return undefined;
  const lower = text.toLowerCase();
  if (lower.split('.').every((label) => PLAIN_LABEL.test(label))) return lower;
  try {
    return normalize(text);
  } catch {
    return undefined;
  }
}

/**
 * Unpacks the tables of Unicode, which blocks the event loop for a fifth of a second. Without it, the
 * first name that is not plain does.
 */
export function unpackNames(): void {
  toName('é.eth');
}
