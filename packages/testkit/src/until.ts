/**
 * Calls `read` every `everyMs` milliseconds (default: 50) until it returns something other than
 * `undefined` or `false`, and resolves with that value.
 *
 * @param what describes the awaited condition, for the error message
 * @throws Error after `timeoutMs` milliseconds (default: 60,000). An error of `read` is thrown at
 *   once.
 */
export async function until<T>(
  what: string,
  read: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 60_000,
  everyMs = 50,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`timed out after ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
