/**
 * Who may call: a request carries the API key in `x-api-key` (or as a bearer token), or the cookie of a console session
 * that was opened with it. A session is a signed expiry, so it needs no table and survives a
 * restart; it ends when the key changes, because the signature does.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { HttpError } from './answers.ts';

export interface Auth {
  /** Throws a 401 unless the request carries the key or a session. */
  require(context: Context): void;
  /** Opens a session for the right key; throws a 401 for another. */
  signIn(context: Context, apiKey: string): void;
  signOut(context: Context): void;
}

const COOKIE = 'sluice_session';
const SESSION_MS = 30 * 24 * 3_600_000;

/** The stored form of a key: keys are random, so one hash without salt is enough. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

export function createAuth(apiKeyHash: string): Auth {
  const isKey = (key: string): boolean => same(hashApiKey(key), apiKeyHash);
  const sign = (expires: string): string =>
    createHmac('sha256', apiKeyHash).update(`session ${expires}`).digest('base64url');

  const hasSession = (context: Context): boolean => {
    const [expires = '', signature = ''] = (getCookie(context, COOKIE) ?? '').split('.');
    return Number(expires) > Date.now() && same(signature, sign(expires));
  };

  return {
    require(context) {
      const key = context.req.header('x-api-key') ?? readBearer(context);
      if (key !== undefined) {
        if (isKey(key)) return;
        throw new HttpError(
          401,
          'Invalid API key: the x-api-key header does not match a key of this service',
        );
      }
      if (hasSession(context)) {
        refuseForeignPage(context);
        return;
      }
      throw new HttpError(401, 'No API key: send yours in the x-api-key header');
    },
    signIn(context, apiKey) {
      refuseForeignPage(context);
      if (!isKey(apiKey)) throw new HttpError(401, 'Invalid API key');
      const expires = String(Date.now() + SESSION_MS);
      setCookie(context, COOKIE, `${expires}.${sign(expires)}`, {
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
        secure: new URL(context.req.url).protocol === 'https:',
        maxAge: SESSION_MS / 1000,
      });
    },
    signOut: (context) => void deleteCookie(context, COOKIE, { path: '/' }),
  };
}

/** How programs that know no header of ours, Prometheus for one, send a key. */
const readBearer = (context: Context): string | undefined =>
  /^Bearer (\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1];

/** A cookie travels by itself, so a request that changes something must come from our own page. */
function refuseForeignPage(context: Context): void {
  if (context.req.method === 'GET' || context.req.method === 'HEAD') return;
  const origin = context.req.header('origin');
  if (origin === undefined) return;
  if (URL.canParse(origin) && new URL(origin).host === context.req.header('host')) return;
  throw new HttpError(403, `Requests from ${origin} are not accepted`);
}

function same(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
