/**
 * Authenticates requests by an API key in `x-api-key` (or as a bearer token), or by the cookie of a
 * console session. Rejects requests with both a key and a cookie, unless the call requires no key.
 */
import type { Context } from 'hono';
import type { Access } from '@sluice/kit/calls';
import { HttpError } from '../httpErrors.ts';
import type { KeyRing, KnownKey } from './keyRing.ts';
import type { Peer, ReadPeer } from './peer.ts';
import type { RateLimits } from './rateLimits.ts';
import type { Sessions } from './sessions.ts';
import { flagOf } from '../../config/settings.ts';

export interface Auth {
  /**
   * Identifies the caller of any route, and counts the call toward the rate limit.
   * @throws HttpError 429 when the caller exceeds the rate limit.
   */
  meet(context: Context): Promise<void>;
  /** Throws a 400, 401, 403 or 429 if the request may not make calls that require this access. */
  admit(context: Context, access: Access): void;
  /**
   * Opens a session for a key. Throws a 401, 403 or 429 if the key or the connection is not
   * accepted.
   */
  signIn(context: Context, apiKey: string, sessionName?: string): Promise<void>;
  /** Ends the session of the request, which also invalidates all copies of its cookie. */
  signOut(context: Context): Promise<void>;
  /**
   * Returns a signal for the streaming response to an admitted request. It aborts when `until`
   * aborts, and soon after the key or session of the request ends.
   */
  watch(context: Context, until: AbortSignal): AbortSignal;
}

/** The caller of an admitted request. */
export interface Caller extends Peer {
  /** Id of the key of the request or of its session; empty for calls that require no key. */
  keyId: string;
  /**
   * Name of the console session; empty if the session has no name, or if the request has no
   * session.
   */
  sessionName: string;
}

interface Met extends Peer {
  shows: 'key' | 'session' | 'both' | 'nothing';
  /**
   * The valid key of the request or of its session; undefined if there is none, or if the request
   * has both a key and a session.
   */
  key: KnownKey | undefined;
  sessionName: string;
}

const MET = 'met';
const CALLER = 'caller';
/**
 * Interval at which a streaming response checks its key or session. The response may outlive that
 * key or session by this interval plus the maximum age of cached values.
 */
const WATCH_MS = 1_000;

export const callerOf = (context: Context): Caller => context.get(CALLER) as Caller;

