/** Formats the log of the service: one line per event. */
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
 * Matches characters that move the cursor or change the writing direction, and that
 * `JSON.stringify` does not escape.
 */
const UNPRINTABLE = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Formats a value as visible text on one line, because receivers, nodes and tokens control some
 * values.
 */
const toJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const quote = (text: string): string => (/^[\w.:/@-]+$/.test(text) ? text : toJson(text));

/** Describes an error by its innermost cause, because the errors that wrap it add nothing. */
export function describeError(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  if (inner instanceof AggregateError && inner.errors.length > 0) {
    return describeError(inner.errors[0]);
  }
  if (!(inner instanceof Error)) return String(inner);
  if (inner.message !== '') return inner.message;
  return 'code' in inner && typeof inner.code === 'string' ? inner.code : inner.name;
}
