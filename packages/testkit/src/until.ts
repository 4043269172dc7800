/**
 * Polls until `read` answers something other than `undefined` or `false`, and resolves with it.
 *
 * @param what is waited for, in the words of the error
 * @throws Error after `timeoutMs`, default 60,000; whatever `read` throws, at once.
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
    if (Date.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
