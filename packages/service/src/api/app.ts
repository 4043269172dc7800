/** Combines all routes of the service, and the checks and error responses that they share. */
import { randomUUID } from 'node:crypto';
import { Hono, type MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { type Call, type CallName, eachCall } from '@sluice/kit/calls';
import type { Log } from '../base/log.ts';
import { createAddressChanges } from '../store/addresses/addressChanges.ts';
import type { Store } from '../store/store.ts';
import { type Auth, callerOf } from './auth/auth.ts';
import { HttpError, auditTargetOf } from './httpErrors.ts';
import { bodyLimitOf, takeBody } from './body.ts';
import { createConsoleHandler, createDocsHandler } from './console.ts';
import { allowOrigins } from './auth/cors.ts';
import { type AccessHandlerNeeds, createAccessHandlers } from './calls/account/access.ts';
import { type AddressHandlerNeeds, createAddressHandlers } from './calls/streams/addresses.ts';
import { type AddedUrlHandlerNeeds, createAddedUrlHandlers } from './calls/account/addedUrls.ts';
import { type AccountHandlerNeeds, createAccountHandlers } from './calls/account/account.ts';
import { type HistoryHandlerNeeds, createHistoryHandlers } from './calls/deliveries/history.ts';
import { type BlockHandlerNeeds, createBlockHandlers } from './calls/chains/blocks.ts';
import { type ExplainHandlerNeeds, createExplainHandler } from './calls/chains/explain.ts';
import { createActivityHandlers } from './calls/deliveries/activity.ts';
import { createIncidentHandlers } from './calls/deliveries/incidents.ts';
import { createInboxHandlers } from './calls/deliveries/inboxes.ts';
import { createReceiverHandlers } from './calls/deliveries/receivers.ts';
import { type ReplayHandlerNeeds, createReplayHandlers } from './calls/deliveries/replays.ts';
import { type AboutHandlerNeeds, createAboutHandlers } from './calls/account/about.ts';
import { createDestinationHandlers } from './calls/streams/destinations.ts';
import { type FeedHandlerNeeds, createFeedHandlers } from './calls/streams/feeds.ts';
import { createSessionHandlers } from './calls/account/sessions.ts';
import { createChainHandlers } from './calls/chains/chains.ts';
import {
  createDeliveryHandlers,
  type DeliveryHandlerNeeds,
} from './calls/deliveries/deliveries.ts';
import { createStreamSummaryHandlers } from './calls/streams/streamSummaries.ts';
import type { StreamCallNeeds } from './calls/streams/streamCalls.ts';
import { createFailureHandler, createUnknownRouteHandler } from './failures.ts';
import { type Handlers, type Received, createReader, sendResponse } from './handlers.ts';
import type { Live } from './live.ts';
import { createOpenApi } from './openApi.ts';
import { type ProbeNeeds, addProbes, isProbe, isUncounted } from './probes.ts';
import { nameIgnoredQuery } from './query.ts';
import { flagOf } from '../config/settings.ts';

export interface AppNeeds
  extends
    StreamCallNeeds,
    BlockHandlerNeeds,
    ExplainHandlerNeeds,
    HistoryHandlerNeeds,
    ReplayHandlerNeeds,
    AccountHandlerNeeds,
    AccessHandlerNeeds,
    AboutHandlerNeeds,
    DeliveryHandlerNeeds,
    FeedHandlerNeeds,
    Omit<AddedUrlHandlerNeeds, 'refuseUrl'>,
    ProbeNeeds {
  store: Store;
  auth: Auth;
  live: Live;
  log: Log;
  /** Creates the handlers of the calls that only one family has. */
  createFamilyHandlers(needs: StreamCallNeeds & AddressHandlerNeeds): FamilyHandlers;
  /** Whether this process serves more than health, readiness and metrics. */
  servesApi: boolean;
  /** Folder of the built console; undefined if it is not built. */
  consoleFolder: string | undefined;
  /** Folder of the documentation; undefined if it is not installed. */
  docsFolder: string | undefined;
  /** Returns whether the service accepts requests with this `Host` header. */
  isOurHost(host: string): boolean;
  /** Origins of pages that may call the API with a key. */
  corsOrigins: readonly string[];
}

/**
 * Routes whose responses are compressed, because they are often large. A single delivery is not
 * compressed, because that takes more time than it saves.
 */
const COMPRESSED: readonly string[] = [
  '/console/*',
  '/docs/*',
  '/openapi.json',
  '/sluice/deliveries',
  '/sluice/explain',
  '/sluice/streams',
  '/sluice/streams/:id/feed',
  '/sluice/timelines',
];
/**
 * `GET` routes that are not in the table of calls, but also respond with a 405 to other methods.
 */
const OWN_ROUTES = ['/', '/health', '/ready', '/openapi.json'];

export function createApp(needs: AppNeeds): Hono {
  const app = new Hono();
  app.use(createGate(needs));
  for (const path of COMPRESSED) app.use(path, compress());
  if (needs.corsOrigins.length > 0) app.use(allowOrigins(needs.corsOrigins));
  app.use(async (context, next) => {
    if (!isUncounted(context.req.path)) await needs.auth.meet(context);
    return next();
  });

  const handlers = createHandlers(needs);
  for (const [name, call] of eachCall) {
    const read = createReader(call);
    const handle = handlers[name] as (request: Received<CallName>) => unknown;
    app.on(
      call.method,
      call.path.replaceAll(/\{(\w{1,40})\}/g, ':$1'),
      createAdmission(name, call, needs),
      async (context) => sendResponse(context, await handle(read(context))),
    );
  }
  addProbes(app, needs);
  addPages(app, needs);

  app.notFound(
    createUnknownRouteHandler([
      ...OWN_ROUTES.map((path) => ({ method: 'GET', path })),
      ...eachCall.map(([, call]) => call),
    ]),
  );
  app.onError(createFailureHandler(needs.log));
  return app;
}

/**
 * Creates middleware that gives each request an id, and rejects hosts and paths that this process
 * does not serve.
 */
function createGate({
  isOurHost,
  servesApi,
}: Pick<AppNeeds, 'isOurHost' | 'servesApi'>): MiddlewareHandler {
  return async (context, next) => {
    const requestId = randomUUID();
    context.set('requestId', requestId);
    context.header('x-request-id', requestId);
    // A page with a host name that resolves to this service (DNS rebinding) must not reach it.
    const host = context.req.header('host') ?? '';
    if (!isOurHost(host)) {
      throw new HttpError(
        403,
        `Host ${JSON.stringify(host)} is not accepted: pass it to ${flagOf('allowHosts')}`,
      );
    }
    if (!servesApi && !isProbe(context.req.path)) {
      throw new HttpError(
        404,
        `This process does not serve the API: call a process with ${flagOf('roles')} api`,
      );
    }
    context.header('x-content-type-options', 'nosniff');
    return next();
  };
}

/**
 * Creates middleware that checks the key, then reads the body. After the handler, records the call
 * in the audit log if it is audited and succeeded.
 */
function createAdmission(
  name: CallName,
  call: Call,
  { auth, store }: Pick<AppNeeds, 'auth' | 'store'>,
): MiddlewareHandler {
  const maxBodyBytes = bodyLimitOf(call);
  return async (context, next) => {
    // Many responses contain keys, secrets, or URLs with credentials, so no cache may store them.
    context.header('cache-control', 'no-store');
    // Checks the key first, so that large bodies from unauthenticated callers are never read.
    auth.admit(context, call.scope);
    await takeBody(context, maxBodyBytes);
    await next();
    nameIgnoredQuery(context);
    if (!isAudited(call) || !context.res.ok) return;
    const { keyId, sessionName, address } = callerOf(context);
    const target = auditTargetOf(context);
    await store.appendAudit({ action: name, keyId, sessionName, address, target });
  };
}

type FamilyHandlers = Omit<Handlers, keyof ReturnType<typeof createSharedHandlers>>;

/** Creates the handlers of the calls for all families. */
const createSharedHandlers = (needs: AppNeeds) => ({
  ...createAddressHandlers(needs),
  ...createHistoryHandlers(needs),
  ...createAccountHandlers(needs),
  ...createAccessHandlers(needs),
  ...createAddedUrlHandlers(needs),
  ...createSessionHandlers(needs),
  ...createAboutHandlers(needs),
  ...createStreamSummaryHandlers(needs),
  ...createDeliveryHandlers(needs),
  ...createChainHandlers(needs),
  ...createReplayHandlers(needs),
  ...createActivityHandlers(needs),
  ...createReceiverHandlers(needs),
  ...createIncidentHandlers(needs),
  ...createInboxHandlers(needs),
  ...createFeedHandlers(needs),
  ...createDestinationHandlers(needs),
  ...createBlockHandlers(needs),
  ...createExplainHandler(needs),
});

const createHandlers = (needs: AppNeeds): Handlers => ({
  ...createSharedHandlers(needs),
  ...needs.createFamilyHandlers({
    ...needs,
    addressChanges: createAddressChanges(needs.store),
  }),
});

/** Serves the console, the documentation, the API description, and an index. */
function addPages(
  app: Hono,
  {
    version,
    consoleFolder,
    docsFolder,
  }: Pick<AppNeeds, 'version' | 'consoleFolder' | 'docsFolder'>,
): void {
  let openApi: object | undefined;
  app.get('/openapi.json', (context) => context.json((openApi ??= createOpenApi(version))));
  const consoleFiles = createConsoleHandler(consoleFolder);
  app.get('/console', consoleFiles);
  app.get('/console/*', consoleFiles);
  app.get('/docs/*', createDocsHandler(docsFolder));
  app.get('/', (context) =>
    context.req.header('accept')?.includes('text/html')
      ? context.redirect('/console/')
      : context.json({
          name: 'sluice',
          version,
          console: '/console/',
          docs: '/docs/llms.txt',
          health: '/health',
          ready: '/ready',
          openApi: '/openapi.json',
        }),
  );
}

/**
 * Returns whether a call is audited: calls that are marked as audited, and all changes with the
 * scope `replay` or `settings:admin`.
 */
const isAudited = ({ method, scope, audited }: Call): boolean =>
  audited === true || (method !== 'GET' && (scope === 'replay' || scope === 'settings:admin'));
