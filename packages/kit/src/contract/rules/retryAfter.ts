/**
 * Milliseconds that a `Retry-After` header asks for, 0 or more (RFC 9110, section 10.2.3): seconds or an
 * HTTP date. Undefined where it is neither.
 */
export function parseRetryAfter(
  header: string | null | undefined,
  nowMs: number,
): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Dates begin with the name of a day; `Date.parse` makes one of `-5`, too.
  const at = /^[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
