/** Errors of the ledger that pass by themselves, or once an operator has made room. */

import { RetryableError } from '../../base/errors.ts';

/** PostgreSQL's classes of SQLSTATE: connection, resources (a full disk), an operator's intervention. */
const SQL_STATES = /^(08|53|57P)/;
/** The server became a standby, or was promoted a moment ago. */
const READ_ONLY = '25006';
const NETWORK = /^E(CONN(REFUSED|RESET|ABORTED)|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH)$/;
/** Without a code: SQLite's errors lose theirs between its thread and ours, and `pg` gives some none. */
const MESSAGES =
  /database or disk is full|disk I\/O error|database is locked|connection (terminated|error)|timeout|not queryable/i;

/** Whether the same call may succeed later, as it is: the ledger is full or away for now. */
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
