/** Exit codes and error messages: what failed, why, and how to fix it. */
import { type SluiceErrorCode, isSluiceError } from '@sluice/kit';
import type { CallerError } from '@sluice/service';
import { CommanderError } from 'commander';
import { flagOf } from '../streams/flagTable.ts';
import { rewriteCommands } from '../package/packaged.ts';
import { wrapText } from './text.ts';
import { type Terminal, type Tone, toJson, widthOn } from './terminal.ts';

export const EXIT_CODES = {
  success: 0,
  unexpected: 1,
  usage: 2,
  notAllowed: 3,
  notFound: 4,
  refused: 5,
  unreachable: 6,
  serviceError: 7,
  partial: 8,
  checkFailed: 9,
  notStarted: 10,
  timeout: 124,
  interrupted: 130,
} as const;

/**
 * Errors of the command line, in addition to the kit's errors, with their exit code and default
 * fix. docs/errors.md explains them. The fix of `usage` names the help of the failed command.
 */
export const COMMAND_ERRORS = {
  /** An invalid flag or value. */
  usage: { exit: EXIT_CODES.usage, fix: 'see --help' },
  /** A file that cannot be read or has invalid content. */
  invalid_file: { exit: EXIT_CODES.usage, fix: 'fix the file, or pass another one' },
  no_service: {
    exit: EXIT_CODES.unreachable,
    fix: 'start one with sluice dev, or connect to yours: sluice login, or --api-url and --api-key (SLUICE_API_URL, SLUICE_API_KEY)',
  },
  /** The API key is missing or invalid, or the service does not return the streams secret. */
  not_signed_in: {
    exit: EXIT_CODES.notAllowed,
    fix: 'sign in with sluice login, or pass --api-key (SLUICE_API_KEY)',
  },
  /** An action was not confirmed, or the command cannot prompt. */
  not_confirmed: { exit: EXIT_CODES.usage, fix: 'run the command again and confirm' },
  not_found: { exit: EXIT_CODES.notFound, fix: 'check the name or ID' },
  /** At least one of several items failed. */
  partial: {
    exit: EXIT_CODES.partial,
    fix: 'fix the problems above, then replay only the failed deliveries',
  },
  port_in_use: {
    exit: EXIT_CODES.notStarted,
    fix: 'stop the other process, or pass another port with --port (0 for any free port)',
  },
  /** Another Sluice process uses the data folder. */
  data_in_use: {
    exit: EXIT_CODES.notStarted,
    fix: 'stop that process, or pass another folder with --data',
  },
  /** The secrets in the ledger are encrypted with another master key. */
  wrong_master_key: {
    exit: EXIT_CODES.notStarted,
    fix: 'pass the key that encrypted them: --master-key-file, or SLUICE_MASTER_KEY',
  },
  /** PostgreSQL cannot be reached. */
  database_unreachable: {
    exit: EXIT_CODES.notStarted,
    fix: 'check that it is running and accepts connections from this host, and that --database-url has the right host and port',
  },
  /** PostgreSQL rejects the login or the database, or denies a permission. */
  database_refused: {
    exit: EXIT_CODES.notStarted,
    fix: 'check the user, password and database in --database-url',
  },
  check_failed: { exit: EXIT_CODES.checkFailed, fix: 'see the lines above' },
  /** Any error without another code, usually a bug in Sluice. */
  unexpected: {
    exit: EXIT_CODES.unexpected,
    fix: 'run the command with --debug and report the output',
  },
} as const;

type CommandErrorCode = keyof typeof COMMAND_ERRORS;

const KIT_EXITS: Readonly<Record<SluiceErrorCode, number>> = {
  invalid_argument: EXIT_CODES.usage,
  invalid_network: EXIT_CODES.usage,
  invalid_selector: EXIT_CODES.usage,
  aborted: EXIT_CODES.interrupted,
  timeout: EXIT_CODES.timeout,
  network_error: EXIT_CODES.unreachable,
  redirected: EXIT_CODES.unreachable,
  invalid_response: EXIT_CODES.unreachable,
  unauthorized: EXIT_CODES.notAllowed,
  forbidden: EXIT_CODES.notAllowed,
  not_found: EXIT_CODES.notFound,
  bad_request: EXIT_CODES.refused,
  conflict: EXIT_CODES.refused,
  payload_too_large: EXIT_CODES.refused,
  validation_failed: EXIT_CODES.refused,
  rate_limited: EXIT_CODES.serviceError,
  server_error: EXIT_CODES.serviceError,
  unexpected_status: EXIT_CODES.serviceError,
  missing_secret: EXIT_CODES.usage,
  invalid_signature: EXIT_CODES.checkFailed,
  stale_timestamp: EXIT_CODES.checkFailed,
  body_already_parsed: EXIT_CODES.checkFailed,
  invalid_webhook: EXIT_CODES.checkFailed,
  invalid_proof: EXIT_CODES.checkFailed,
  missing_abi: EXIT_CODES.checkFailed,
};

/** Fixes of the kit's errors that name a flag instead of an option of the kit's client. */
const KIT_FIXES: Readonly<Partial<Record<SluiceErrorCode, string>>> = {
  unauthorized: 'check --api-key (SLUICE_API_KEY), or sign in again: sluice login',
  network_error: 'check --api-url (SLUICE_API_URL), and that the service is running',
  redirected: 'pass the final URL with --api-url',
  invalid_response: 'check that --api-url is the URL of the API, not of a web page',
};

