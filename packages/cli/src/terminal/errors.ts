/** What a command ends with: an exit code, and for a failure what, why and the way out. */
import { type SluiceErrorCode, isSluiceError } from '@sluice/kit';
import { CommanderError } from 'commander';
import type { Terminal } from './terminal.ts';

export const EXIT = {
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
  timeout: 124,
  interrupted: 130,
} as const;

/** What the command line itself says, beside the codes of the kit; docs/errors.md explains each. */
export const COMMAND_CODES = {
  /** A flag or a value that cannot be right. */
  usage: EXIT.usage,
  /** A file that cannot be read or does not say what it should. */
  invalid_file: EXIT.usage,
  /** Nothing says which service, or there is no key for it. */
  not_signed_in: EXIT.notAllowed,
  /** Somebody would have to be asked, and nobody is there. */
  not_confirmed: EXIT.usage,
  not_found: EXIT.notFound,
  /** Some of many went wrong. */
  partial: EXIT.partial,
  /** What was to be checked is not as it should be. */
  check_failed: EXIT.checkFailed,
  /** None of these: a fault of ours. */
  unexpected: EXIT.unexpected,
} as const;

const KIT_CODES: Partial<Record<SluiceErrorCode, number>> = {
  invalid_argument: EXIT.usage,
  invalid_network: EXIT.usage,
  aborted: EXIT.interrupted,
  timeout: EXIT.timeout,
  network_error: EXIT.unreachable,
  redirected: EXIT.unreachable,
  invalid_answer: EXIT.unreachable,
  unauthorized: EXIT.notAllowed,
  forbidden: EXIT.notAllowed,
  not_found: EXIT.notFound,
  bad_request: EXIT.refused,
  conflict: EXIT.refused,
  payload_too_large: EXIT.refused,
  validation_failed: EXIT.refused,
  rate_limited: EXIT.serviceError,
  server_error: EXIT.serviceError,
  unexpected_status: EXIT.serviceError,
};

/** Thrown by a command; `fix` is what to type or change. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: keyof typeof COMMAND_CODES;
  readonly fix: string | undefined;

  constructor(code: keyof typeof COMMAND_CODES, message: string, fix?: string) {
    super(message);
    this.code = code;
    this.fix = fix;
  }
}

interface Told {
  exit: number;
  code: string;
  message: string;
  why?: string[];
  fix?: string | undefined;
  docs?: string;
  requestId?: string | undefined;
}

/** Prints what went wrong and answers with the exit code it stands for. */
export function reportError(error: unknown, terminal: Terminal, command: string): number {
  // Ctrl-C is no failure, and what it broke off is not worth a word.
  if (terminal.signal.aborted) return EXIT.interrupted;
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.success;
  const { exit, code, message, why = [], fix, docs, requestId } = tell(error, command);
  const line = (name: string, text: string): void =>
    terminal.stderr.write(`  ${terminal.tintNote('faint', `${name}:`)} ${text}\n`);
  terminal.stderr.write(`${terminal.tintNote('bad', `error[${code}]:`)} ${message}\n`);
  for (const each of why) line('why', each);
  if (fix) line('fix', fix);
  if (docs) line('docs', docs);
  if (requestId) line('request', requestId);
  if (terminal.options.debug && error instanceof Error) terminal.stderr.write(`${error.stack}\n`);
  return exit;
}

function tell(error: unknown, command: string): Told {
  const help = `${command} --help`;
  if (error instanceof CommanderError) {
    if (error.code === 'commander.help') {
      return { exit: EXIT.usage, code: 'usage', message: 'What to do is missing', docs: help };
    }
    const [first = '', ...rest] = error.message.split('\n');
    const suggestion = rest.join(' ').replace(/^\((.*)\)$/, '$1');
    const message = first.replace(/^error: /, '');
    return { exit: EXIT.usage, code: 'usage', message, fix: suggestion, docs: help };
  }
  if (error instanceof CommandError) {
    const { code, message, fix } = error;
    return {
      exit: COMMAND_CODES[code],
      code,
      message,
      fix,
      ...(code === 'usage' && { docs: help }),
    };
  }
  if (isSluiceError(error)) {
    const { code, message, hint, docUrl, details = {}, requestId } = error;
    const why = Object.entries(details).map(([field, detail]) => describeDetail(field, detail));
    return {
      exit: KIT_CODES[code] ?? EXIT.unexpected,
      code,
      // The kit's message repeats the details behind a semicolon.
      message: why.length > 0 ? message.split(';', 1)[0]! : message,
      why,
      fix: code === 'validation_failed' && why.length > 0 ? undefined : hint,
      docs: docUrl,
      requestId,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  // The service's own, of a setting; its class is loaded only where the service is.
  if (error instanceof Error && error.name === 'ConfigError') {
    return { exit: EXIT.usage, code: 'usage', message, docs: help };
  }
  return { exit: COMMAND_CODES.unexpected, code: 'unexpected', message };
}

/** As our service writes a detail; anything else as JSON. */
function describeDetail(field: string, detail: unknown): string {
  if (typeof detail !== 'object' || detail === null || !('message' in detail)) {
    return `${field}: ${JSON.stringify(detail)}`;
  }
  const got = 'value' in detail ? ` (got ${JSON.stringify(detail.value)})` : '';
  return `${field} ${String(detail.message)}${got}`;
}
