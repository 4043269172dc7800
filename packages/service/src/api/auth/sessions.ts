/**
 * Keeps each console session in a signed cookie: key id, expiry, session id and name. The ledger
 * stores only sessions that were ended early. The signature covers the hash of the key, so a
 * session ends with its key.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Store } from '../../store/store.ts';
import { createCachedRead } from './cachedRead.ts';
import { type KeyRing, type KnownKey, timingSafeEquals } from './keyRing.ts';

interface Session {
  key: KnownKey;
  /** Name given at sign-in; empty if none was given. */
  name: string;
}

export interface Sessions {
  isIn(context: Context, isSecure: boolean): boolean;
  /** Returns the request's session; undefined if there is no valid one. */
  read(context: Context, isSecure: boolean): Promise<Session | undefined>;
  /** Opens a session and ends the request's previous session, if any. */
  open(context: Context, session: Session, isSecure: boolean): Promise<void>;
  /** Ends the request's session for every copy of its cookie and in every process. */
  close(context: Context, isSecure: boolean): Promise<void>;
}

const SESSION_MS = 7 * 24 * 3_600_000;
/**
 * Returns the name of the cookie. Browsers accept a name that starts with `__Host-` only over TLS
 * and with the path `/`, and no other host can set that cookie.
 */
const nameOf = (isSecure: boolean): string =>
  isSecure ? '__Host-sluice_session' : 'sluice_session';

/**
 * @param secret key of the signatures, which only the service knows; all sessions end when it
 * changes.
 */
export function createSessions(
  secret: Buffer,
  keyRing: KeyRing,
  store: Pick<Store, 'listEndedSessions' | 'endSession'>,
): Sessions {
  const sign = (text: string, key: KnownKey): string =>
    createHmac('sha256', secret).update(`${text}.${key.hash}`).digest('base64url');
  const ended = createCachedRead(async () => new Set(await store.listEndedSessions()));

  const find = async (
    context: Context,
    isSecure: boolean,
  ): Promise<(Session & { id: string; expiresAt: number }) | undefined> => {
    const cookie = getCookie(context, nameOf(isSecure)) ?? '';
    const end = cookie.lastIndexOf('.');
    const [text, signature] = [cookie.slice(0, end), cookie.slice(end + 1)];
    const [keyId = '', expires = '', id = '', name = ''] = text.split('.');
    const expiresAt = Number(expires);
    if (!(expiresAt > Date.now())) return undefined;
    const key = await keyRing.findById(keyId);
    if (key === undefined) return undefined;
    if (!timingSafeEquals(signature, sign(text, key))) return undefined;
    if ((await ended.read()).has(id)) return undefined;
    return { id, expiresAt, key, name: Buffer.from(name, 'base64url').toString() };
  };
  const end = async (context: Context, isSecure: boolean): Promise<void> => {
    const session = await find(context, isSecure);
    if (session === undefined) return;
    await store.endSession(session);
    ended.forget();
  };

  return {
    isIn: (context, isSecure) => getCookie(context, nameOf(isSecure)) !== undefined,
    read: find,
    async open(context, { key, name }, isSecure) {
      await end(context, isSecure);
      const id = randomBytes(16).toString('base64url');
      const place = `${key.id}.${Date.now() + SESSION_MS}.${id}`;
      const text = `${place}.${Buffer.from(name).toString('base64url')}`;
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
