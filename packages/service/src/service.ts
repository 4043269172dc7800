/** Creates and connects the parts of the service. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { CONTRACT_SCHEDULE_MS, FAST_RETRY_MS } from '@sluice/kit/contract';
import { type AppNeeds, createApp } from './api/app.ts';
import { createHostCheck } from './base/hostNames.ts';
import { openAuth } from './api/auth/openAuth.ts';
import { createLive } from './api/live.ts';
import { createWaitingReads } from './api/waitingReads.ts';
import { VERSION, readCommit } from './base/build.ts';
import { CallerError, hasCode } from './base/errors.ts';
import { type Log, createLog, describeError } from './base/log.ts';
import { openTracing } from './base/openTracing.ts';
import type { Tracing } from './base/tracing.ts';
import { type ChainReports, createChainReports } from './chains/chainReports.ts';
import { createChains } from './chains/chains.ts';
import { createNodeTest } from './chains/testNode.ts';
import { type Config, type ServiceConfig, completeConfig } from './config/config.ts';
import { openLedger } from './openLedger.ts';
import { createDeliverer } from './deliver/deliver.ts';
import { remainingWaitsMs } from './deliver/schedule.ts';
import { createReplays } from './deliver/replays.ts';
import { openClientCertificate } from './deliver/destinations/http/clientCertificate.ts';
import { type Senders, createSenders } from './deliver/send/senders.ts';
import { createCopySender } from './deliver/copySender.ts';
import { createTestWebhook } from './deliver/testWebhook.ts';
import {
  EXPLORERS,
  openFamilies,
  findChain,
  openNode,
  prepareApi,
  readChainAndPhase,
  toApiParts,
} from './families/index.ts';
import { createAlertUrlTest } from './operate/alerts/testAlertUrl.ts';
import { type DiskWatch, watchDisk } from './operate/disk.ts';
import { createDuties } from './operate/duties.ts';
import { type LeaseHolder, createHolder } from './operate/holder.ts';
import { createInvariantCheck } from './operate/invariants.ts';
import { createLifecycleLog } from './operate/lifecycleLog.ts';
import { type Metrics, createMetrics } from './operate/metrics.ts';
import { type Readiness, createReadiness } from './operate/readiness.ts';
import { takeOverLedger } from './operate/takeOver.ts';
import { openAddedUrls } from './secrets/addedUrls.ts';
import { openKeyPairs } from './secrets/keyPairs.ts';
import { openVault } from './secrets/openVault.ts';
import { createEndpoints } from './secrets/endpoints.ts';
import { openSettings } from './secrets/settings.ts';
import { createStreamSecrets } from './secrets/streamSecrets.ts';
import { streamOf } from './store/rows/laneIds.ts';
import type { Store } from './store/store.ts';

export interface Service {
  /** URL of the service, with the actual port. */
  readonly url: string;
  /** The account's webhook secret. */
  readonly secret: string;
  /** The generated API key; undefined if a key was given or already stored. */
  readonly newApiKey: string | undefined;
  /** Stops accepting requests and blocks, waits for running attempts, and closes the ledger. */
  stop(): Promise<void>;
}

/**
 * Maximum time that a shutdown waits for attempts: more than the default timeout. It interrupts
 * attempts of streams with a longer timeout, which are then sent again.
 */
const DRAIN_MS = 17_000;
const DAY_MS = 24 * 3_600_000;
const MIB = 1024 * 1024;
/** Maximum size of a request's URL and headers. A filter by 500 delivery ids needs 20 kB. */
const MAX_HEADER_BYTES = 32 * 1024;

/**
 * Starts the service and resolves once it listens, even if a chain is unreachable.
 *
 * @throws CallerError if a setting is invalid, or the port, the folder or the database is
 * unavailable.
 */
