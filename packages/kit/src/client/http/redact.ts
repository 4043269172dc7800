/** Removes secrets from the arguments of hooks and from messages. */

/** Returns whether a header or field of this name may contain a secret. */
export const isSecret = (name: string): boolean =>
  /auth|cookie|key|secret|token|password|signature/i.test(name);

export const showHeaders = (headers: Headers, secrets: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    [...headers].map(([name, value]) => [name, isSecret(name) ? REDACTED : redact(value, secrets)]),
  );

export const REDACTED = '[secret]';

/** Minimum length of a secret that is removed. Shorter strings occur in ordinary words. */
const SHORTEST_SECRET = 8;

export function redact(text: string, secrets: readonly string[]): string {
  let redacted = text;
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET) redacted = redacted.replaceAll(secret, REDACTED);
  }
  return redacted;
}
