/** Parses JSON from nodes and callers, and makes its strings well-formed Unicode. */

/** Matches an escaped surrogate, which may lack its other half, as in `"\ud83d"`. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** Works like `JSON.parse`, but replaces each lone surrogate in values and keys with U+FFFD. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return SURROGATE_ESCAPE.test(text) ? toWellFormed(value) : value;
}

function toWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toWellFormed);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key.toWellFormed(), toWellFormed(each)]),
  );
}
