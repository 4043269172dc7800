/** Fixes for chains that are down, for `doctor`. */

/** Matches a chain's message about the ledger or its disk, not about a node. */
const OF_LEDGER = /^(?:the ledger is full|\d+ MiB free on the disk)/;

/**
 * Returns how to bring a chain back that is down.
 *
 * @param needsResume whether the chain waits until it is resumed
 */
export function describeChainFix(chain: string, message: string, needsResume: boolean): string {
  if (OF_LEDGER.test(message)) {
    return 'free up space on the disk of the ledger, or check its database; the chain then continues by itself. For less data, shorten --keep-delivered and --keep-undelivered';
  }
  return needsResume
    ? `sluice chains resume ${chain} --from <block>`
    : 'check that the node runs, and that the service can reach it: sluice chains test <url>';
}
