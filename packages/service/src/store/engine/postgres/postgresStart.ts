/**
 * Explains to the operator why PostgreSQL could not be used at startup. Never reveals the password.
 */
import { findCertificateFault } from '../../../base/certificateErrors.ts';
import { describeError } from '../../../base/log.ts';
import { CallerError } from '../../../base/errors.ts';
import { parseServers } from './postgresServers.ts';
import { isUnavailable } from '../unavailable.ts';

/** Message of `pg` if the URL requires TLS and the server has none. */
const NO_TLS = 'The server does not support SSL connections';
const CONNECTION = /^E(CONN|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND)/;

/** Returns the hosts of the servers in a database URL, without its login. */
export const hostsOf = (url: string): string =>
  parseServers(url)
    .map((each) => new URL(each).host)
    .join(', ');

/** Returns a CallerError for common causes; returns any other error unchanged. */
export function toStartError(error: unknown, url: string): unknown {
  if (error instanceof CallerError) return error;
  const code = codeOf(error);
  const { username: user, pathname } = new URL(parseServers(url)[0]!);
  const hosts = hostsOf(url);
  const database = pathname.slice(1);
  const refuse = (message: string, fix: string): CallerError =>
    new CallerError('database_refused', message, { fix, cause: error });
  if (code === '3D000') {
    return refuse(
      `PostgreSQL at ${hosts} has no database ${JSON.stringify(decodeURIComponent(database))}`,
      'create it with createdb, or correct the name in the database URL',
    );
  }
  if (code.startsWith('28')) {
    return refuse(
      `PostgreSQL at ${hosts} refused the login${user === '' ? '' : ` of ${decodeURIComponent(user)}`}: ${describeError(error)}`,
      'correct the user and password in the database URL, or allow this host in pg_hba.conf',
    );
  }
  if (code === '42501') {
    return refuse(
      `The PostgreSQL user is not allowed to create the tables of the ledger: ${describeError(error)}`,
      'make the user the owner of the database',
    );
  }
  if (findCertificateFault(error) !== undefined) {
    return refuse(
      `PostgreSQL at ${hosts} has a certificate that is not accepted: ${describeError(error)}`,
      'add sslrootcert=FILE to the database URL, with the certificate of its authority in PEM; or start the service with NODE_EXTRA_CA_CERTS=FILE',
    );
  }
  if (error instanceof Error && error.message === NO_TLS) {
    return refuse(
      `PostgreSQL at ${hosts} does not support TLS`,
      'enable ssl on the server, or remove sslmode from the database URL if the network is trusted',
    );
  }
  if (!CONNECTION.test(code) && !isUnavailable(error)) return error;
  return new CallerError(
    'database_unreachable',
    `PostgreSQL at ${hosts} cannot be reached: ${describeError(error)}`,
    { cause: error },
  );
}

/** Returns the code of the innermost error that has a code; empty if no error has one. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return codeOf(inner) || ('code' in error ? String(error.code) : '');
}
