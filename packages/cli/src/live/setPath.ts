/** Replaces and reads values in a JSON document by path: `erc20Transfers[0].value=1e18`. */
import { CommandError } from '../terminal/errors.ts';

/**
 * Changes the document in place. A value that replaces a string stays a string, with an exponent
 * (`1e18`) written out. Any other value is parsed as JSON if possible.
 *
 * @throws CommandError `usage` if the assignment has no path, or if the path does not exist; then
 * the fix lists the keys at the last valid level.
 */
export function setPath(document: object, assignment: string): void {
  const equals = assignment.indexOf('=');
  const path = assignment.slice(0, equals);
  const keys = path
    .replace(/^\$\.?/, '')
    .split(/[.[\]]+/)
    .filter(Boolean);
  const last = keys.pop();
  if (equals < 1 || last === undefined) {
    throw new CommandError(
      'usage',
      `--set ${assignment}: should be path=value`,
      "e.g. --set 'block.number=5'",
    );
  }
  let at: unknown = document;
  for (const [depth, key] of [...keys, last].entries()) {
    if (typeof at !== 'object' || at === null || !(key in at)) {
      const known = typeof at === 'object' && at !== null ? Object.keys(at).join(', ') : 'none';
      throw new CommandError(
        'usage',
        `--set ${path}: ${JSON.stringify(key)} does not exist`,
        `use one of these keys of ${keys.slice(0, depth).join('.') || 'the webhook'}: ${known || 'none'}`,
      );
    }
    if (depth < keys.length) at = (at as Record<string, unknown>)[key];
  }
  const parent = at as Record<string, unknown>;
  parent[last] = toValue(assignment.slice(equals + 1), parent[last]);
}

/** Returns the value at a path such as `$.logs[0].topic0`; undefined if it does not exist. */
export const readPath = (document: unknown, path: string): unknown =>
  path
    .replace(/^\$\.?/, '')
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce<unknown>(
      (at, key) =>
        typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined,
      document,
    );

function toValue(text: string, before: unknown): unknown {
  if (typeof before === 'string') return writeOut(text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/**
 * Writes out a number with an exponent: `1.5e18` becomes `1500000000000000000`. Returns any other
 * string unchanged.
 */
function writeOut(text: string): string {
  const found = /^(\d+)(?:\.(\d+))?e(\d+)$/.exec(text);
  if (!found) return text;
  const [, whole = '', fraction = '', exponent = ''] = found;
  const zeros = Number(exponent) - fraction.length;
  return zeros < 0 || zeros > 100 ? text : BigInt(whole + fraction + '0'.repeat(zeros)).toString();
}
