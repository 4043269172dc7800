/** What a command ends with: an exit code, and for a failure what, why and the way out. */
import { type SluiceErrorCode, isSluiceError } from '@sluice/kit';
import type { CallerError } from '@sluice/service';
import { CommanderError } from 'commander';
import { spellCommands } from '../package/packaged.ts';
import { wrapText } from './text.ts';
import { type Terminal, type Tone, toJson, widthOn } from './terminal.ts';

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
  notStarted: 10,
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
  /** Another process listens on the port. */
  port_in_use: { exit: EXIT.notStarted, fix: 'stop it, or pass another port with --port' },
  /** Another service runs on the data folder. */
  data_in_use: { exit: EXIT.notStarted, fix: 'stop it, or pass another folder with --data' },
  /** The secrets of the ledger are sealed with a key that was not given. */
  wrong_master_key: {
    exit: EXIT.notStarted,
    fix: 'pass the key that the ledger was made with: --master-key-file, or SLUICE_MASTER_KEY',
  },
  /** PostgreSQL does not answer. */
  database_unreachable: {
    exit: EXIT.notStarted,
    fix: 'check that it runs, and host and port in --database-url',
  },
  /** PostgreSQL answers, and refuses the login, the database or the rights. */
  database_refused: {
    exit: EXIT.notStarted,
    fix: 'check user, password and database in --database-url',
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
export function reportError(
  error: unknown,
  terminal: Terminal,
  { command, json = false }: { command: string; json?: boolean },
): number {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.success;
  const { exit, code, message, why = [], requestId, ...told } = tell(error, command);
  const fix = told.fix && spellCommands(told.fix);
  const docs = spellCommands(`sluice docs ${code}`);
  const { stderr } = terminal;
  if (json) {
    stderr.write(`${toJson({ error: { code, message, why, fix, docs, requestId } })}\n`);
    return exit;
  }
  /** A terminal would break a line inside a word; a file and a search want it whole. */
  const say = (label: string, tone: Tone, text: string): void => {
    const whole = text.split('\n').map((part) => part.trim());
    const line = `${label} ${whole.join(' ')}`;
    const [first = '', ...more] = stderr.isTTY ? wrapText(line, 4, widthOn(stderr)) : [line];
    stderr.write(`${first.replace(label, () => terminal.tintNote(tone, label))}\n`);
    for (const each of more) stderr.write(`${each}\n`);
  };
  say(`error[${code}]:`, 'bad', message);
  for (const each of why) say('  why:', 'faint', each);
  if (fix) say('  fix:', 'faint', fix);
  say('  docs:', 'faint', docs);
  if (requestId) say('  request:', 'faint', requestId);
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
    const why = Object.entries(details).map(([field, detail]) =>
      describeDetail(nameOf(field, command), detail),
    );
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
  if (isCallerError(error) && error.code in COMMAND_ERRORS) {
    return toTold(error.code as CommandErrorCode, spellCommands(message), error.fix);
  }
  return toTold('unexpected', message);
}

/** The service's own; its class is loaded only where the service is. */
const isCallerError = (error: unknown): error is CallerError =>
  error instanceof Error && error.name === 'CallerError';

/** By the flag where a flag gave it: the reader never wrote a `requestBody`. */
function nameOf(field: string, command: string): string {
  const name = field.replace(/^requestBody\./, '');
  const flag = / streams (create|update)$/.test(command)
    ? FIELD_FLAGS[name.split('.')[0]!]
    : undefined;
  return flag === undefined ? name : `${flag} (${name})`;
}

/** Of `streams create` and `streams update`. */
const FIELD_FLAGS: Readonly<Record<string, string>> = {
  webhookUrl: '--url',
  tag: '--tag',
  description: '--description',
  chainIds: '--chain',
  network: '--network',
  topic0: '--event',
  events: '--event',
  functions: '--function',
  abi: '--abi',
  allAddresses: '--all-addresses',
  deliver: '--deliver',
  maxInFlight: '--max-in-flight',
  maxPerSecond: '--max-per-second',
  strictOrder: '--strict-order',
};

/** As our service writes a detail; anything else as JSON. */
function describeDetail(field: string, detail: unknown): string {
  if (typeof detail !== 'object' || detail === null || !('message' in detail)) {
    return `${field}: ${JSON.stringify(detail)}`;
  }
  const got = 'value' in detail ? ` (got ${JSON.stringify(detail.value)})` : '';
  return `${field} ${String(detail.message)}${got}`;
}
