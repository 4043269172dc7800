/**
 * Who may call: a request carries an API key in `x-api-key` (or as a bearer token), or the cookie of
 * a console session that was opened with one; never both.
 */
import type { Context } from 'hono';
import type { Access } from '@sluice/kit/contract';
import { HttpError } from './answers.ts';
import type { KeyRing, KnownKey } from './keyRing.ts';
import type { Peer, ReadPeer } from './peer.ts';
import type { Sessions } from './sessions.ts';

export interface Auth {
  /** Throws a 401 or 403 unless the request may make a call of this access. */
  admit(context: Context, access: Access): Promise<void>;
  /** Opens a session for the right key; throws a 401 for another. */
  signIn(context: Context, apiKey: string): Promise<void>;
  signOut(context: Context): void;
}

/** Who makes a request that was admitted. */
export interface Caller extends Peer {
  /** Empty for a caller without a key. */
  keyId: string;
}

const CALLER = 'caller';

export const callerOf = (context: Context): Caller => context.get(CALLER) as Caller;

export function createAuth({
  keyRing,
  sessions,
  readPeer,
  mayListenInPlain,
}: {
  keyRing: KeyRing;
  sessions: Sessions;
  readPeer: ReadPeer;
  /** Whether a key may be sent without TLS: it does not leave this machine. */
  mayListenInPlain: boolean;
}): Auth {
  const identify = async (context: Context, peer: Peer): Promise<KnownKey> => {
    const text = context.req.header('x-api-key') ?? readBearer(context);
    const hasSession = sessions.isIn(context, peer.isSecure);
    if (text === undefined) {
      const key = hasSession ? await sessions.read(context, peer.isSecure) : undefined;
      if (key === undefined) {
        throw new HttpError(401, 'No API key: send yours in the x-api-key header');
      }
      refuseForeignPage(context);
      return key;
    }
    if (hasSession) {
      throw new HttpError(400, 'Both an API key and the cookie of a session: send one of the two');
    }
    const key = await keyRing.find(text);
    if (key !== undefined) return key;
    throw new HttpError(
      401,
      'Invalid API key: the x-api-key header does not match a key of this service',
    );
  };

  const refuseElsewhere = ({ networks }: KnownKey, { address }: Peer): void => {
    if (networks === undefined || networks.has(address)) return;
    throw new HttpError(403, `This API key is not accepted from ${address}`);
  };

  return {
    async admit(context, access) {
      const peer = readPeer(context);
      if (access === 'open') {
        context.set(CALLER, { ...peer, keyId: '' } satisfies Caller);
        return;
      }
      const key = await identify(context, peer);
      refuseElsewhere(key, peer);
      if (access !== 'any' && !key.scopes.has(access)) {
        throw new HttpError(403, `This API key lacks the scope ${access}`);
      }
      keyRing.noteUse(key);
      context.set(CALLER, { ...peer, keyId: key.id } satisfies Caller);
    },
    async signIn(context, apiKey) {
      const peer = readPeer(context);
      refuseForeignPage(context);
      if (!mayListenInPlain && !peer.isSecure) {
        throw new HttpError(
          403,
          'Signing in needs TLS: put a proxy in front that sets X-Forwarded-Proto, and start with --trust-proxy',
        );
      }
      const key = await keyRing.find(apiKey);
      if (key === undefined) throw new HttpError(401, 'Invalid API key');
      refuseElsewhere(key, peer);
      sessions.open(context, key, peer.isSecure);
      keyRing.noteUse(key);
      context.set(CALLER, { ...peer, keyId: key.id } satisfies Caller);
    },
    signOut: (context) => sessions.close(context, readPeer(context).isSecure),
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
