/**
 * Resolves selectors (`$field`), with which triggers and native balances refer to a field of a
 * record or a parameter of its event.
 */
import type { AnyRecord } from './records.ts';

/**
 * A problem in a stream's triggers or native balances: its path, and a message that describes the
 * expected value.
 */
export interface SelectorProblem {
  path: (string | number)[];
  message: string;
}

export type ReportProblem = (path: SelectorProblem['path'], message: string) => void;

/** Values that selectors can read. */
export interface SelectorSubject {
  record: AnyRecord;
  /** Decoded parameters of the record's event, by name. */
  args: Readonly<Record<string, unknown>>;
}

export const isSelector = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith('$');

/**
 * Returns the record's field, or the event parameter if the record has no such field; undefined if
 * neither exists.
 */
export function readSelector({ record, args }: SelectorSubject, selector: string): unknown {
  const name = selector.slice(1);
  if (Object.hasOwn(record, name)) return record[name];
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/** Reports a selector that is not one of `names`. */
export function checkSelector(
  selector: string,
  names: readonly string[],
  what: string,
  path: SelectorProblem['path'],
  report: ReportProblem,
): void {
  if (names.includes(selector.slice(1))) return;
  const allowed = names.map((name) => `$${name}`).join(', ');
  report(path, `should be ${what}: one of ${allowed}`);
}