export async function startService(given: ServiceConfig, givenLog?: Log): Promise<Service> {
  const config = completeConfig(given);
  const log = givenLog ?? createLog((line) => process.stderr.write(line), config.logFormat);
  const store = await openLedger(config);
  const watchers: Watcher[] = [];
  try {
    return await startWith(store, config, log, watchers);
  } catch (error) {
    for (const watcher of watchers) watcher.stop();
    await store.close();
    if (hasCode(error, 'wrong_master_key')) {
      throw new CallerError(
        'wrong_master_key',
        'The secrets of this ledger are encrypted with another master key',
        { cause: error },
      );
    }
    throw store.explainError(error);
  }
}

/** A part that polls the ledger, a file or the disk until it is stopped. */
interface Watcher {
  stop(): void;
}

/** @param watchers receives the parts to stop at shutdown, or if the start fails */
async function startWith(
  ledger: Store,
  config: Config,
  log: Log,
  watchers: Watcher[],
): Promise<Service> {
  const { roles } = config;
  const kept = {
    deliveredMs: config.keepDelivered * DAY_MS,
    undeliveredMs: config.keepUndelivered * DAY_MS,
  };
  const retries = {
    schedule: config.schedule ?? CONTRACT_SCHEDULE_MS,
    fastRetryMs: config.fastRetry ? FAST_RETRY_MS : undefined,
  };

  const sealed = await openSealed(ledger, config, log, watchers);
  const { store, settings, addedUrls, keyPairs } = sealed;
  const { newApiKey, ...callers } = await openAuth(config, { ...sealed, log });

  const tracing = await openTracing(process.env, VERSION);
  const live = createLive(store.events);
  const waitingReads = createWaitingReads(store);
  const metrics = createMetrics({ version: VERSION, commit: readCommit() });
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
  const disk = store.files && (await watchDisk(store.files, config.minFreeMib * MIB, log));
  if (disk !== undefined) watchers.push(disk);
  // Leases in a ledger that is not shared belong to a process that has ended.
  if (!store.isShared) metrics.recordLostLeases(await takeOverLedger(store, log));

  const clientCertificate = openClientCertificate(config, log);
  if (clientCertificate !== undefined) watchers.push(clientCertificate);
  const onBlocked = metrics.recordBlockedAddress;
  const senders = createSenders(config, {
    store,
    settings,
    keyPairs,
    clientCertificate,
    onBlocked,
    readChainAndPhase,
  });
  const delivery = roles.includes('deliver')
    ? createDelivery({ sealed, senders, retries, metrics, readiness, tracing, log })
    : undefined;
  const holder = createHolder(store);
  const following = await createFollowing(config, {
    sealed,
    senders,
    holder,
    disk,
    metrics,
    tracing,
    log,
  });
  const { chains, reports } = following;
  const duties = createDuties(config, {
    store,
    holder,
    senders,
    addedUrls,
    reports,
    invariants,
    disk,
    clientCertificate,
    kept,
    log,
  });

  const app = createApi(config, {
    ...callers,
    sealed,
    senders,
    following,
    live,
    waitingReads,
    kept,
    retries,
    metrics,
    readiness,
    log,
  });
  if (roles.includes('api')) prepareApi(chains.families);
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    serverOptions: { maxHeaderSize: MAX_HEADER_BYTES },
  }) as Server;
  await listen(server, config.port, config.host);
  const { port } = server.address() as AddressInfo;

  // Chains start first, so that their rules load while the other parts start.
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
      return Object.fromEntries(ids.map((id, n) => [id, found[n]?.byCode ?? {}]));
    },
    heldDeliveries: () => store.countHeld(),
    uncertainBlocks: () => store.countUncertain(),
    pendingStates: () => store.countPendingStates(),
    children: () => store.countChildrenByChain(),
    waitingReads: waitingReads.count,
    destinations: () => store.countDestinations(),
    feedLags: () => store.listFeedLags(),
    violations: invariants.counts,
    chainsRead: () => chains.all.filter(({ leaseState }) => leaseState === 'holder').length,
    isReady: async () => (await readiness.read()).length === 0,
    diskUsedRatio: () => disk?.usedRatio,
    clientCertificateExpiry: () => clientCertificate?.expiresAt(),
  });
  await reports.start();
  await delivery?.deliver.start();
  delivery?.replays.start();
  for (const duty of duties) duty.start();
  readiness.started();
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  const life = createLifecycleLog({ url, roles, ledger: store.place }, log);
  life.started(reports.list().map(({ id }) => id));

  const shutDown = async (): Promise<void> => {
    const logStopped = life.stopping(delivery?.deliver.inFlight() ?? 0);
    readiness.stopping();
    for (const watcher of watchers) watcher.stop();
    metrics.stop();
    live.close();
    waitingReads.close();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    await Promise.all([chains.stop(), delivery?.replays.stop()]);
    await Promise.all([
      delivery?.deliver.stop(DRAIN_MS),
      ...duties.map((duty) => duty.stop()),
      reports.stop(),
    ]);
    if (delivery === undefined) await senders.sender.close();
    server.closeAllConnections();
    await closed;
    await store.close();
    await tracing.stop();
    logStopped();
  };
  let stopped: Promise<void> | undefined;
  return {
    url,
    get secret() {
      return settings.read().secretKey;
    },
    newApiKey,
    stop: () => (stopped ??= shutDown()),
  };
}

