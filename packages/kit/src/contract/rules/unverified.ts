/** What the evidence for a block may not cover. */

/** Codes of checks that a block did not pass, and of deviations from Ethereum's rules. */
export type UnverifiedCode = keyof typeof UNVERIFIED_CODES;

/**
 * The meaning of each code, in the order in which codes are listed. A webhook lists the codes of
 * its block in the header {@link UNVERIFIED_HEADER}.
 */
export const UNVERIFIED_CODES = {
  'header-hash': 'No known rule derives the hash of the block from its header.',
  'transactions-root': 'The transactions are not proven by the transactions root of the header.',
  'receipts-root': 'The receipts and their logs are not proven by the receipts root of the header.',
  bloom: 'The bloom of the header does not cover the logs of the block.',
  receipts: 'A transaction has no receipt.',
  'repeated-receipts':
    'A list of receipts or logs had one twice; the repetition was dropped.',
  'foreign-receipts': 'The list of receipts had receipts of other blocks; they were dropped.',
  'log-indices': 'Log indices did not count up from 0; the logs were numbered in block order.',
  'log-transactions':
    'Logs had the index of another transaction; the transaction hash of the log decided.',
  'null-values': 'A number was null or missing.',
  traces: 'A trace could not be read; its internal transactions are missing.',
} as const;

/** Lists the codes of an unverified block, separated by `, `; absent if the block is verified. */
export const UNVERIFIED_HEADER = 'x-sluice-unverified';

/**
 * The evidence that a chain's blocks need. `evidence`: what the nodes offer, marked where it is
 * incomplete · `strict`: nothing unproven is accepted · `node`: only links and identity are checked.
 */
export type ChainTrust = 'evidence' | 'strict' | 'node';
