/** Flags that the service is started with. Pure. */

/** What names a node; again for one chain: another node of it. */
export function toNodeFlag(chainId: string, url: string): string {
  const network = /^aptos:(.*)$/.exec(chainId)?.[1];
  return network === undefined
    ? `--chain ${quoted(`${chainId}=${url}`)}`
    : `--aptos ${quoted(`${network}=${url}`)}`;
}

/** What names who tells ABIs of the verified contracts of a chain; Sourcify knows those of most. */
export const toAbiFlag = (chainId: string): string =>
  `--abi-url ${quoted(`${chainId}=https://sourcify.dev/server/v2/contract/${Number(chainId)}/{address}?fields=abi`)}`;

/** For a shell, in single quotes where it needs them. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
