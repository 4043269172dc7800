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

/**
 * What the command line itself says, beside the codes of the kit: the exit code, and what usually
 * helps. `usage` refers to the help of its command. docs/errors.md explains each.
 */
export const COMMAND_ERRORS = {
  /** A flag or a value that cannot be right. */
  usage: { exit: EXIT.usage, fix: 'see --help' },
  /** A file that cannot be read or does not say what it should. */
  invalid_file: { exit: EXIT.usage, fix: 'mend the file, or name another' },
  /** Nothing says which service. */
  no_service: {
    exit: EXIT.unreachable,
    fix: 'start one with sluice dev, or name yours: sluice login, or --api-url and --api-key (SLUICE_API_URL, SLUICE_API_KEY)',
  },
  /** There is no key for the service, or it does not know it. */
  not_signed_in: {
    exit: EXIT.notAllowed,
    fix: 'sluice login, or pass --api-key (SLUICE_API_KEY)',
  },
  /** Somebody would have to be asked, and nobody is there. */
  not_confirmed: { exit: EXIT.usage, fix: 'run it again and confirm it' },
  not_found: { exit: EXIT.notFound, fix: 'check the name' },
  /** Some of many went wrong. */
  partial: {
    exit: EXIT.partial,
    fix: 'mend what is said above and run it again: what is done is not done twice',
  },
  /** What was to be checked is not as it should be. */
  check_failed: { exit: EXIT.checkFailed, fix: 'the lines above say what to do' },
  /** None of these: a fault of ours. */
  unexpected: { exit: EXIT.unexpected, fix: 'run it with --debug and report what it prints' },
} as const;

type CommandErrorCode = keyof typeof COMMAND_ERRORS;

const KIT_EXITS: Readonly<Record<SluiceErrorCode, number>> = {
  invalid_argument: EXIT.usage,
  invalid_network: EXIT.usage,
  invalid_selector: EXIT.usage,
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
  missing_secret: EXIT.usage,
  invalid_signature: EXIT.checkFailed,
  stale_timestamp: EXIT.checkFailed,
  body_already_parsed: EXIT.checkFailed,
  invalid_webhook: EXIT.checkFailed,
  missing_abi: EXIT.checkFailed,
};

/** Thrown by a command; `fix` is what to type or change. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: CommandErrorCode;
  /** Undefined: what helps with the code. */
  readonly fix: string | undefined;

  constructor(code: CommandErrorCode, message: string, fix?: string) {
    super(message);
    this.code = code;
    this.fix = fix;
  }
}

interface Told {
  exit: number;
  code: CommandErrorCode | SluiceErrorCode;
  message: string;
  why?: string[];
  /** Left out where `why` says it. */
  fix?: string | undefined;
  requestId?: string | undefined;
}

/** Prints what went wrong and answers with the exit code it stands for. */
export function reportError(error: unknown, terminal: Terminal, command: string): number {
  // Ctrl-C is no failure, and what it broke off is not worth a word.
  if (terminal.signal.aborted) return EXIT.interrupted;
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.success;
  const { exit, code, message, why = [], fix, requestId } = tell(error, command);
  const line = (name: string, text: string): void =>
    terminal.stderr.write(`  ${terminal.tintNote('faint', `${name}:`)} ${text}\n`);
  terminal.stderr.write(`${terminal.tintNote('bad', `error[${code}]:`)} ${message}\n`);
  for (const each of why) line('why', each);
  if (fix) line('fix', fix);
  line('docs', `sluice docs ${code}`);
  if (requestId) line('request', requestId);
  if (terminal.options.debug && error instanceof Error) terminal.stderr.write(`${error.stack}\n`);
  return exit;
}

function tell(error: unknown, command: string): Told {
  const help = `${command} --help`;
  const toTold = (code: CommandErrorCode, message: string, fix?: string): Told => {
    const usual = code === 'usage' ? `${help} lists what it takes` : COMMAND_ERRORS[code].fix;
    return { exit: COMMAND_ERRORS[code].exit, code, message, fix: fix ?? usual };
  };
  if (error instanceof CommanderError) {
    if (error.code === 'commander.help') return toTold('usage', 'What to do is missing');
    const [first = '', ...rest] = error.message.split('\n');
    const suggestion = rest.join(' ').replace(/^\((.*)\)$/, '$1');
    return toTold(
      'usage',
      first.replace(/^error: /, ''),
      suggestion === '' ? undefined : `${suggestion} ${help} lists all`,
    );
  }
  if (error instanceof CommandError) return toTold(error.code, error.message, error.fix);
  if (isSluiceError(error)) {
    const { code, message, hint, details = {}, requestId } = error;
    const why = Object.entries(details).map(([field, detail]) => describeDetail(field, detail));
    return {
      exit: KIT_EXITS[code],
      code,
      // The kit's message repeats the details behind a semicolon.
      message: why.length > 0 ? message.split(';', 1)[0]! : message,
      why,
      fix: code === 'validation_failed' && why.length > 0 ? undefined : hint,
      requestId,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  // The service's own, of a setting; its class is loaded only where the service is.
  if (error instanceof Error && error.name === 'ConfigError') return toTold('usage', message);
  if (isLedgerError(error)) return toTold('invalid_file', error.what, error.fix);
  return toTold('unexpected', message);
}

/** The service's own as well. */
const isLedgerError = (error: unknown): error is Error & { what: string; fix: string } =>
  error instanceof Error && error.name === 'LedgerError';

/** As our service writes a detail; anything else as JSON. */
function describeDetail(field: string, detail: unknown): string {
  if (typeof detail !== 'object' || detail === null || !('message' in detail)) {
    return `${field}: ${JSON.stringify(detail)}`;
  }
  const got = 'value' in detail ? ` (got ${JSON.stringify(detail.value)})` : '';
  return `${field} ${String(detail.message)}${got}`;
}
