/** Every route of the service, and what holds for all of them: limits, hosts, keys, errors. */
import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { compress } from 'hono/compress';
import type { ErrorBody } from '@sluice/kit/contract';
import { type Call, type CallName, eachCall } from '@sluice/kit/calls';
import { type Log, describeError } from '../base/log.ts';
import { createAddressChanges } from '../store/addresses/addressChanges.ts';
import type { ChainReport } from '../store/upkeep/contract.ts';
import type { Store } from '../store/store.ts';
import { isUnavailable } from '../store/engine/unavailable.ts';
import { type Auth, callerOf } from './auth/auth.ts';
import { hasCode } from '../base/errors.ts';
import { HttpError, auditTargetOf } from './answers.ts';
import { bodyLimitOf, takeBody } from './body.ts';
import { createConsoleHandler } from './console.ts';
import { allowPages } from './auth/cors.ts';
import { type AccessHandlerNeeds, createAccessHandlers } from './calls/account/access.ts';
import { createAddressHandlers } from './calls/streams/addresses.ts';
import { type AccountHandlerNeeds, createAccountHandlers } from './calls/account/account.ts';
import {
  type AptosBlockHandlerNeeds,
  createAptosBlockHandlers,
} from './calls/chains/aptosBlocks.ts';
import { createAptosStreamHandlers } from './calls/streams/aptosStreams.ts';
import { type HistoryHandlerNeeds, createHistoryHandlers } from './calls/deliveries/history.ts';
import { type BlockHandlerNeeds, createBlockHandlers } from './calls/chains/blocks.ts';
import { type ContractHandlerNeeds, createContractHandlers } from './calls/chains/contracts.ts';
import { createExplainHandler } from './calls/chains/explain.ts';
import { createActivityHandlers } from './calls/deliveries/activity.ts';
import { createInboxHandlers } from './calls/deliveries/inboxes.ts';
import { createNameHandler } from './calls/chains/names.ts';
import { type ReplayHandlerNeeds, createReplayHandlers } from './calls/deliveries/replays.ts';
import { type SluiceHandlerNeeds, createSluiceHandlers } from './calls/account/sluice.ts';
import { type EvmStreamNeeds, createEvmStreamHandlers } from './calls/streams/streams.ts';
import { type Handlers, type Received, createReader, sendAnswer } from './handlers.ts';
import type { Live } from './live.ts';
import { createOpenApi } from './openApi.ts';
import { nameIgnoredQuery } from './query.ts';

export interface AppNeeds
  extends
    Omit<EvmStreamNeeds, 'addressChanges'>,
    AptosBlockHandlerNeeds,
    BlockHandlerNeeds,
    ContractHandlerNeeds,
    HistoryHandlerNeeds,
    ReplayHandlerNeeds,
    AccountHandlerNeeds,
    AccessHandlerNeeds {
  store: Store;
  auth: Auth;
  live: Live;
  log: Log;
  chains(): ChainReport[];
  /** Whether this process answers more than what watches over it asks. */
  servesApi: boolean;
  readMetrics(): Promise<{ contentType: string; text: string }>;
  /** Why this process is not fit for traffic, for people; empty when it is. */
  whyNotReady(): Promise<string[]>;
  /** Folder of the built console; undefined where it is not built. */
  consoleFolder: string | undefined;
  /** Whether a request for this `Host` is ours to answer. */
  isOurHost(host: string): boolean;
  /** Origins whose pages may call with a key. */
  corsOrigins: readonly string[];
  version: string;
  environment: SluiceHandlerNeeds['environment'];
  /** How long deliveries are kept. */
  kept: { deliveredMs: number; undeliveredMs: number };
  /** As the schedule has them. */
  laterWaitsMs: SluiceHandlerNeeds['laterWaitsMs'];
  fastRetryMs: SluiceHandlerNeeds['fastRetryMs'];
}

/** What every process answers. */
const PROBES: readonly string[] = ['/health', '/ready', '/metrics'];
const UNCOUNTED: readonly string[] = ['/health', '/ready'];
/** What a browser reads much of. The body of one delivery would wait longer for the packing than for a cable. */
const COMPRESSED: readonly string[] = [
  '/console/*',
  '/sluice/deliveries',
  '/sluice/explain',
  '/sluice/streams',
  '/sluice/tapes',
];
/** When to come back while the ledger is full or away. */
const RETRY_AFTER_SECONDS = 5;

type Variables = { requestId: string };

