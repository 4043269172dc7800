/** `$field`: how a trigger or a balance names a field of each record. */
import type { AnyRecord } from './records.ts';

/** What is wrong with a stream's triggers or balances: where, and what it should be. */
export interface Problem {
  path: (string | number)[];
  message: string;
}

export type Report = (path: Problem['path'], message: string) => void;

/** What selectors read from. */
export interface Subject {
  record: AnyRecord;
  /** Decoded parameters of the record's event, by name. */
  args: Readonly<Record<string, unknown>>;
}

export const isSelector = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith('$');

/** The record's own field; where it has none of that name, the parameter of its event. */
export function select({ record, args }: Subject, selector: string): unknown {
  const name = selector.slice(1);
  if (Object.hasOwn(record, name)) return record[name];
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/** Reports a selector that names none of `names`. */
export function checkSelector(
  selector: string,
  names: readonly string[],
  what: string,
  path: Problem['path'],
  report: Report,
): void {
  if (names.includes(selector.slice(1))) return;
  const allowed = names.map((name) => `$${name}`).join(', ');
  report(path, `should be ${what}: one of ${allowed}`);
}
