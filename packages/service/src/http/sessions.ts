/**
 * Sessions of the console: a cookie that names a key and its own end, signed. It needs no table,
 * survives a restart, and ends with its key, whose hash is part of what is signed.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { type KeyRing, type KnownKey, isSame } from './keyRing.ts';

export interface Sessions {
  isIn(context: Context, isSecure: boolean): boolean;
  /** The key of the request's session; undefined when there is none, or no longer. */
  read(context: Context, isSecure: boolean): Promise<KnownKey | undefined>;
  /** A new one, whatever was there before. */
  open(context: Context, key: KnownKey, isSecure: boolean): void;
  close(context: Context, isSecure: boolean): void;
}

const SESSION_MS = 7 * 24 * 3_600_000;
/** Browsers take a name that begins so over TLS alone, and let no other host or path set it. */
const nameOf = (isSecure: boolean): string =>
  isSecure ? '__Host-sluice_session' : 'sluice_session';

/** @param secret of the service alone; sessions end when it changes. */
export function createSessions(secret: Buffer, keyRing: KeyRing): Sessions {
  const sign = (text: string, key: KnownKey): string =>
    createHmac('sha256', secret).update(`${text}.${key.hash}`).digest('base64url');

  return {
    isIn: (context, isSecure) => getCookie(context, nameOf(isSecure)) !== undefined,
    async read(context, isSecure) {
      const cookie = getCookie(context, nameOf(isSecure)) ?? '';
      const [keyId = '', expires = '', nonce = '', signature = ''] = cookie.split('.');
      if (!(Number(expires) > Date.now())) return undefined;
      const key = await keyRing.findById(keyId);
      if (key === undefined) return undefined;
      return isSame(signature, sign(`${keyId}.${expires}.${nonce}`, key)) ? key : undefined;
    },
    open(context, key, isSecure) {
      const nonce = randomBytes(16).toString('base64url');
      const text = `${key.id}.${Date.now() + SESSION_MS}.${nonce}`;
      setCookie(context, nameOf(isSecure), `${text}.${sign(text, key)}`, {
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
        secure: isSecure,
        maxAge: SESSION_MS / 1000,
      });
    },
    close: (context, isSecure) =>
      void deleteCookie(context, nameOf(isSecure), { path: '/', secure: isSecure }),
  };
}