export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: CommandErrorCode;
  /** The fix to show; undefined for the default fix of the code. */
  readonly fix: string | undefined;
  /** The problems that the message counts; empty if the message describes the only one. */
  readonly why: readonly string[];

  constructor(code: CommandErrorCode, message: string, fix?: string, why: readonly string[] = []) {
    super(message);
    this.code = code;
    this.fix = fix;
    this.why = why;
  }
}

/** Combines the errors of settings, of which there is at least one. */
export function combineErrors(errors: readonly CommandError[]): CommandError {
  const [first] = errors;
  if (errors.length === 1) return first!;
  const why = errors.map(({ message, fix }) =>
    fix === undefined ? message : `${message}. Fix: ${fix}`,
  );
  const isFile = errors.every(({ code }) => code === 'invalid_file');
  return new CommandError(
    isFile ? 'invalid_file' : 'usage',
    `${errors.length} settings are invalid`,
    'correct each of them',
    why,
  );
}

interface ErrorText {
  exit: number;
  code: CommandErrorCode | SluiceErrorCode;
  message: string;
  why?: readonly string[];
  /** How to fix the error; undefined if `why` already explains it. */
  fix?: string | undefined;
  requestId?: string | undefined;
}

/** Prints an error and returns its exit code. */
export function reportError(
  error: unknown,
  terminal: Terminal,
  { command, json = false }: { command: string; json?: boolean },
): number {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT_CODES.success;
  const { exit, code, message, why = [], requestId, ...rest } = toErrorText(error, command);
  const fix = rest.fix && rewriteCommands(rest.fix);
  const docs = rewriteCommands(`sluice docs ${code}`);
  const { stderr } = terminal;
  if (json) {
    stderr.write(`${toJson({ error: { code, message, why, fix, docs, requestId } })}\n`);
    return exit;
  }
  /**
   * Wraps lines on a terminal, which would otherwise break lines inside words. Lines for files and
   * pipes are not wrapped.
   */
  const print = (label: string, tone: Tone, text: string): void => {
    const whole = text.split('\n').map((part) => part.trim());
    const line = `${label} ${whole.join(' ')}`;
    const [first = '', ...more] = stderr.isTTY ? wrapText(line, 4, widthOn(stderr)) : [line];
    stderr.write(`${first.replace(label, () => terminal.tintNote(tone, label))}\n`);
    for (const each of more) stderr.write(`${each}\n`);
  };
  print(`error[${code}]:`, 'bad', message);
  for (const each of why) print('  why:', 'faint', each);
  if (fix) print('  fix:', 'faint', fix);
  print('  docs:', 'faint', docs);
  if (requestId) print('  request:', 'faint', requestId);
  if (terminal.options.debug && error instanceof Error) terminal.stderr.write(`${error.stack}\n`);
  return exit;
}

function toErrorText(error: unknown, command: string): ErrorText {
  const help = `${command} --help`;
  const ofCode = (code: CommandErrorCode, message: string, fix?: string): ErrorText => {
    const usual = code === 'usage' ? `see ${help}` : COMMAND_ERRORS[code].fix;
    return { exit: COMMAND_ERRORS[code].exit, code, message, fix: fix ?? usual };
  };
  if (error instanceof CommanderError) {
    if (error.code === 'commander.help') return ofCode('usage', 'Missing subcommand');
    const [first = '', ...rest] = error.message.split('\n');
    const suggestion = rest.join(' ').replace(/^\((.*)\)$/, '$1');
    return ofCode(
      'usage',
      first.replace(/^error: /, ''),
      suggestion === '' ? undefined : `${suggestion} See ${help}`,
    );
  }
  if (error instanceof CommandError) {
    return { ...ofCode(error.code, error.message, error.fix), why: error.why };
  }
  if (isSluiceError(error)) {
    const { code, message, hint, details = {}, requestId } = error;
    const why = Object.entries(details).map(([field, detail]) =>
      describeDetail(nameOf(field, command), detail),
    );
    return {
      exit: KIT_EXITS[code],
      code,
      // After a semicolon, the kit's message repeats the details, so that part is removed.
      message: why.length > 0 ? message.split(';', 1)[0]! : message,
      why,
      fix: code === 'validation_failed' && why.length > 0 ? undefined : (KIT_FIXES[code] ?? hint),
      requestId,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (isCallerError(error) && error.code in COMMAND_ERRORS) {
    return ofCode(error.code as CommandErrorCode, rewriteCommands(message), error.fix);
  }
  return ofCode('unexpected', message);
}

/** Recognizes an error of the service by its name, because its class may not be loaded. */
const isCallerError = (error: unknown): error is CallerError =>
  error instanceof Error && error.name === 'CallerError';

/**
 * Returns the name of a field; for `streams create` and `streams update`, also its flag, which is
 * what the user typed.
 */
function nameOf(field: string, command: string): string {
  const name = field.replace(/^requestBody\./, '');
  const flag = / streams (create|update)$/.test(command) ? flagOf(name.split('.')[0]!) : undefined;
  return flag === undefined ? name : `${flag} (${name})`;
}

/**
 * Formats a detail of the service's errors as its message and value; formats any other value as
 * JSON.
 */
function describeDetail(field: string, detail: unknown): string {
  if (typeof detail !== 'object' || detail === null || !('message' in detail)) {
    return `${field}: ${JSON.stringify(detail)}`;
  }
  const got = 'value' in detail ? ` (got ${JSON.stringify(detail.value)})` : '';
  return `${field} ${String(detail.message)}${got}`;
}
