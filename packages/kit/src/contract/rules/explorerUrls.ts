/** Matches URL paths of block explorers of all chain families. */
const PATH = /^https?:.*?\/(tx|txn|address|account|object|token|block)\/([^/?#]+)/i;
/** Path segments that are followed by an address. */
const OF_ADDRESS: readonly string[] = ['address', 'account', 'object', 'token'];

/**
 * Returns the hash, address or block number in the URL of a block explorer's page; undefined for
 * other text.
 */
export const partOfUrl = (url: string): string | undefined => PATH.exec(url)?.[2];

/** Returns the address in the URL of an explorer's page about an address; undefined for other text. */
export function addressOfUrl(url: string): string | undefined {
  const [, segment = '', part] = PATH.exec(url) ?? [];
  return OF_ADDRESS.includes(segment.toLowerCase()) ? part : undefined;
}
