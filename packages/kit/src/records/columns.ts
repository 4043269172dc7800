/** The columns of a decoded log: those every log has, and its parameters by safe names. */

/** Names a parameter cannot have: the columns of every log, and what databases take for themselves. */
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
 * The column of each parameter: its own name, with as many `_` before it as it takes to be neither
 * reserved nor the column of a parameter that sorts before it.
 */
export function columnNames(parameters: readonly string[]): ReadonlyMap<string, string> {
  const columns = new Map<string, string>();
  // Only a prefix can make two names equal; most events need none, and no sorting.
  if (!parameters.some((name) => reserved.has(name))) {
    for (const name of parameters) columns.set(name, name);
    return columns;
  }
  const used = new Set<string>();
  // A fixed locale: a column must not depend on the machine.
  for (const name of parameters.toSorted((a, b) => a.localeCompare(b, 'en'))) {
    let column = name;
    while (reserved.has(column) || used.has(column)) column = `_${column}`;
    used.add(column);
    columns.set(name, column);
  }
  return columns;
}
