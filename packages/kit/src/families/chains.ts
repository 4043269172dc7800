/** Composes how the chain families name their chains. */
import type { ChainFamily } from '../contract/shapes.generated.ts';
import { quoteShell } from '../contract/rules/shell.ts';
import { APTOS_CHAIN_FORMAT } from './aptos/chainFormat.ts';
import type { ChainFormat } from './chainFormat.ts';
import { EVM_CHAIN_FORMAT } from './evm/chainFormat.ts';

export const CHAIN_FORMATS: Readonly<Record<ChainFamily, ChainFormat>> = {
  evm: EVM_CHAIN_FORMAT,
  aptos: APTOS_CHAIN_FORMAT,
};

/** Names of the families, in the order in which they are listed. */
export const CHAIN_FAMILIES = Object.keys(CHAIN_FORMATS) as ChainFamily[];

/** Families with names of their own for chains. Ids in hex that none of them has are EVM chains. */
const NAMED = CHAIN_FAMILIES.filter((family) => family !== 'evm');

/** Returns the family of a chain by its id, such as `0x1` or `aptos:mainnet`. */
export const familyOf = (chainId: string): ChainFamily =>
  NAMED.find((family) => CHAIN_FORMATS[family].toChainId(chainId) !== undefined) ?? 'evm';

/** Describes the accepted ids of chains, for messages. */
export const CHAIN_KINDS = CHAIN_FAMILIES.map((family) => CHAIN_FORMATS[family].accepts).join(
  ', or ',
);

/** Returns the id of a chain of any family in its canonical form; undefined for any other value. */
export function toAnyChainId(value: unknown): string | undefined {
  for (const family of [...NAMED, 'evm'] as const) {
    const chainId = CHAIN_FORMATS[family].toChainId(value);
    if (chainId !== undefined) return chainId;
  }
  return undefined;
}

/** Returns the chain as fields of streams, flags and messages name it. */
export const nameOfChain = (chainId: string): string =>
  CHAIN_FORMATS[familyOf(chainId)].nameOf(chainId);

/** Returns the flag that adds a node. Repeat the flag to add more nodes for the same chain. */
export function toNodeFlag(chainId: string, url: string): string {
  const { nodeSetting, nameOf } = CHAIN_FORMATS[familyOf(chainId)];
  return `--${nodeSetting} ${quoteShell(`${nameOf(chainId)}=${url}`)}`;
}

/** Returns the flag that adds a node, with a placeholder for the URL. */
export function describeNodeFlag(chainId: string): string {
  const { nodeSetting, nodeUrl, nameOf } = CHAIN_FORMATS[familyOf(chainId)];
  return `--${nodeSetting} ${nameOf(chainId)}=${nodeUrl}`;
}
