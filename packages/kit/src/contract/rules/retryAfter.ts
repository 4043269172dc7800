/**
 * Returns the wait that a `Retry-After` header requests, in milliseconds, 0 or more. The header
 * contains seconds or an HTTP date (RFC 9110, section 10.2.3); returns undefined for anything else.
 */
export function parseRetryAfter(
  header: string | null | undefined,
  nowMs: number,
): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // HTTP dates start with a weekday, but `Date.parse` also accepts `-5`.
  const at = /^[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
