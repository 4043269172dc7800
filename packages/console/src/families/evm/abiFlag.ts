import { quoteShell } from '@sluice/kit/contract';

/** Returns the flag that sets Sourcify, which supports most EVM chains, as the ABI source. */
export const toAbiFlag = (chainId: string): string =>
  `--abi-url ${quoteShell(`${chainId}=https://sourcify.dev/server/v2/contract/${Number(chainId)}/{address}?fields=abi`)}`;