export function createApp(needs: AppNeeds): Hono<{ Variables: Variables }> {
  const app = new Hono<{ Variables: Variables }>();
  const addressChanges = createAddressChanges(needs.store);
  const consoleFiles = createConsoleHandler(needs.consoleFolder);

  const fail = (context: Context, error: HttpError): Response =>
    context.json({ ...error.body(), requestId: context.get('requestId') as string }, error.status);

  app.use(async (context, next) => {
    const requestId = randomUUID();
    context.set('requestId', requestId);
    context.header('x-request-id', requestId);
    // A page on another name that resolves to us (DNS rebinding) must not reach us.
    const host = context.req.header('host') ?? '';
    if (!needs.isOurHost(host)) {
      return fail(context, new HttpError(403, `Host ${JSON.stringify(host)} is not served here`));
    }
    if (!needs.servesApi && !PROBES.includes(context.req.path)) {
      return fail(
        context,
        new HttpError(404, 'The API is served by the processes with --role api'),
      );
    }
    context.header('x-content-type-options', 'nosniff');
    return next();
  });

  for (const path of COMPRESSED) app.use(path, compress());
  if (needs.corsOrigins.length > 0) app.use(allowPages(needs.corsOrigins));
  app.use(async (context, next) => {
    // What watches over the service must not be turned away because others knock.
    if (!UNCOUNTED.includes(context.req.path)) await needs.auth.meet(context);
    return next();
  });

  const audit = async (context: Context, action: string): Promise<void> => {
    const { keyId, address } = callerOf(context);
    await needs.store.appendAudit({ action, keyId, address, target: auditTargetOf(context) });
  };

  const routes: { method: string; path: string }[] = [
    '/',
    '/health',
    '/ready',
    '/openapi.json',
  ].map((path) => ({ method: 'GET', path }));
  const handlers: Handlers = {
    ...createEvmStreamHandlers({ ...needs, addressChanges }),
    ...createAptosStreamHandlers(needs),
    ...createAddressHandlers({ ...needs, addressChanges }),
    ...createHistoryHandlers(needs),
    ...createAccountHandlers(needs),
    ...createAccessHandlers(needs),
    ...createSluiceHandlers(needs),
    ...createReplayHandlers(needs),
    ...createActivityHandlers(needs),
    ...createInboxHandlers(needs),
    ...createBlockHandlers(needs),
    ...createAptosBlockHandlers(needs),
    ...createContractHandlers(needs),
    ...createNameHandler(needs),
    ...createExplainHandler(needs),
  };
  for (const [name, call] of eachCall) {
    const { method, path, scope } = call;
    const maxBodyBytes = bodyLimitOf(call);
    // The key and the page come before the body: a stranger's megabytes are not read.
    const admit = async (context: Context, next: () => Promise<void>): Promise<void> => {
      // Many answers hold a key, a secret, or a URL and headers with one: no cache may keep any of them.
      context.header('cache-control', 'no-store');
      needs.auth.admit(context, scope);
      await takeBody(context, maxBodyBytes);
      await next();
      nameIgnoredQuery(context);
      if (isAudited(call) && context.res.ok) await audit(context, name);
    };
    const read = createReader(call);
    const handle = handlers[name] as (request: Received<CallName>) => unknown;
    app.on(method, path.replaceAll(/\{(\w{1,40})\}/g, ':$1'), admit, async (context) =>
      sendAnswer(context, await handle(read(context))),
    );
    routes.push({ method, path });
  }

  app.get('/health', (context) =>
    context.json({
      status: 'ok',
      version: needs.version,
      store: needs.store.engine,
      chains: needs
        .chains()
        .map(({ name: _name, code: _code, lacksTraces: _lacksTraces, ...health }) => health),
    }),
  );
  app.get('/ready', async (context) => {
    const reasons = await needs.whyNotReady();
    return reasons.length === 0
      ? context.json({ status: 'ready' })
      : context.json({ status: 'not ready', reasons }, 503);
  });
  let openApi: object | undefined;
  app.get('/openapi.json', (context) => context.json((openApi ??= createOpenApi(needs.version))));
  app.get('/metrics', async (context) => {
    needs.auth.admit(context, 'any');
    const { contentType, text } = await needs.readMetrics();
    return context.body(text, 200, { 'content-type': contentType });
  });
  app.get('/console', consoleFiles);
  app.get('/console/*', consoleFiles);
  app.get('/', (context) =>
    context.req.header('accept')?.includes('text/html')
      ? context.redirect('/console/')
      : context.json({
          name: 'sluice',
          version: needs.version,
          console: '/console/',
          health: '/health',
          ready: '/ready',
          openApi: '/openapi.json',
        }),
  );

  app.notFound((context) => {
    const { method, path } = context.req;
    const methods = routes
      .filter((route) => isPathOf(route.path, path))
      .map((route) => route.method);
    if (methods.length === 0)
      return fail(context, new HttpError(404, `No route ${method} ${path}`));
    context.header('allow', methods.join(', '));
    return fail(
      context,
      new HttpError(405, `${method} is not a method of ${path}: use ${methods.join(' or ')}`),
    );
  });
  app.onError((error, context) => {
    if (error instanceof HttpError) return fail(context, error);
    if (hasCode(error, 'not_found')) return fail(context, new HttpError(404, error.message));
    if (hasCode(error, 'unavailable')) return fail(context, new HttpError(503, error.message));
    const requestId = context.get('requestId');
    if (isUnavailable(error)) {
      needs.log.warn('request refused, the ledger is not available', {
        requestId,
        error: describeError(error),
      });
      context.header('retry-after', String(RETRY_AFTER_SECONDS));
      return fail(
        context,
        new HttpError(
          503,
          `The ledger cannot be read or written now: try again in ${RETRY_AFTER_SECONDS} s`,
        ),
      );
    }
    needs.log.error('request failed', {
      requestId,
      method: context.req.method,
      path: context.req.path,
      error: error.stack ?? String(error),
    });
    const body: ErrorBody & { requestId: string } = {
      message: 'Something went wrong in the service; its log has this request id',
      requestId,
    };
    return context.json(body, 500);
  });

  return app;
}

/** Whether the audit log has it: who reads or changes credentials, sends again, or deletes. */
const isAudited = ({ method, scope, audited }: Call): boolean =>
  audited === true || (method !== 'GET' && (scope === 'replay' || scope === 'settings:admin'));

/** Whether a path is of this route, whatever its parameters are. */
function isPathOf(route: string, path: string): boolean {
  const parts = path.split('/');
  const own = route.split('/');
  return (
    parts.length === own.length &&
    own.every((part, n) => (part.startsWith('{') ? parts[n] !== '' : parts[n] === part))
  );
}
