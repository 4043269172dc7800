/** Creates and connects the parts of the service. */
import { join } from 'node:path';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import {
  CONTRACT_SCHEDULE_MS,
  QUICK_RETRY_MS,
  type Replay,
  readInboxName,
} from '@sluice/kit/contract';
import { type AppNeeds, createApp } from './api/app.ts';
import { createHostCheck } from './api/auth/hosts.ts';
import { openAuth } from './api/auth/openAuth.ts';
import { findNameChain } from './api/calls/chains/names.ts';
import { createLive } from './api/live.ts';
import { CallerError, hasCode } from './base/errors.ts';
import { type Log, createLog } from './base/log.ts';
import { openTracing } from './base/openTracing.ts';
import type { Tracing } from './base/tracing.ts';
import { type ChainReports, createChainReports } from './chains/chainReports.ts';
import { createChains } from './chains/chains.ts';
import { createAbiSource } from './chains/evm/abiSource.ts';
import { EXPLORERS } from './chains/explorers.ts';
import { unpackNames } from './chains/evm/ensNames.ts';
import { ROLES, type ServiceConfig, checkConfig } from './config.ts';
import { createHostPace } from './deliver/attempt.ts';
import { createDeliver } from './deliver/deliver.ts';
import { createInbox } from './deliver/inbox.ts';
import { remainingWaitsMs } from './deliver/outcomes.ts';
import { createReplays } from './deliver/replays.ts';
import { EVERYWHERE, createAddressGuard } from './deliver/send/guard.ts';
import { createIsolation } from './deliver/send/isolation.ts';
import { createSender } from './deliver/send/send.ts';
import { createTestWebhook } from './deliver/testWebhook.ts';
import { checkPlan } from './enrich/evm/plan.ts';
import { checkSelection, unreadEvents } from './match/evm/selection.ts';
import { startNotifier } from './operate/alerts.ts';
import { type DiskWatch, watchDisk } from './operate/disk.ts';
import { type Duty, createDuty } from './operate/duty.ts';
import { type Holder, createHolder } from './operate/holder.ts';
import { startHousekeeping } from './operate/housekeeping.ts';
import { type InvariantCheck, createInvariantCheck } from './operate/invariants.ts';
import { type Metrics, createMetrics } from './operate/metrics.ts';
import { type Readiness, createReadiness } from './operate/readiness.ts';
import { takeOver } from './operate/takeOver.ts';
import { openVault } from './secrets/openVault.ts';
import { sealEndpoints } from './secrets/sealedEndpoints.ts';
import { type AccountSettings, openSettings } from './secrets/settings.ts';
import { createStreamSecrets } from './secrets/streamSecrets.ts';
import { openPostgresStore } from './store/engine/postgres/postgres.ts';
import { LEDGER_FILE, openSqliteStore } from './store/engine/sqlite/sqlite.ts';
import { explainDamage } from './store/engine/sqlite/sqliteDamage.ts';
import type { Store } from './store/store.ts';

export interface Service {
  /** URL of the service, with the actual port. */
  readonly url: string;
  /** The streams secret that signs webhooks. */
  readonly secret: string;
  /** The generated API key; undefined if a key was given or already stored. */
  readonly newApiKey: string | undefined;
  /** Stops accepting requests and blocks, waits for running attempts, and closes the ledger. */
  stop(): Promise<void>;
}

export const VERSION = '0.1.0';

/** Time for a shutdown, which is longer than any attempt, so that none is interrupted. */
const DRAIN_MS = 17_000;
const DAY_MS = 24 * 3_600_000;
const MIN_FREE_BYTES = 512 * 1024 * 1024;

/**
 * Starts the service and resolves once it listens, even if a chain is unreachable.
 *
 * @throws CallerError if a setting is invalid, or the port, the folder or the database is
 * unavailable.
 */
export async function startService(
  config: ServiceConfig,
  log: Log = createLog((line) => process.stderr.write(line), config.logFormat),
): Promise<Service> {
  checkConfig(config);
  const store =
    config.databaseUrl === undefined
      ? await openSqliteStore(config.dataFolder)
      : await openPostgresStore(config.databaseUrl);
  try {
    return await startWith(store, config, log);
  } catch (error) {
    await store.close();
    if (hasCode(error, 'wrong_master_key')) {
      throw new CallerError(
        'wrong_master_key',
        'The secrets of this ledger are sealed with another master key',
        {
          fix: 'pass the key that the ledger was made with: --master-key-file, or SLUICE_MASTER_KEY',
          cause: error,
        },
      );
    }
    throw config.databaseUrl === undefined
      ? explainDamage(error, join(config.dataFolder, LEDGER_FILE))
      : error;
  }
}

