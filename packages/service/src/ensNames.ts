/** Names of ENS: how they are spelled, and where they are asked for. */
import { normalize } from 'viem/ens';

/** Chains whose names are looked up, the one that people mean first: Ethereum and its testnet Sepolia. */
export const NAME_CHAINS = ['0x1', '0xaa36a7'] as const;

/** Undefined where it stands for none; `elsewhere` where a server outside of the chain would tell it. */
export type NameAnswer = `0x${string}` | 'elsewhere' | undefined;

/** As names are compared (ENSIP-15); undefined for what can be none. */
export function toName(text: string): string | undefined {
  try {
    const name = normalize(text);
    return name.includes('.') ? name : undefined;
  } catch {
    return undefined;
  }
}
