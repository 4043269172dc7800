/** Errors of the ledger that are temporary, or end once an operator has freed disk space. */

import { RetryableError } from '../../base/errors.ts';

/**
 * SQLSTATE classes of PostgreSQL for connections, resources (such as a full disk), and operator
 * intervention.
 */
const SQL_STATES = /^(08|53|57P)/;
/** Codes of a server that became a standby, or was just promoted. */
const READ_ONLY = '25006';
const NETWORK = /^E(CONN(REFUSED|RESET|ABORTED)|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH)$/;
/**
 * Messages of errors without a code: errors of SQLite lose it between threads, and some errors of
 * `pg` have none.
 */
const MESSAGES =
  /database or disk is full|disk I\/O error|database is locked|connection (terminated|error)|timeout|not queryable/i;

/** Returns whether the same call may succeed later: the ledger is full or unavailable for now. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    error instanceof RetryableError ||
    SQL_STATES.test(code) ||
    code === READ_ONLY ||
    NETWORK.test(code) ||
    (code === '' && MESSAGES.test(error.message)) ||
    isUnavailable(error.cause)
  );
}
