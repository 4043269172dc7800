/** `erc20Transfers[0].value=1e18`: one value within a JSON document is replaced. */
import { CommandError } from '../terminal/errors.ts';

/**
 * Changes the document. The value is JSON where it reads as such, but a text stays a text: amounts of
 * webhooks are decimal texts, and `1e18` is written out.
 *
 * @throws CommandError `usage` for a path that leads nowhere; the message says where it ends.
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
      "--set 'block.number=5'",
    );
  }
  let at: unknown = document;
  for (const [depth, key] of [...keys, last].entries()) {
    if (typeof at !== 'object' || at === null || !(key in at)) {
      const known = typeof at === 'object' && at !== null ? Object.keys(at).join(', ') : 'nothing';
      throw new CommandError(
        'usage',
        `--set ${path}: there is no ${JSON.stringify(key)}`,
        `under ${keys.slice(0, depth).join('.') || 'the webhook'} there is ${known || 'nothing'}`,
      );
    }
    if (depth < keys.length) at = (at as Record<string, unknown>)[key];
  }
  const parent = at as Record<string, unknown>;
  parent[last] = toValue(assignment.slice(equals + 1), parent[last]);
}

/** The value at a path, as `$.logs[0].topic0`; undefined where it leads nowhere. */
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

/** `1.5e18` as `1500000000000000000`; anything else as it is. */
function writeOut(text: string): string {
  const found = /^(\d+)(?:\.(\d+))?e(\d+)$/.exec(text);
  if (!found) return text;
  const [, whole = '', fraction = '', exponent = ''] = found;
  const zeros = Number(exponent) - fraction.length;
  return zeros < 0 || zeros > 100 ? text : BigInt(whole + fraction + '0'.repeat(zeros)).toString();
}
