/**
 * Obtains access tokens for receivers with OAuth 2.0 client credentials (RFC 6749, section 4.4).
 * Tokens are cached in memory only, separately for each stream, so that streams cannot end each
 * other's tokens.
 */
import type { OAuth2Credentials } from '@sluice/kit/contract';
import type { PostResult } from '../post.ts';

/** The client credentials of a stream. */
export interface StreamOAuth2 {
  streamId: string;
  credentials: OAuth2Credentials;
}

/** An access token. `isNew` is false if it was requested for an earlier attempt. */
export interface ObtainedToken {
  token: string;
  isNew: boolean;
}

/** Why there is no access token. */
export type TokenFailure = Pick<PostResult, 'localFailure'> & { failure: string };

export interface Tokens {
  /** Returns a token, and requests it if none is cached. Concurrent calls share one request. */
  obtain(oauth2: StreamOAuth2): Promise<ObtainedToken | TokenFailure>;
  /** Drops a token that the receiver rejected, unless it was already replaced. */
  discard(oauth2: StreamOAuth2, token: string): void;
  /** Drops tokens that were not used for a long time. */
  forget(): void;
}

/** The response of a token endpoint. */
export type TokenResponse = Pick<
  PostResult,
  'status' | 'failure' | 'localFailure' | 'responseBody' | 'isCut'
>;

/** Maximum size of a token endpoint's response. */
export const TOKEN_RESPONSE_BYTES = 64 * 1024;
/** Maximum length of a token. Many servers accept at most 16 KiB for all headers of a request. */
const MAX_TOKEN_LENGTH = 8 * 1024;
/** Lifetime of a token whose response has no valid `expires_in`. */
const DEFAULT_LIFETIME_MS = 5 * 60_000;
const MAX_LIFETIME_MS = 24 * 3_600_000;
/** A token is renewed this long before it expires, or after nine tenths of a shorter lifetime. */
const RENEW_BEFORE_MS = 30_000;
const RENEW_SHARE = 0.1;
/** Minimum time for the second request, below which it is not made. */
const SHORTEST_MS = 500;
const FORGET_MS = 3_600_000;

/** State of the credentials of one stream. */
interface Entry {
  token: string | undefined;
  renewAt: number;
  usedAt: number;
  /** Whether the server accepts the credentials in the body rather than in a header. */
  isInBody: boolean;
  running: Promise<ObtainedToken | TokenFailure> | undefined;
}

/**
 * @param options.post sends a request to a token endpoint
 * @param options.timeoutMs time for all requests that one call of `obtain` makes
 */
export function createTokens({
  post,
  timeoutMs,
}: {
  post(
    url: string,
    request: { headers: Record<string, string>; body: Uint8Array },
    timeoutMs: number,
  ): Promise<TokenResponse>;
  timeoutMs: number;
}): Tokens {
  const entries = new Map<string, Entry>();
  const keyOf = ({ streamId, credentials }: StreamOAuth2): string =>
    `${streamId} ${JSON.stringify(credentials)}`;

  const request = async (
    entry: Entry,
    credentials: OAuth2Credentials,
  ): Promise<ObtainedToken | TokenFailure> => {
    const beganAt = performance.now();
    const ask = (isInBody: boolean, ms: number): Promise<TokenResponse> =>
      post(credentials.tokenUrl, toRequest(credentials, isInBody), ms);
    let response = await ask(entry.isInBody, timeoutMs);
    const leftMs = timeoutMs - (performance.now() - beganAt);
    // RFC 6749 does not let a client discover where a server expects the credentials, so the other
    // place is tried once. The server's answer to the first place is the better explanation if it
    // rejects both.
    if (isClientRejected(response) && leftMs >= SHORTEST_MS) {
      const second = await ask(!entry.isInBody, leftMs);
      if (!isClientRejected(second)) {
        response = second;
        if (isSuccess(second.status)) entry.isInBody = !entry.isInBody;
      }
    }
    const read = readToken(response);
    if ('failure' in read) return read;
    const { token, lifetimeMs } = read;
    const earlyMs = Math.min(RENEW_BEFORE_MS, lifetimeMs * RENEW_SHARE);
    entry.token = token;
    entry.renewAt = beganAt + lifetimeMs - earlyMs;
    return { token, isNew: true };
  };

  return {
    async obtain(oauth2) {
      const key = keyOf(oauth2);
      let entry = entries.get(key);
      if (entry === undefined) {
        entry = { token: undefined, renewAt: 0, usedAt: 0, isInBody: false, running: undefined };
        entries.set(key, entry);
      }
      const now = performance.now();
      entry.usedAt = now;
      const { token, renewAt } = entry;
      if (token !== undefined && now < renewAt) return { token, isNew: false };
      const current = entry;
      entry.running ??= request(entry, oauth2.credentials).finally(() => {
        current.running = undefined;
      });
      return entry.running;
    },
    discard(oauth2, token) {
      const entry = entries.get(keyOf(oauth2));
      if (entry?.token === token) entry.token = undefined;
    },
    forget() {
      const before = performance.now() - FORGET_MS;
      for (const [key, { usedAt, running }] of entries) {
        if (usedAt < before && running === undefined) entries.delete(key);
      }
    },
  };
}

