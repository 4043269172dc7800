import { quoted } from './shell.ts';

/** What names a node where the service starts; again for one chain: another node of it. Pure. */
export function toNodeFlag(chainId: string, url: string): string {
  const network = /^aptos:(.*)$/.exec(chainId)?.[1];
  return network === undefined
    ? `--chain ${quoted(`${chainId}=${url}`)}`
    : `--aptos ${quoted(`${network}=${url}`)}`;
}
