/** Explains why verification of a pasted request fails. */
import { type Diagnosis, diagnose, diagnoseWithPublicKey } from '@sluice/kit';
import { linesOf } from '../streamForm/draft/draft.ts';

const withoutQuotes = (text: string): string => text.replace(/^["']/, '').replace(/["']$/, '');

/** Reads headers, one per line, as logs of receivers print them. */
export const toHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).flatMap((line) => {
      const at = line.search(/[:=]/);
      const name = withoutQuotes(line.slice(0, at).trimEnd());
      const value = withoutQuotes(
        line
          .slice(at + 1)
          .trimStart()
          .replace(/,$/, ''),
      );
      return value === '' || !/^[\w-]+$/.test(name) ? [] : [[name.toLowerCase(), value]];
    }),
  );

/** Returns whether a key is a public key. Secrets never start with `whpk_`. */
export const isPublicKey = (key: string): boolean => key.trim().startsWith('whpk_');

/**
 * Returns the diagnosis, or undefined for a valid webhook.
 *
 * @param key secret or public key.
 */
export async function diagnoseRequest({
  key,
  headers,
  body,
  anyTime,
  otherSecrets,
}: {
  key: string;
  headers: Record<string, string>;
  body: string;
  /** Whether to ignore the timestamp. */
  anyTime: boolean;
  otherSecrets: readonly string[];
}): Promise<Diagnosis | undefined> {
  const request = { headers, body, ...(anyTime ? { toleranceMs: Infinity } : {}) };
  if (isPublicKey(key)) return diagnoseWithPublicKey({ ...request, publicKeys: [key.trim()] });
  return diagnose({
    ...request,
    secret: key,
    allowXSignature: !('webhook-signature' in headers),
    otherSecrets: Object.fromEntries(otherSecrets.map((secret) => [secret, secret])),
  });
}
