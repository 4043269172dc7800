/**
 * Console sessions in a signed cookie with the key, the session and its expiry, so that the ledger
 * stores only sessions that were ended early. The signature covers the hash of the key, so a
 * session ends with its key.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Store } from '../../store/store.ts';
import { createFresh } from './fresh.ts';
import { type KeyRing, type KnownKey, isSame } from './keyRing.ts';

export interface Sessions {
  isIn(context: Context, isSecure: boolean): boolean;
  /** Returns the key of the request's session; undefined if there is none or it has ended. */
  read(context: Context, isSecure: boolean): Promise<KnownKey | undefined>;
  /** Opens a session and ends the request's previous session, if any. */
  open(context: Context, key: KnownKey, isSecure: boolean): Promise<void>;
  /** Ends the request's session for every copy of its cookie and in every process. */
  close(context: Context, isSecure: boolean): Promise<void>;
}

const SESSION_MS = 7 * 24 * 3_600_000;
/** Browsers accept names with the prefix `__Host-` only over TLS, and from no other host or path. */
const nameOf = (isSecure: boolean): string =>
  isSecure ? '__Host-sluice_session' : 'sluice_session';

/** @param secret known only to the service; sessions end when it changes. */
export function createSessions(
  secret: Buffer,
  keyRing: KeyRing,
  store: Pick<Store, 'listEndedSessions' | 'endSession'>,
): Sessions {
  const sign = (text: string, key: KnownKey): string =>
    createHmac('sha256', secret).update(`${text}.${key.hash}`).digest('base64url');
  const ended = createFresh(async () => new Set(await store.listEndedSessions()));

  const find = async (
    context: Context,
    isSecure: boolean,
  ): Promise<{ id: string; expiresAt: number; key: KnownKey } | undefined> => {
    const cookie = getCookie(context, nameOf(isSecure)) ?? '';
    const [keyId = '', expires = '', id = '', signature = ''] = cookie.split('.');
    const expiresAt = Number(expires);
    if (!(expiresAt > Date.now())) return undefined;
    const key = await keyRing.findById(keyId);
    if (key === undefined) return undefined;
    if (!isSame(signature, sign(`${keyId}.${expires}.${id}`, key))) return undefined;
    return (await ended.read()).has(id) ? undefined : { id, expiresAt, key };
  };
  const end = async (context: Context, isSecure: boolean): Promise<void> => {
    const session = await find(context, isSecure);
    if (session === undefined) return;
    await store.endSession(session);
    ended.forget();
  };

  return {
    isIn: (context, isSecure) => getCookie(context, nameOf(isSecure)) !== undefined,
    read: async (context, isSecure) => (await find(context, isSecure))?.key,
    async open(context, key, isSecure) {
      await end(context, isSecure);
      const id = randomBytes(16).toString('base64url');
      const text = `${key.id}.${Date.now() + SESSION_MS}.${id}`;
      setCookie(context, nameOf(isSecure), `${text}.${sign(text, key)}`, {
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
        secure: isSecure,
        maxAge: SESSION_MS / 1000,
      });
    },
    async close(context, isSecure) {
      await end(context, isSecure);
      deleteCookie(context, nameOf(isSecure), { path: '/', secure: isSecure });
    },
  };
}
