/** Temporary errors of the ledger, including those that last until an operator frees disk space. */

import { RetryableError } from '../../base/errors.ts';

/**
 * PostgreSQL's SQLSTATE codes for failed connections, transactions that were rolled back (such as
 * the victim of a deadlock), insufficient resources (such as a full disk) and operator intervention.
 */
const SQL_STATES = /^(08|40|53|57P)/;
/**
 * PostgreSQL's code for a write to a server that is read-only, because it became a standby or was
 * just promoted.
 */
const READ_ONLY = '25006';
const SYSTEM = /^E(CONN(REFUSED|RESET|ABORTED)|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH|NOSPC|DQUOT)$/;
/**
 * Messages of errors without a code. SQLite's errors lose their code when they are passed between
 * threads, and some errors of `pg` have none.
 */
const MESSAGES =
  /database or disk is full|disk I\/O error|database is locked|connection (terminated|error)|timeout|not queryable/i;

/**
 * Returns whether the same call may succeed later, because the ledger is temporarily unavailable or
 * its disk is full.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    error instanceof RetryableError ||
    SQL_STATES.test(code) ||
    code === READ_ONLY ||
    SYSTEM.test(code) ||
    (code === '' && MESSAGES.test(error.message)) ||
    isUnavailable(error.cause)
  );
}