export function createAuth({
  keyRing,
  sessions,
  readPeer,
  limits,
  mayListenInPlain,
}: {
  keyRing: KeyRing;
  sessions: Sessions;
  readPeer: ReadPeer;
  limits: RateLimits;
  /** Whether clients may sign in without TLS, because only this machine can reach the service. */
  mayListenInPlain: boolean;
}): Auth {
  const identify = async (context: Context, { isSecure }: Peer): Promise<Omit<Met, keyof Peer>> => {
    const text = context.req.header('x-api-key') ?? readBearer(context);
    const hasSession = sessions.isIn(context, isSecure);
    if (text !== undefined) {
      if (hasSession) return { shows: 'both', key: undefined, sessionName: '' };
      return { shows: 'key', key: await keyRing.find(text), sessionName: '' };
    }
    if (!hasSession) return { shows: 'nothing', key: undefined, sessionName: '' };
    const session = await sessions.read(context, isSecure);
    return { shows: 'session', key: session?.key, sessionName: session?.name ?? '' };
  };

  const refuseElsewhere = ({ networks }: KnownKey, address: string): void => {
    if (networks === undefined || networks.has(address)) return;
    limits.takeFailure(address);
    throw new HttpError(403, `This API key is not accepted from ${address}`);
  };

  return {
    async meet(context) {
      const peer = readPeer(context);
      const { shows, key, sessionName } = await identify(context, peer);
      limits.takeCall(context, key === undefined ? peer : { keyId: key.id });
      context.set(MET, { ...peer, shows, key, sessionName } satisfies Met);
    },
    admit(context, access) {
      const { address, isSecure, shows, key, sessionName } = context.get(MET) as Met;
      if (access === 'open') {
        // Anyone may read what is public, but no other page may sign a browser in or out.
        if (context.req.method !== 'GET') refuseForeignPage(context, isSecure);
        context.set(CALLER, { address, isSecure, keyId: '', sessionName: '' } satisfies Caller);
        return;
      }
      if (shows === 'both') {
        throw new HttpError(
          400,
          'The request has both an API key and a session cookie: send only one',
        );
      }
      if (key === undefined) {
        if (shows !== 'key') {
          throw new HttpError(401, 'No API key: send yours in the x-api-key header');
        }
        limits.takeFailure(address);
        throw new HttpError(401, 'Invalid API key: it does not match a valid key of this service');
      }
      if (shows === 'session') refuseOtherPages(context, isSecure);
      else if (key.isGuessable) limits.takeGuessable(address);
      refuseElsewhere(key, address);
      if (access !== 'any' && !key.scopes.has(access)) {
        throw new HttpError(403, `This API key lacks the scope ${access}`);
      }
      keyRing.recordUse(key);
      context.set(CALLER, { address, isSecure, keyId: key.id, sessionName } satisfies Caller);
    },
    async signIn(context, apiKey, sessionName = '') {
      const { address, isSecure } = context.get(MET) as Met;
      if (!mayListenInPlain && !isSecure) {
        throw new HttpError(
          403,
          `Signing in requires TLS: use a TLS proxy that sets X-Forwarded-Proto, and start the service with ${flagOf('trustProxy')}`,
        );
      }
      const key = await keyRing.find(apiKey);
      if (key === undefined) {
        limits.takeFailure(address);
        throw new HttpError(401, 'Invalid API key');
      }
      if (key.isGuessable) limits.takeGuessable(address);
      refuseElsewhere(key, address);
      await sessions.open(context, { key, name: sessionName }, isSecure);
      keyRing.recordUse(key);
      context.set(CALLER, { address, isSecure, keyId: key.id, sessionName } satisfies Caller);
    },
    async signOut(context) {
      const { isSecure } = context.get(MET) as Met;
      await sessions.close(context, isSecure);
    },
    watch(context, until) {
      const { shows, isSecure, key } = context.get(MET) as Met;
      const ended = new AbortController();
      const look = async (): Promise<void> => {
        const now =
          shows === 'session'
            ? await sessions.read(context, isSecure)
            : await keyRing.findById(key?.id ?? '');
        if (now === undefined) ended.abort();
      };
      // While the ledger is unavailable, keys and sessions cannot be checked, so the response
      // continues.
      const timer = setInterval(() => void look().catch(() => {}), WATCH_MS);
      for (const signal of [until, ended.signal]) {
        signal.addEventListener('abort', () => clearInterval(timer), { once: true });
      }
      if (until.aborted) clearInterval(timer);
      return AbortSignal.any([until, ended.signal]);
    },
  };
}

/** Reads a bearer token, for programs that cannot send `x-api-key`, such as Prometheus. */
const readBearer = (context: Context): string | undefined =>
  /^Bearer (\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1];

/**
 * Rejects changes with a session cookie from other pages, because browsers also send the cookie
 * with those requests.
 */
function refuseOtherPages(context: Context, isSecure: boolean): void {
  const { method } = context.req;
  if (method === 'GET' || method === 'HEAD') return;
  refuseForeignPage(context, isSecure);
  const { origin, 'sec-fetch-site': site } = context.req.header();
  if (origin !== undefined || site !== undefined) return;
  throw new HttpError(
    403,
    'Changes with a session cookie require the Origin or Sec-Fetch-Site header of the console',
  );
}

/**
 * Rejects requests that a browser marks as coming from another origin. Other clients do not mark
 * their requests.
 */
function refuseForeignPage(context: Context, isSecure: boolean): void {
  const { origin, host, 'sec-fetch-site': site } = context.req.header();
  if (origin !== undefined) {
    const url = URL.canParse(origin) ? new URL(origin) : undefined;
    if (url?.host === host && (!isSecure || url?.protocol === 'https:')) return;
    throw new HttpError(403, `Requests from ${origin} are not accepted`);
  }
  if (site !== undefined && site !== 'same-origin') {
    throw new HttpError(403, `Requests from a page of another origin (${site}) are not accepted`);
  }
}