/** Encodes text as `application/x-www-form-urlencoded`, as RFC 6749 requires for the header. */
const formEncode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

function toRequest(
  { clientId, clientSecret, scope, audience }: OAuth2Credentials,
  isInBody: boolean,
): { headers: Record<string, string>; body: Uint8Array } {
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== undefined) form.set('scope', scope);
  if (audience !== undefined) form.set('audience', audience);
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'Sluice',
  };
  if (isInBody) {
    form.set('client_id', clientId);
    form.set('client_secret', clientSecret);
  } else {
    const login = `${formEncode(clientId)}:${formEncode(clientSecret)}`;
    headers['authorization'] = `Basic ${Buffer.from(login).toString('base64')}`;
  }
  return { headers, body: Buffer.from(form.toString()) };
}

const isSuccess = (status: number | null): boolean =>
  status !== null && status >= 200 && status < 300;

/** The error codes of RFC 6749, section 5.2. Other values are not shown, because they may be secrets. */
const ERROR_CODES = [
  ...['invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client'],
  ...['unsupported_grant_type', 'invalid_scope'],
];

/** Returns whether the server did not accept how the client authenticated. */
function isClientRejected(response: TokenResponse): boolean {
  if (response.failure !== null) return false;
  if (response.status === 401) return true;
  const code = response.status === 400 ? readErrorCode(response) : undefined;
  return code === 'invalid_client' || code === 'invalid_request';
}

const readErrorCode = ({ responseBody }: TokenResponse): string | undefined => {
  const code = parseObject(responseBody)?.['error'];
  return ERROR_CODES.find((each) => each === code);
};

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the token of a response, or why it has none. Shows no text of the response. */
function readToken(response: TokenResponse): { token: string; lifetimeMs: number } | TokenFailure {
  const { status, failure, localFailure } = response;
  const fail = (why: string): TokenFailure => ({
    failure: `token request failed: ${why}`,
    localFailure,
  });
  if (failure !== null) return fail(failure);
  if (!isSuccess(status)) return fail(describeStatus(response));
  if (response.isCut) return fail(`the response exceeds ${TOKEN_RESPONSE_BYTES / 1024} KiB`);
  const body = parseObject(response.responseBody);
  if (body === undefined) return fail('the response is not a JSON object; check oauth2.tokenUrl');
  const { access_token: token, token_type: type, expires_in: expiresIn } = body;
  if (typeof token !== 'string' || token === '') return fail('the response has no access_token');
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') {
    return fail('the token_type of the response is not Bearer');
  }
  if (token.length > MAX_TOKEN_LENGTH) {
    return fail(`the access_token exceeds ${MAX_TOKEN_LENGTH} characters`);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return fail('the access_token contains characters that a header cannot contain');
  }
  return { token, lifetimeMs: readLifetimeMs(expiresIn) };
}

function describeStatus(response: TokenResponse): string {
  const { status } = response;
  if (status !== null && status >= 300 && status < 400) {
    return `HTTP ${status}: redirects are not followed; set oauth2.tokenUrl to the final address`;
  }
  const code = readErrorCode(response);
  const shown = `HTTP ${status}${code === undefined ? '' : ` ${code}`}`;
  return isClientRejected(response)
    ? `${shown}; check oauth2.clientId and oauth2.clientSecret`
    : shown;
}

/** Some servers send the number of seconds as a string. */
function readLifetimeMs(expiresIn: unknown): number {
  const isText = typeof expiresIn === 'string' && /^\d{1,15}$/.test(expiresIn);
  const seconds = isText ? Number(expiresIn) : expiresIn;
  const isValid = typeof seconds === 'number' && seconds >= 0;
  return isValid ? Math.min(seconds * 1_000, MAX_LIFETIME_MS) : DEFAULT_LIFETIME_MS;
}
