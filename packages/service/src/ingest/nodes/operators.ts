/** Determines which nodes count as one witness: those of one operator. */
import { parse } from 'tldts';

/**
 * Returns the operator of a node: the registrable domain of its host, by the Public Suffix List.
 * Addresses and private names have no such domain, so each host and port counts for itself.
 */
export function operatorOf(url: string): string {
  const { host } = new URL(url);
  const { domain, isIcann, isPrivate } = parse(url, { allowPrivateDomains: true });
  return domain !== null && (isIcann === true || isPrivate === true) ? domain : host;
}
