/** What the service says of itself: one line per event on standard error. */

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** Writes `time level event key=value …`; values with spaces are quoted, control characters escaped. */
export function createLog(write: (line: string) => void): Log {
  const say = (level: string, event: string, fields: LogFields = {}): void => {
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

const quote = (text: string): string => (/^[\w.:/@-]+$/.test(text) ? text : JSON.stringify(text));

/** What went wrong, for people: the innermost cause says it, the wrappers around it do not. */
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
