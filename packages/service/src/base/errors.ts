/**
 * The errors that the service throws on purpose, grouped by who can fix them. `docs/errors.md`
 * explains their codes.
 */
import { hideSecrets } from './hideSecrets.ts';

/** Errors in a request, a setting or the environment. Retries fail until the caller fixes them. */
export const CALLER_CODES = [
  'usage',
  'not_found',
  'validation_failed',
  'invalid_file',
  'not_confirmed',
  'wrong_master_key',
  'port_in_use',
  'data_in_use',
  'database_unreachable',
  'database_refused',
  'chain_halted',
] as const;

/** Temporary errors, and errors of a single node or server. A retry may succeed. */
export const RETRYABLE_CODES = ['unavailable', 'no_standby', 'node_failed', 'lost_lease'] as const;

/** Errors of the service itself, or caused by another program that wrote to its ledger. */
export const INTERNAL_CODES = ['broken_secret', 'sender_died'] as const;

/** Error codes of API responses, as the kit defines them. */
export type ApiErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'payload_too_large'
  | 'validation_failed'
  | 'rate_limited'
  | 'server_error';

export type CallerCode = (typeof CALLER_CODES)[number];
type RetryableCode = (typeof RETRYABLE_CODES)[number];
type InternalCode = (typeof INTERNAL_CODES)[number];
type ServiceErrorCode = CallerCode | ApiErrorCode | RetryableCode | InternalCode;

export abstract class ServiceError extends Error {
  abstract readonly code: ServiceErrorCode;
}

export class CallerError<Code extends CallerCode = CallerCode> extends ServiceError {
  override readonly name: string = 'CallerError';
  readonly code: Code;
  /** Instructions to fix the error; undefined if the message already contains them. */
  readonly fix: string | undefined;

  constructor(
    code: Code,
    message: string,
    { fix, ...options }: ErrorOptions & { fix?: string } = {},
  ) {
    super(message, options);
    this.code = code;
    this.fix = fix;
  }
}

/** Creates the error for an invalid value that the operator gave; secrets in URLs are hidden. */
export const usageError = (message: string): CallerError<'usage'> =>
  new CallerError('usage', hideSecrets(message));

export class RetryableError extends ServiceError {
  override readonly name: string = 'RetryableError';
  readonly code: RetryableCode;

  constructor(code: RetryableCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export class InternalError extends ServiceError {
  override readonly name: string = 'InternalError';
  readonly code: InternalCode;

  constructor(code: InternalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export const hasCode = (error: unknown, code: ServiceErrorCode): error is ServiceError =>
  error instanceof ServiceError && error.code === code;

/** Returns the message of an error that the service throws on purpose, and rethrows any other. */
export function messageOf(error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  throw error;
}
