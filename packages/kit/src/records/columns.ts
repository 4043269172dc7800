/** Column names of decoded logs. */

/**
 * Names that the column of a parameter cannot have: the columns of every log, and names that
 * databases use.
 */
export const RESERVED_NAMES = [
  'id',
  'name',
  'logIndex',
  'transactionHash',
  'address',
  'blockHash',
  'blockTimestamp',
  'blockNumber',
  'confirmed',
  'chainId',
  'triggers',
  '_id',
  'uniqueId',
  'updatedAt',
  'createdAt',
  'user',
  'userId',
] as const;

export type ReservedName = (typeof RESERVED_NAMES)[number];

const reserved: ReadonlySet<string> = new Set(RESERVED_NAMES);

/**
 * Returns the column of each parameter: its name, prefixed with `_` until it is neither reserved
 * nor already used by a parameter that sorts before it.
 */
export function columnNames(parameters: readonly string[]): ReadonlyMap<string, string> {
  const columns = new Map<string, string>();
  // Names can collide only after prefixing, which most events do not need.
  if (!parameters.some((name) => reserved.has(name))) {
    for (const name of parameters) columns.set(name, name);
    return columns;
  }
  const used = new Set<string>();
  // Columns must not depend on the locale of the machine.
  for (const name of parameters.toSorted((a, b) => a.localeCompare(b, 'en'))) {
    let column = name;
    while (reserved.has(column) || used.has(column)) column = `_${column}`;
    used.add(column);
    columns.set(name, column);
  }
  return columns;
}
