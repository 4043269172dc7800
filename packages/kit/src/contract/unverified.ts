/** Codes for the gaps in the evidence for a block. */

/** Codes of checks that a block did not pass, and of deviations from Ethereum's rules. */
export type UnverifiedCode = keyof typeof UNVERIFIED_CODES;

/** A known code, or one of a newer service. */
export type AnyUnverifiedCode = UnverifiedCode | (string & {});

interface CodeWords {
  /** The gap in the evidence, as a sentence. */
  readonly meaning: string;
  /** The step that an operator can take, as a sentence. */
  readonly remedy: string;
}

const ADD_NODE =
  'Add a node of another operator: with two that agree, the block does not depend on one.';
const NOTHING = 'Nothing: the meaning is certain.';

/**
 * The meaning of each code and what an operator can do, in the order in which codes are listed. A
 * webhook lists the codes of its block in the header `x-sluice-unverified`.
 */
export const UNVERIFIED_CODES = {
  'header-hash': {
    meaning: 'No known rule derives the hash of the block from its header.',
    remedy: 'Update Sluice if a fork of the chain changed its headers. ' + ADD_NODE,
  },
  'transactions-root': {
    meaning: 'The transactions are not proven by the transactions root of the header.',
    remedy: ADD_NODE,
  },
  'receipts-root': {
    meaning: 'The receipts and their logs are not proven by the receipts root of the header.',
    remedy: ADD_NODE,
  },
  bloom: {
    meaning: 'The bloom of the header does not cover the logs of the block.',
    remedy: ADD_NODE,
  },
  receipts: {
    meaning: 'A transaction has no receipt.',
    remedy: 'Add a node that has all receipts. The block is read again later.',
  },
  'repeated-receipts': {
    meaning: 'A list of receipts or logs had one twice; the repetition was dropped.',
    remedy: NOTHING,
  },
  'foreign-receipts': {
    meaning: 'The list of receipts had receipts of other blocks; they were dropped.',
    remedy: 'Add a node that lists only the receipts of the block.',
  },
  'log-indices': {
    meaning:
      'Log indices did not count up from 0. If they repeated, the logs were numbered in block order.',
    remedy: 'Nothing: each node and each backfill gives the same numbers.',
  },
  'log-transactions': {
    meaning: 'Logs had the index of another transaction; the transaction hash of the log decided.',
    remedy: NOTHING,
  },
  'null-values': {
    meaning: 'A number was null or missing.',
    remedy: 'Add a node that returns complete data. Handle the missing value in your app.',
  },
  traces: {
    meaning: 'A trace is missing or malformed; its internal transactions and calls are missing.',
    remedy:
      'Add a node with complete traces, then run a backfill of the block. If the node only failed for a while, the block is read again later.',
  },
} as const satisfies Record<string, CodeWords>;

/** Returns the words for a code, which may be unknown to this version. */
export const describeUnverifiedCode = (code: AnyUnverifiedCode): CodeWords =>
  Object.hasOwn(UNVERIFIED_CODES, code)
    ? UNVERIFIED_CODES[code as UnverifiedCode]
    : {
        meaning: 'This version does not know the code.',
        remedy: 'Look it up in the documentation of the version that the service runs.',
      };
