/** Why a service does not start: a condition of its machine or its settings, for the operator. */
export type StartErrorCode =
  | 'port_in_use'
  | 'data_in_use'
  | 'wrong_master_key'
  | 'database_unreachable'
  | 'database_refused';

/** `message` says what happened, `fix` what to do; docs/errors.md explains each code. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly code: StartErrorCode;
  readonly fix: string;

  constructor(code: StartErrorCode, message: string, fix: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.fix = fix;
  }
}
