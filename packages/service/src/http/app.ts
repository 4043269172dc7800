/** Every route of the service, and what holds for all of them: limits, hosts, keys, errors. */
import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { compress } from 'hono/compress';
import {
  type ErrorBody,
  ROUTES,
  type Route,
  type RouteName,
  SLUICE_ROUTES,
  type SluiceRouteName,
} from '@sluice/kit/contract';
import { type Log, describeError } from '../observe.ts';
import { createAddressChanges } from '../store/addressChanges.ts';
import type { ChainReport, Store } from '../store/store.ts';
import { isUnavailable } from '../store/unavailable.ts';
import { type Auth, callerOf } from './auth.ts';
import { HttpError, auditTargetOf } from './answers.ts';
import { bodyLimitOf, takeBody } from './body.ts';
import { createConsoleHandler } from './console.ts';
import { allowPages } from './cors.ts';
import { type AccessHandlerNeeds, createAccessHandlers } from './handlers/access.ts';
import { createAddressHandlers, createWatchedAddressList } from './handlers/addresses.ts';
import { type AccountHandlerNeeds, createAccountHandlers } from './handlers/account.ts';
import { type AptosBlockHandlerNeeds, createAptosBlockHandlers } from './handlers/aptosBlocks.ts';
import { createAptosStreamHandlers } from './handlers/aptosStreams.ts';
import { type HistoryHandlerNeeds, createHistoryHandlers } from './handlers/history.ts';
import { type BlockHandlerNeeds, createBlockHandlers } from './handlers/blocks.ts';
import { type ContractHandlerNeeds, createContractHandlers } from './handlers/contracts.ts';
import { createExplainHandler } from './handlers/explain.ts';
import { createActivityHandlers } from './handlers/activity.ts';
import { createInboxHandlers } from './handlers/inboxes.ts';
import { createNameHandler } from './handlers/names.ts';
import { type ReplayHandlerNeeds, createReplayHandlers } from './handlers/replays.ts';
import { type SluiceHandlerNeeds, createSluiceHandlers } from './handlers/sluice.ts';
import { type EvmStreamNeeds, createEvmStreamHandlers } from './handlers/streams.ts';
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
  const evm = createEvmStreamHandlers({ ...needs, addressChanges });
  const evmAddresses = createAddressHandlers({ ...needs, addressChanges }, 'evm');
  const aptos = createAptosStreamHandlers(needs);
  const aptosAddresses = createAddressHandlers({ ...needs, addressChanges }, 'aptos');
  const history = createHistoryHandlers(needs);
  const replays = createReplayHandlers(needs);
  const account = createAccountHandlers(needs);
  const blocks = createBlockHandlers(needs);
  const contracts = createContractHandlers(needs);
  const aptosBlocks = createAptosBlockHandlers(needs);
  const sluice = createSluiceHandlers(needs);
  const inboxes = createInboxHandlers(needs);
  const access = createAccessHandlers(needs);
  const activity = createActivityHandlers(needs);
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
  const register = (
    { method, path, access }: Route,
    handler: (context: Context) => Response | Promise<Response>,
    { maxBodyBytes, audited }: { maxBodyBytes: number; audited: string | undefined },
  ): void => {
    // The key and the page come before the body: a stranger's megabytes are not read.
    const admit = async (context: Context, next: () => Promise<void>): Promise<void> => {
      // Many answers hold a key, a secret, or a URL and headers with one: no cache may keep any of them.
      context.header('cache-control', 'no-store');
      needs.auth.admit(context, access);
      await takeBody(context, maxBodyBytes);
      await next();
      nameIgnoredQuery(context);
      if (audited !== undefined && context.res.ok) await audit(context, audited);
    };
    app.on(method, path.replaceAll(/\{(\w{1,40})\}/g, ':$1'), admit, handler);
    routes.push({ method, path });
  };

  const compatible: Record<RouteName, (context: Context) => Response | Promise<Response>> = {
    listEvmStreams: evm.list,
    createEvmStream: evm.create,
    getEvmStream: evm.get,
    updateEvmStream: evm.update,
    deleteEvmStream: evm.delete,
    setEvmStreamStatus: evm.setStatus,
    listEvmAddresses: evmAddresses.list,
    addEvmAddresses: evmAddresses.add,
    removeEvmAddresses: evmAddresses.remove,
    replaceEvmAddresses: evmAddresses.replace,
    duplicateEvmStream: evm.duplicate,
    listAptosStreams: aptos.list,
    createAptosStream: aptos.create,
    getAptosStream: aptos.get,
    updateAptosStream: aptos.update,
    deleteAptosStream: aptos.delete,
    setAptosStreamStatus: aptos.setStatus,
    listAptosAddresses: aptosAddresses.list,
    addAptosAddresses: aptosAddresses.add,
    removeAptosAddresses: aptosAddresses.remove,
    listHistory: history.listHistory,
    replayHistory: history.replay,
    listLogs: history.listLogs,
    readSettings: account.readSettings,
    setSettings: account.setSettings,
    getStats: account.getStats,
    getStreamStats: account.getStreamStats,
    dryRunEvmBlock: blocks.dryRun,
    sendEvmBlock: blocks.sendBlock,
    createHistoricalJob: blocks.createJob,
  };
  const ours: Record<SluiceRouteName, (context: Context) => Response | Promise<Response>> = {
    createSession: sluice.createSession,
    checkSession: (context) => context.body(null, 204),
    deleteSession: sluice.deleteSession,
    getAbout: sluice.getAbout,
    getExpiry: sluice.getExpiry,
    listStreamSummaries: sluice.listStreamSummaries,
    listDeliveries: sluice.listDeliveries,
    getDeliveryFacets: sluice.getDeliveryFacets,
    getDelivery: sluice.getDelivery,
    getDeliveryBody: sluice.getDeliveryBody,
    stopDelivery: replays.stopDelivery,
    estimateReplay: replays.estimate,
    createReplay: replays.create,
    listReplays: replays.list,
    getReplay: replays.get,
    getReplayProgress: replays.getProgress,
    cancelReplay: replays.cancel,
    explain: createExplainHandler(needs),
    getActivity: activity.getActivity,
    getActivityBreakdown: activity.getBreakdown,
    listAddresses: createWatchedAddressList(needs),
    listStreamChanges: activity.listStreamChanges,
    listTapes: activity.listTapes,
    listReorgs: activity.listReorgs,
    listGaps: activity.listGaps,
    listInboxes: inboxes.list,
    setInbox: inboxes.set,
    deleteInbox: inboxes.delete,
    listInboxRequests: inboxes.listRequests,
    getInboxRequest: inboxes.getRequest,
    clearInbox: inboxes.clear,
    listChains: sluice.listChains,
    liveEvents: sluice.liveEvents,
    resumeChain: blocks.resumeChain,
    dryRunEvm: blocks.dryRunEvm,
    getContract: contracts.get,
    getContractAbi: contracts.getAbi,
    resolveName: createNameHandler(needs),
    dryRunAptos: aptosBlocks.dryRun,
    sendAptosBlock: aptosBlocks.sendBlock,
    createAptosBackfill: aptosBlocks.createBackfill,
    getCoverage: blocks.getCoverage,
    listJobs: blocks.listJobs,
    getJob: blocks.getJob,
    setJobState: blocks.setJobState,
    listApiKeys: access.listKeys,
    createApiKey: access.createKey,
    revokeApiKey: access.revokeKey,
    getStreamSecret: access.getSecret,
    rotateStreamSecret: access.rotateSecret,
    listAudit: access.listAudit,
  };
  const handlers = { ...compatible, ...ours };
  for (const [name, route] of Object.entries({ ...ROUTES, ...SLUICE_ROUTES }) as [
    RouteName | SluiceRouteName,
    Route,
  ][]) {
    register(route, handlers[name], {
      maxBodyBytes: bodyLimitOf(name, route),
      audited: isAudited(name, route) ? name : undefined,
    });
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

/** Beside the changes that `replay` and `settings:admin` allow: signing in, secrets read, streams deleted. */
const ALSO_AUDITED: ReadonlySet<RouteName | SluiceRouteName> = new Set([
  'createSession',
  'readSettings',
  'getStreamSecret',
  'deleteEvmStream',
  'deleteAptosStream',
]);

/** Whether the audit log tells of it: who reads or changes what lets somebody in, sends again, or deletes. */
const isAudited = (name: RouteName | SluiceRouteName, { method, access }: Route): boolean =>
  ALSO_AUDITED.has(name) ||
  (method !== 'GET' && (access === 'replay' || access === 'settings:admin'));

/** Whether a path is of this route, whatever its parameters are. */
function isPathOf(route: string, path: string): boolean {
  const parts = path.split('/');
  const own = route.split('/');
  return (
    parts.length === own.length &&
    own.every((part, n) => (part.startsWith('{') ? parts[n] !== '' : parts[n] === part))
  );
}
