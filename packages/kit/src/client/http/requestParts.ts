/** URL, headers and body of a request. */
import type { Route } from '../../contract/route.ts';
import { SluiceError } from '../../errors.ts';
import { REDACTED, isSecret } from './redact.ts';
import { isRecord } from './responses.ts';

/** The parts of a URL, except the base. */
export interface RequestTarget {
  readonly route: Route;
  /** Values for the `{parameters}` of the route's path. */
  readonly path?: Readonly<Record<string, string | number>>;
  /** A list is sent as one `name=value` pair for each item. */
  readonly query?: Readonly<Record<string, QueryValue | readonly QueryValue[]>>;
}

type QueryValue = string | number | boolean | undefined;

export function parseBaseUrl(baseUrl: string): URL {
  const { location } = globalThis as { location?: { origin?: string } };
  const url = typeof baseUrl === 'string' ? parseUrl(baseUrl, location?.origin) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new SluiceError(
      'invalid_argument',
      'baseUrl should be an http:// or https:// URL without credentials',
    );
  }
  return url;
}

function parseUrl(text: string, base: string | undefined): URL | undefined {
  try {
    return new URL(text, base?.startsWith('http') ? base : undefined);
  } catch {
    return undefined;
  }
}

/**
 * Rejects API keys that a header cannot contain. Otherwise, the platform's error message would show
 * the key.
 */
export function checkApiKey(apiKey: string): void {
  if (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey)) return;
  throw new SluiceError(
    'invalid_argument',
    'apiKey should be visible ASCII characters without spaces or line breaks',
  );
}

export function urlOf(base: URL, { route, path = {}, query = {} }: RequestTarget): URL {
  const filled = route.path.replace(/\{(\w{1,40})\}/g, (_, name: string) => {
    const given = path[name];
    const value = typeof given === 'number' ? String(given) : given;
    if (typeof value === 'string' && value !== '' && value !== '.' && value !== '..') {
      return encodeURIComponent(value);
    }
    throw new SluiceError('invalid_argument', `Param ${name} is required`);
  });
  const url = new URL(base);
  url.pathname = (/^(?:\/*[^/])*/.exec(base.pathname)?.[0] ?? '') + filled;
  url.search = '';
  url.hash = '';
  for (const [name, given] of Object.entries(query)) {
    for (const value of Array.isArray(given) ? given : [given]) {
      if (value !== undefined) url.searchParams.append(name, String(value));
    }
  }
  return url;
}

export function headersOf(
  body: unknown,
  given: Readonly<Record<string, string>>,
  apiKey: string | undefined,
): Headers {
  const headers = new Headers({ accept: 'application/json' });
  for (const [name, value] of Object.entries(given)) {
    try {
      headers.set(name, value);
    } catch {
      throw new SluiceError('invalid_argument', `The header ${JSON.stringify(name)} is not valid`);
    }
  }
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (apiKey !== undefined) headers.set('x-api-key', apiKey);
  return headers;
}

/**
 * Returns JSON with bigints as decimal strings. If `shown` is true, replaces secrets and all custom
 * headers of a stream with `[secret]`, because any header may contain a token.
 */
export const toJson = (body: unknown, shown = false): string =>
  JSON.stringify(body, (name, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (!shown) return value;
    if (name === 'headers' && isRecord(value)) {
      return Object.fromEntries(Object.keys(value).map((header) => [header, REDACTED]));
    }
    return typeof value === 'string' && isSecret(name) ? REDACTED : value;
  });
