/** Explains why a webhook was not written: what happened, then what to do. */
import { isSluiceError } from '@sluice/kit';
import { describeError } from '../../../base/log.ts';

/** Explanations by SQLSTATE. */
const ERRORS: Readonly<Record<string, string>> = {
  '28P01': 'the database rejected the login: correct the user and password in the webhook URL',
  '28000':
    'the database rejected the connection: correct the user in the webhook URL, add sslmode=verify-full if the server requires TLS, or allow the connection in pg_hba.conf',
  '3D000': 'the database does not exist: create it, or correct the webhook URL',
  '42501':
    'the user lacks a right: let it create tables in the schema, and the schema if it is missing (GRANT CREATE ON DATABASE)',
  '42P07': 'the schema has a table or view with this name that is not of Sluice: rename it',
  '25006': 'the server is read-only, such as a standby: enter the host of the primary',
  '53100': 'the disk of the database is full: free space',
  '53200': 'the database has no memory left',
  '53300': 'the database has no connections left: raise max_connections, or close others',
  '57014': 'a statement took too long: check the database for locks and load',
  '57P03': 'the database does not accept connections now',
};

/** Returns why a webhook was not written. */
export function explainFailure(error: unknown): string {
  if (isSluiceError(error)) return `${error.message} ${error.hint}`;
  const text = describeError(error);
  if (text === 'The server does not support SSL connections') {
    return 'the server does not offer TLS: remove sslmode from the webhook URL';
  }
  const { code } = Object(error) as { code?: unknown };
  const explained = typeof code === 'string' ? ERRORS[code] : undefined;
  return explained === undefined ? text : `${explained} (${text})`;
}

/** Returns whether an error shows that the connection or the server is lost. */
export function isLost(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown };
  // Errors without a SQLSTATE are not from the server.
  return typeof code !== 'string' || !/^\d[\dA-Z]{4}$/.test(code) || /^(08|57P)|25006/.test(code);
}
