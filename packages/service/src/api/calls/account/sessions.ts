/** Calls for the sessions of the console, and the live events that they watch. */
import type { HttpBindings } from '@hono/node-server';
import { type Auth, callerOf } from '../../auth/auth.ts';
import type { Handlers } from '../../handlers.ts';
import type { Live } from '../../live.ts';

export function createSessionHandlers({ auth, live }: { auth: Auth; live: Live }) {
  return {
    async createSession({ context, body: { apiKey, sessionName } }) {
      await auth.signIn(context, apiKey, sessionName);
      return undefined;
    },
    checkSession: () => undefined,
    async deleteSession({ context }) {
      await auth.signOut(context);
      return undefined;
    },
    liveEvents({ context }) {
      const headers = {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      };
      // A HEAD request gets only the headers, because nothing would read a stream.
      if (context.req.method === 'HEAD') return context.body(null, 200, headers);
      const events = live.open(
        context.req.header('last-event-id'),
        callerOf(context).keyId,
        () => auth.watch(context, context.req.raw.signal),
        () => (context.env as HttpBindings).outgoing.destroy(),
      );
      return context.body(events, 200, headers);
    },
  } satisfies Partial<Handlers>;
}