/** The waits between attempts, in milliseconds. */
interface Retries {
  schedule: readonly number[];
  /** Wait before the fast retry, which precedes the schedule; undefined for no fast retry. */
  fastRetryMs: number | undefined;
}

type Sealed = Awaited<ReturnType<typeof openSealed>>;
type Following = Awaited<ReturnType<typeof createFollowing>>;

/** Opens the vault, and the parts that read and write encrypted values in the ledger. */
async function openSealed(store: Store, config: Config, log: Log, watchers: Watcher[]) {
  const vault = await openVault(store, config, log);
  const watched = <W extends Watcher>(watcher: W): W => {
    watchers.push(watcher);
    return watcher;
  };
  return {
    vault,
    store,
    endpoints: createEndpoints(vault),
    streamSecrets: createStreamSecrets(store, vault),
    settings: watched(await openSettings(store, vault, config.secret)),
    addedUrls: watched(await openAddedUrls(store, vault, log)),
    keyPairs: watched(await openKeyPairs(store, vault, log)),
  };
}

/** Creates the parts that deliver due webhooks and run replays. */
function createDelivery({
  sealed: { store, endpoints, streamSecrets },
  senders: { sender, hostPace, createIsolation },
  retries,
  metrics,
  readiness,
  tracing,
  log,
}: {
  sealed: Sealed;
  senders: Senders;
  retries: Retries;
  metrics: Metrics;
  readiness: Readiness;
  tracing: Tracing;
  log: Log;
}) {
  const deliver = createDeliverer({
    store,
    sender,
    isolation: createIsolation(),
    log,
    ...retries,
    hostPace,
    onAttempts: metrics.recordAttempts,
    onLostLeases: metrics.recordLostLeases,
    onLostOutcomes: metrics.recordLostOutcomes,
    onLocalFailure(cause) {
      metrics.recordLocalFailure(cause);
      readiness.recordLocalFailure(cause);
    },
    tracing,
    openEndpoint: (delivery) => endpoints.open(streamOf(delivery.streamId), delivery),
    openSecrets: ({ streamId, secrets, claimedAt }) =>
      streamSecrets.open(streamOf(streamId), secrets, claimedAt),
  });
  const replays = createReplays({
    store,
    log,
  });
  return { deliver, replays };
}