async function startWith(ledger: Store, config: ServiceConfig, log: Log): Promise<Service> {
  const roles = config.roles ?? ROLES;
  const kept = {
    deliveredMs: (config.retention?.deliveredDays ?? 7) * DAY_MS,
    undeliveredMs: (config.retention?.undeliveredDays ?? 30) * DAY_MS,
  };
  const retries = {
    schedule: config.schedule ?? CONTRACT_SCHEDULE_MS,
    fastRetryMs: config.fastRetry === false ? undefined : QUICK_RETRY_MS,
  };

  const sealed = await openSealed(ledger, config, log);
  const { store, settings } = sealed;
  const { newApiKey, ...callers } = await openAuth(config, { ...sealed, log });

  const tracing = await openTracing(process.env, VERSION);
  const live = createLive(store.events);
  const metrics = createMetrics(VERSION);
  const readiness = createReadiness(
    store,
    log,
    (id) => reports.find(id)?.message === '',
    () => chains.whyUnprepared(),
  );
  const invariants = createInvariantCheck({
    store,
    log,
    keptMs: Math.min(kept.deliveredMs, kept.undeliveredMs),
  });
  // The disk of PostgreSQL is monitored on its own machine.
  const disk =
    store.engine === 'sqlite'
      ? await watchDisk(config.dataFolder, config.retention?.minFreeBytes ?? MIN_FREE_BYTES, log)
      : undefined;
  // Only one process uses a SQLite ledger, so the holder of any lease is gone.
  if (store.engine === 'sqlite') metrics.recordLostLeases(await takeOver(store, log));

  const sending = createSending(config, { store, settings, metrics });
  const delivery = roles.includes('deliver')
    ? createDelivery({ sealed, sending, retries, metrics, readiness, tracing, log })
    : undefined;
  const holder = createHolder(store);
  const following = createFollowing(config, {
    ...{ store, holder, delivery, disk, metrics, tracing, log },
  });
  const { chains, reports } = following;
  const duties = createDuties(config, {
    ...{ store, holder, sending, reports, invariants, disk, kept, log },
  });

  const app = createApi(config, {
    ...callers,
    ...{ sealed, sending, delivery, following },
    ...{ live, kept, retries, metrics, readiness, log },
  });
  // Unpacking blocks the event loop, so it happens before the first request.
  if (roles.includes('api') && findNameChain(chains) !== undefined) unpackNames();
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  await listen(server, config.port, config.host);
  const { port } = server.address() as AddressInfo;

  // Rules load while the other parts start.
  if (roles.includes('ingest')) chains.start();
  metrics.watch({
    chains: reports.list,
    inFlight: () => delivery?.deliver.inFlight() ?? 0,
    breakers: () => delivery?.deliver.breakers() ?? {},
    oldestDue: () => store.readOldestDue(),
    oldestTransactionAge: () => store.readOldestTransactionAge(),
    async unverifiedBlocks() {
      const ids = reports.list().map(({ id }) => id);
      const found = await Promise.all(ids.map((id) => store.readUnverified(id)));
      return Object.fromEntries(ids.map((id, n) => [id, found[n]?.blocks ?? 0]));
    },
    violations: invariants.counts,
    chainsRead: () => chains.all.filter(({ standing }) => standing === 'holder').length,
    isReady: async () => (await readiness.read()).length === 0,
    diskUsedRatio: () => disk?.usedRatio,
  });
  await reports.start();
  await delivery?.deliver.start();
  delivery?.replays.start();
  for (const duty of duties) duty.start();
  readiness.started();

  const shutDown = async (): Promise<void> => {
    readiness.stopping();
    disk?.stop();
    metrics.stop();
    live.close();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    await Promise.all([chains.stop(), delivery?.replays.stop()]);
    await Promise.all([
      delivery?.deliver.stop(DRAIN_MS),
      ...duties.map((duty) => duty.stop()),
      reports.stop(),
    ]);
    if (delivery === undefined) await sending.sender.close();
    settings.stop();
    server.closeAllConnections();
    await closed;
    await store.close();
    await tracing.stop();
  };
  let stopped: Promise<void> | undefined;
  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
    get secret() {
      return settings.read().secretKey;
    },
    newApiKey,
    stop: () => (stopped ??= shutDown()),
  };
}

