/** Sends webhooks with OAuth 2.0 access tokens. */
import type { StreamOAuth2, TokenFailure, Tokens } from './tokens.ts';

const UNAUTHORIZED = 401;
/** Minimum time for a repeat, below which it is not made. */
const SHORTEST_MS = 1_000;

/**
 * Sends a webhook with an access token. If the receiver rejects a cached token with a 401, repeats
 * the webhook once with a new one, because the receiver may have revoked the token early.
 *
 * @param send sends the webhook with this `Authorization` header
 * @param timeoutMs time for the webhook and its repeat together, without token requests
 */
export async function sendAuthorized<
  Result extends { status: number | null; durationMs: number; responseBody: string },
>(
  oauth2: StreamOAuth2,
  tokens: Pick<Tokens, 'obtain' | 'discard'>,
  send: (authorization: string, timeoutMs: number) => Promise<Result>,
  timeoutMs: number,
): Promise<Result | TokenFailure> {
  const sendWith = async (token: string, limitMs: number): Promise<Result> => {
    const result = await send(`Bearer ${token}`, limitMs);
    if (result.status === UNAUTHORIZED) tokens.discard(oauth2, token);
    // The ledger stores responses, and a receiver may repeat the headers of its request.
    return { ...result, responseBody: hideToken(result.responseBody, token) };
  };

  const first = await tokens.obtain(oauth2);
  if ('failure' in first) return first;
  const result = await sendWith(first.token, timeoutMs);
  const leftMs = timeoutMs - result.durationMs;
  if (result.status !== UNAUTHORIZED || first.isNew || leftMs < SHORTEST_MS) return result;
  const second = await tokens.obtain(oauth2);
  return 'failure' in second ? second : sendWith(second.token, leftMs);
}

/** Minimum length of the start of a token that is hidden at the end of a truncated response. */
const SHORTEST_START = 8;

function hideToken(responseBody: string, token: string): string {
  const hidden = responseBody.replaceAll(token, '***');
  for (let length = token.length - 1; length >= SHORTEST_START; length--) {
    if (hidden.endsWith(token.slice(0, length))) return `${hidden.slice(0, -length)}***`;
  }
  return hidden;
}
