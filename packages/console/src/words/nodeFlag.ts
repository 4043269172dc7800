/** Command-line flags of the service. */
import { quoteShell } from '@sluice/kit/contract';

/** Returns the flag that adds a node. Repeat the flag to add more nodes for the same chain. */
export function toNodeFlag(chainId: string, url: string): string {
  const network = /^aptos:(.*)$/.exec(chainId)?.[1];
  return network === undefined
    ? `--chain ${quoteShell(`${chainId}=${url}`)}`
    : `--aptos ${quoteShell(`${network}=${url}`)}`;
}

/** Returns the flag that sets Sourcify, which supports most EVM chains, as the ABI source. */
export const toAbiFlag = (chainId: string): string =>
  `--abi-url ${quoteShell(`${chainId}=https://sourcify.dev/server/v2/contract/${Number(chainId)}/{address}?fields=abi`)}`;