/** The waits between attempts. */
interface Retries {
  schedule: readonly number[];
  /** Wait of the fast retry before the schedule; undefined without one. */
  fastRetryMs: number | undefined;
}

type Sealed = Awaited<ReturnType<typeof openSealed>>;
type Sending = ReturnType<typeof createSending>;
type Delivery = ReturnType<typeof createDelivery>;
type Following = ReturnType<typeof createFollowing>;

/** Opens the vault and the secrets that the ledger stores encrypted. */
async function openSealed(ledger: Store, config: ServiceConfig, log: Log) {
  const vault = await openVault(ledger, config, log);
  const store = sealEndpoints(ledger, vault);
  return {
    vault,
    store,
    streamSecrets: createStreamSecrets(store, vault),
    settings: await openSettings(store, vault, config.secret),
  };
}

/** Creates the senders of webhooks, test webhooks and alerts, with address checks and rate limits. */
function createSending(
  config: ServiceConfig,
  { store, settings, metrics }: { store: Store; settings: AccountSettings; metrics: Metrics },
) {
  const { egressProxy } = config;
  const allowCidrs = config.allowPrivateEndpoints ? EVERYWHERE : (config.allowCidrs ?? []);
  const guard = createAddressGuard({ allowCidrs, onBlocked: metrics.recordBlockedAddress });
  const signing = {
    secret: () => settings.read().secretKey,
    region: () => settings.read().region,
  };
  const inbox = createInbox({ store, secret: signing.secret });
  return {
    guard,
    hostPace: createHostPace(config.maxPerHost),
    sender: createSender({ guard, inbox, egressProxy, ...signing }),
    createIsolation: () => createIsolation({ allowCidrs, egressProxy, ...signing }),
    // The operator's own URL may be private.
    createAlertSender: () =>
      createSender({ guard: createAddressGuard({ allowCidrs: EVERYWHERE }), ...signing }),
  };
}

/** Delivers due webhooks, and runs replays. */
function createDelivery({
  sealed: { store, streamSecrets },
  sending: { sender, hostPace, createIsolation },
  retries,
  metrics,
  readiness,
  tracing,
  log,
}: {
  sealed: Sealed;
  sending: Sending;
  retries: Retries;
  metrics: Metrics;
  readiness: Readiness;
  tracing: Tracing;
  log: Log;
}) {
  const deliver = createDeliver({
    store,
    sender,
    isolation: createIsolation(),
    log,
    ...retries,
    hostPace,
    onChange: metrics.recordAttempts,
    onLostLeases: metrics.recordLostLeases,
    onLostOutcomes: metrics.recordLostOutcomes,
    onLocalFailure(cause) {
      metrics.recordLocalFailure(cause);
      readiness.recordLocalFailure(cause);
    },
    tracing,
    openSecrets: ({ streamId, secrets, claimedAt }) =>
      streamSecrets.open(streamId, secrets, claimedAt),
  });
  const replays = createReplays({
    store,
    log,
    onDue: deliver.wake,
    async onReplay(id) {
      const replay = await store.readReplay(id);
      if (replay !== undefined) showReplay(store, replay);
    },
  });
  return { deliver, replays };
}

function showReplay(store: Store, replay: Replay): void {
  // The next step reports it again.
  store.announce({ type: 'replay', replay }).catch(() => {});
}

/** Follows the chains of this process, and collects the reports of all processes. */
function createFollowing(
  config: ServiceConfig,
  {
    store,
    holder,
    delivery,
    disk,
    metrics,
    tracing,
    log,
  }: {
    store: Store;
    holder: Holder;
    delivery: Delivery | undefined;
    disk: DiskWatch | undefined;
    metrics: Metrics;
    tracing: Tracing;
    log: Log;
  },
) {
  // A process with the API alone queries nodes for its calls, but follows no chain.
  const roles = config.roles ?? ROLES;
  const isReading = roles.includes('ingest') || roles.includes('api');
  const chains = createChains(isReading ? config : { ...config, chains: [], aptos: [] }, {
    store,
    holder,
    log,
    tracing,
    onReorg: metrics.recordReorg,
    onDeliveries(deliveries) {
      metrics.recordSetAside(deliveries);
      delivery?.deliver.wake(deliveries);
    },
    refuseBlocks: () => disk?.problem,
    confirmedUpTo: (chain) => reports.find(chain)?.confirmedUpTo ?? null,
  });
  const reports: ChainReports = createChainReports({ store, log, own: () => chains.all });
  return { chains, reports };
}

