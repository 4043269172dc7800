/** Formats the log of the service: one line per event. */
import { causeOf, findCertificateFault } from './certificateErrors.ts';
import { INVISIBLE } from './foreignText.ts';
import { previewText } from './preview.ts';

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** Formats of a line: text for people, or a JSON object for programs. */
export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/**
 * Creates a log. Each line is `time level event key=value …`, with quotes around values that
 * contain spaces or unusual characters, or a JSON object with the same fields. The fields
 * `delivery`, `stream` and `requestId` identify what an event is about.
 */
export function createLog(write: (line: string) => void, format: LogFormat = 'text'): Log {
  const say = (level: string, event: string, given: LogFields = {}): void => {
    const fields = Object.fromEntries(
      Object.entries(given).map(([key, value]) => [
        key,
        typeof value === 'string' ? previewText(value, FIELD_LIMIT) : value,
      ]),
    );
    if (format === 'json') {
      write(`${toJson({ time: new Date().toISOString(), level, event, ...fields })}\n`);
      return;
    }
    const pairs = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => ` ${key}=${quote(String(value))}`);
    write(`${new Date().toISOString()} ${level} ${event}${pairs.join('')}\n`);
  };
  return {
    info: (event, fields) => say('info', event, fields),
    warn: (event, fields) => say('warn', event, fields),
    error: (event, fields) => say('error', event, fields),
  };
}

/**
 * Maximum length of a field, in characters. Text from nodes and receivers is truncated to fewer
 * characters, and stack traces are shorter.
 */
const FIELD_LIMIT = 8_192;

/**
 * Formats a value as visible text on one line, because receivers, nodes and tokens control some
 * values.
 */
const toJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(INVISIBLE, (character) =>
    Array.from({ length: character.length }, (_, n) => escape(character.charCodeAt(n))).join(''),
  );

const escape = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

const quote = (text: string): string => (/^[\w.:/@-]+$/.test(text) ? text : toJson(text));

/**
 * Describes an error by its innermost cause, because the errors that wrap it add nothing. Adds what
 * helps against a certificate error.
 */
export function describeError(error: unknown): string {
  const inner = causeOf(error);
  if (inner instanceof AggregateError && inner.errors.length > 0) {
    return describeError(inner.errors[0]);
  }
  if (!(inner instanceof Error)) return String(inner);
  const fault = findCertificateFault(inner);
  if (fault !== undefined) return `${inner.message}: ${fault.fix}`;
  if (inner.message !== '') return inner.message;
  return 'code' in inner && typeof inner.code === 'string' ? inner.code : inner.name;
}