/** Creates the chains that this process follows, and the reports on the chains of all processes. */
async function createFollowing(
  config: Config,
  {
    sealed: { store, addedUrls },
    senders: { nodeGuard },
    holder,
    disk,
    metrics,
    tracing,
    log,
  }: {
    sealed: Sealed;
    senders: Senders;
    holder: LeaseHolder;
    disk: DiskWatch | undefined;
    metrics: Metrics;
    tracing: Tracing;
    log: Log;
  },
) {
  // A process with the `api` role needs nodes for its calls, even if it reads no chain.
  const { roles } = config;
  const isReading = roles.includes('ingest') || roles.includes('api');
  store.queueChanges.on(metrics.recordSetAside);
  const chains = createChains(
    {
      store,
      holder,
      nodeGuard,
      log,
      tracing,
      onReorg: metrics.recordReorg,
      refuseBlocks: () => disk?.problem,
      confirmedHeights: (chain) => reports.confirmedHeights(chain),
    },
    (dependencies) => openFamilies(config, dependencies),
  );
  const reports: ChainReports = createChainReports({ store, log, own: chains });
  if (isReading) {
    const follow = () => chains.follow(addedUrls.read());
    await follow();
    addedUrls.onChange(() => {
      follow().catch((error: unknown) => {
        log.error('failed to follow changed nodes', { error: describeError(error) });
      });
    });
  }
  return { chains, reports };
}

function createApi(
  config: Config,
  {
    sealed: { store, endpoints, streamSecrets, settings, addedUrls, keyPairs },
    senders: { guard, nodeGuard, sender, hostPace, createTestSender },
    following: { chains, reports },
    retries,
    metrics,
    readiness,
    ...parts
  }: {
    sealed: Sealed;
    senders: Senders;
    following: Following;
    retries: Retries;
    metrics: Metrics;
    readiness: Readiness;
  } & Pick<AppNeeds, 'auth' | 'keyRing' | 'live' | 'waitingReads' | 'kept' | 'log'>,
) {
  return createApp({
    ...parts,
    store,
    endpoints,
    streamSecrets,
    settings,
    version: VERSION,
    commit: readCommit(),
    environment: config.environment ?? 'prod',
    servesApi: config.roles.includes('api'),
    isOurHost: createHostCheck(config.host, config.allowHosts),
    corsOrigins: config.corsOrigins,
    consoleFolder: config.consoleFolder,
    docsFolder: config.docsFolder,
    hidesSecrets: config.hideSecrets,
    configured: config,
    configuredNodes: chains.configured,
    nodesSettled: chains.settled,
    addedUrls,
    keyPairs,
    allowsNodeChanges: config.allowNodeChanges,
    testNode: createNodeTest(nodeGuard, { openNode, findChain }),
    testAlertUrl: createAlertUrlTest({ guard, sender }),
    readMetrics: () => metrics.read(),
    whyNotReady: () => readiness.read(),
    chains: reports.list,
    callsOf: (chain) => chains.get(chain)?.calls,
    ...toApiParts(chains.families),
    explorers: { ...EXPLORERS, ...config.explorers },
    hasSource: reports.isRead,
    whyDown(chain) {
      const report = reports.find(chain);
      return report?.state === 'down' ? report.message : undefined;
    },
    // Processes of an earlier version do not report it.
    lacks: (chain) => reports.find(chain)?.lacks ?? [],
    whyUnread: (chain, streamId) => reports.find(chain)?.failingReads?.[streamId],
    maxTimeoutSeconds: config.maxTimeoutSeconds,
    maxChildren: config.maxChildren,
    headersFor: sender.headersFor,
    refuseUrl: (url) => sender.destinationOf(url.href).refuse(url),
    testWebhook: config.testWebhook
      ? createTestWebhook({ sender, hostPace, maxPerHost: config.maxPerHost })
      : () => Promise.resolve(undefined),
    copies: createCopySender({
      createSender: createTestSender,
      hostPace,
      maxPerHost: config.maxPerHost,
    }),
    fastRetryMs: retries.fastRetryMs,
    remainingWaitsMs: (attempts, fastRetried, own = retries.schedule) =>
      remainingWaitsMs(own, attempts, fastRetried),
  });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new CallerError('port_in_use', `Port ${port} of ${host} is already in use`)
          : error,
      );
    });
    server.listen(port, host, () => resolve());
  });
}