/** Starts housekeeping and alerts, which one process at a time does for all processes. */
function createDuties(
  config: ServiceConfig,
  {
    store,
    holder,
    sending,
    reports,
    invariants,
    disk,
    kept,
    log,
  }: {
    store: Store;
    holder: Holder;
    sending: Sending;
    reports: ChainReports;
    invariants: InvariantCheck;
    disk: DiskWatch | undefined;
    kept: AppNeeds['kept'];
    log: Log;
  },
): Duty[] {
  const { notifyUrl, terminateAfterHours } = config;
  const options = { ...kept, terminateAfterHours };
  const housekeeping = createDuty({
    ...{ name: 'housekeeping', holder, store, log },
    begin: () => startHousekeeping({ store, log, invariants, options }),
  });
  if (notifyUrl === undefined) return [housekeeping];
  const alerts = createDuty({
    ...{ name: 'alerts', holder, store, log },
    begin: () =>
      startNotifier({
        url: notifyUrl,
        store,
        sender: sending.createAlertSender(),
        chains: reports.list,
        diskFilling: () => disk?.filling,
        log,
      }),
  });
  return [housekeeping, alerts];
}

function createApi(
  config: ServiceConfig,
  {
    sealed: { store, streamSecrets, settings },
    sending: { guard, sender, hostPace },
    following: { chains, reports },
    delivery,
    retries,
    metrics,
    readiness,
    ...parts
  }: {
    sealed: Sealed;
    sending: Sending;
    following: Following;
    delivery: Delivery | undefined;
    retries: Retries;
    metrics: Metrics;
    readiness: Readiness;
  } & Pick<AppNeeds, 'auth' | 'keyRing' | 'live' | 'kept' | 'log'>,
) {
  return createApp({
    ...parts,
    store,
    streamSecrets,
    settings,
    version: VERSION,
    environment: config.environment ?? 'prod',
    servesApi: (config.roles ?? ROLES).includes('api'),
    isOurHost: createHostCheck(config.host, config.allowHosts ?? []),
    corsOrigins: config.corsOrigins ?? [],
    consoleFolder: config.consoleFolder,
    hidesSecrets: config.hideSecrets === true,
    readMetrics: () => metrics.read(),
    whyNotReady: () => readiness.read(),

    chains: reports.list,
    callsOf: chains.callsOf,
    aptosCallsOf: chains.aptosCallsOf,
    abiSource: createAbiSource(config.abiUrls ?? {}),
    explorers: { ...EXPLORERS, ...config.explorers },
    hasSource: reports.isRead,
    lacksTraces: (chain) => reports.find(chain)?.lacksTraces === true,

    checkOptions: (options) => [...checkSelection(options), ...checkPlan(options)],
    unreadEvents,
    refuseUrl: async (url) =>
      readInboxName(url.href) === undefined ? guard.refuseResolved(url) : undefined,
    testWebhook:
      config.testWebhook === false
        ? () => Promise.resolve(undefined)
        : createTestWebhook({ sender, hostPace, maxPerHost: config.maxPerHost }),

    fastRetryMs: retries.fastRetryMs,
    remainingWaitsMs: (attempts, fastRetried) =>
      remainingWaitsMs(retries.schedule, attempts, fastRetried),
    onReplay: (delivered, isNew) => delivery?.deliver.wake(isNew ? [delivered] : []),
    onReplayChange(replay) {
      delivery?.replays.wake();
      showReplay(store, replay);
    },
    onStopped: (delivered) => delivery?.deliver.wake([delivered]),
  });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new CallerError('port_in_use', `Port ${port} of ${host} is already in use`, {
              fix: 'stop the other process, or pass another port with --port, 0 for any free one',
            })
          : error,
      );
    });
    server.listen(port, host, () => resolve());
  });
}
