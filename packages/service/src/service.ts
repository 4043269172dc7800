/** The parts of the service, made once and handed to each other. Only here do they meet. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import {
  CONTRACT_SCHEDULE_MS,
  QUICK_RETRY_MS,
  type Replay,
  readInboxName,
  TEST_APTOS_WEBHOOK,
  TEST_WEBHOOK,
} from '@sluice/kit/contract';
import { createAbiSource } from './chains/evm/abiSource.ts';
import { ROLES, type ServiceConfig, checkConfig } from './config.ts';
import { createDeliver } from './deliver/deliver.ts';
import { EVERYWHERE, createAddressGuard } from './deliver/send/guard.ts';
import { createHostPace } from './deliver/attempt.ts';
import { createReplays } from './deliver/replays.ts';
import { createIsolation } from './deliver/send/isolation.ts';
import { laterWaitsMs } from './deliver/outcomes.ts';
import { createSender } from './deliver/send/send.ts';
import { createApp } from './api/app.ts';
import { createAuth } from './api/auth/auth.ts';
import { openKeyRing } from './api/auth/keyRing.ts';
import { createHostCheck, isLoopback } from './api/auth/hosts.ts';
import { findNameChain } from './api/calls/chains/names.ts';
import { createLive } from './api/live.ts';
import { createPeerReader } from './api/auth/peer.ts';
import { createRateLimits } from './api/auth/rateLimits.ts';
import { createSessions } from './api/auth/sessions.ts';
import { checkPlan } from './enrich/evm/plan.ts';
import { unpackNames } from './chains/evm/ensNames.ts';
import { FilterError } from './match/evm/filter.ts';
import { createSelection, unreadEvents } from './match/evm/selection.ts';
import { type DiskWatch, watchDisk } from './operate/disk.ts';
import { createChainReports } from './chains/chainReports.ts';
import { createChains } from './chains/chains.ts';
import { createDuty } from './operate/duty.ts';
import { startHousekeeping } from './operate/housekeeping.ts';
import { createInbox } from './deliver/inbox.ts';
import { createInvariantCheck } from './operate/invariants.ts';
import { type Log, createLog, describeError } from './base/log.ts';
import { startNotifier } from './operate/alerts.ts';
import { createMetrics } from './operate/metrics.ts';
import { CallerError, hasCode } from './base/errors.ts';
import { createReadiness } from './operate/readiness.ts';
import { openTracing } from './base/openTracing.ts';
import { openSettings, resealSettings } from './secrets/settings.ts';
import { resealEndpoints, sealEndpoints } from './secrets/sealedEndpoints.ts';
import { createStreamSecrets, resealStreamSecrets } from './secrets/streamSecrets.ts';
import { type Vault, createVault, readMasterKeys } from './secrets/vault.ts';
import { openPostgresStore } from './store/engine/postgres/postgres.ts';
import { LEDGER_FILE, openSqliteStore } from './store/engine/sqlite/sqlite.ts';
import { explainDamage } from './store/engine/sqlite/sqliteDamage.ts';
import type { Store } from './store/store.ts';
import type { StreamOptions } from './store/streams/contract.ts';

export interface Service {
  /** `http://host:port`, with the port that was found. */
  readonly url: string;
  /** The streams secret that signs webhooks. */
  readonly secret: string;
  /** The API key that was generated now; undefined when one was given or already stored. */
  readonly newApiKey: string | undefined;
  /** Takes no more requests and blocks, lets attempts under way end, and closes the ledger. */
  stop(): Promise<void>;
}

export const VERSION = '0.1.0';

/** Longer than any attempt may take, so that none is cut by a shutdown. */
const DRAIN_MS = 17_000;
/** More than one client that waits for each answer can make. */
const CALLS_PER_SECOND = 500;
const DAY_MS = 24 * 3_600_000;
/** A caller waits for a test webhook: within its own deadline, with the time the receiver may take. */
const TEST_WAIT_MS = 5_000;
const MIN_FREE_BYTES = 512 * 1024 * 1024;

/**
 * Starts the service and answers once it listens. An unreachable chain is no reason not to start.
 *
 * @throws CallerError when a setting cannot be used, or the port, the folder or the database
 *   cannot be had.
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
  const kept = {
    deliveredMs: (config.retention?.deliveredDays ?? 7) * DAY_MS,
    undeliveredMs: (config.retention?.undeliveredDays ?? 30) * DAY_MS,
  };
  const vault = await openVault(ledger, config, log);
  const store = sealEndpoints(ledger, vault);
  const streamSecrets = createStreamSecrets(store, vault);
  const settings = await openSettings(store, vault, config.secret);
  const { keyRing, newApiKey } = await openKeyRing({ store, bootstrapKey: config.apiKey, log });
  const tracing = await openTracing(process.env, VERSION);
  const live = createLive(store.events);
  const metrics = createMetrics();
  const readiness = createReadiness(store, log, (chain) => reports.find(chain)?.message === '');
  const invariants = createInvariantCheck({
    store,
    log,
    keptMs: Math.min(kept.deliveredMs, kept.undeliveredMs),
  });
  const allowCidrs = config.allowPrivateEndpoints ? EVERYWHERE : (config.allowCidrs ?? []);
  const guard = createAddressGuard({
    allowCidrs,
    onBlocked: metrics.noteBlockedAddress,
  });
  const signing = {
    secret: () => settings.read().secretKey,
    region: () => settings.read().region,
  };
  const inbox = createInbox({ store, secret: signing.secret });
  const { egressProxy } = config;
  const sender = createSender({ guard, inbox, egressProxy, ...signing });
  const hostPace = createHostPace(config.maxPerHost);
  const schedule = config.schedule ?? CONTRACT_SCHEDULE_MS;

  // What PostgreSQL has left is for its own machine to say.
  const disk: DiskWatch | undefined =
    store.engine === 'sqlite'
      ? await watchDisk(config.dataFolder, config.retention?.minFreeBytes ?? MIN_FREE_BYTES, log)
      : undefined;
  // One process owns a SQLite ledger: whoever held a lease or changed a list before is gone.
  if (store.engine === 'sqlite') {
    await store.endLeases();
    const { released, quarantined } = await store.releaseLeases('all');
    metrics.noteLostLeases(released + quarantined.length);
    if (released > 0) log.warn('leases of the process before were lost', { count: released });
    for (const { id, streamId } of quarantined) {
      log.error('delivery quarantined', { delivery: id, stream: streamId });
    }
    await store.cleanUpAddresses({ keepMs: Number.MAX_SAFE_INTEGER, staleMs: 0 });
  }

  const roles = config.roles ?? ROLES;
  const fastRetryMs = config.fastRetry === false ? undefined : QUICK_RETRY_MS;
  const deliver = roles.includes('deliver')
    ? createDeliver({
        store,
        sender,
        isolation: createIsolation({ allowCidrs, egressProxy, ...signing }),
        log,
        schedule,
        hostPace,
        fastRetryMs,
        onChange: metrics.noteAttempts,
        onLostLeases: metrics.noteLostLeases,
        onLostOutcomes: metrics.noteLostOutcomes,
        onLocalFailure(cause) {
          metrics.noteLocalFailure(cause);
          readiness.noteLocalFailure(cause);
        },
        tracing,
        openSecrets: ({ streamId, secrets, claimedAt }) =>
          streamSecrets.open(streamId, secrets, claimedAt),
      })
    : undefined;

  const showReplay = (replay: Replay): void => {
    // Its next step says it all again.
    store.announce({ type: 'replay', replay }).catch(() => {});
  };
  const replays =
    deliver &&
    createReplays({
      store,
      log,
      onDue: deliver.notice,
      async onReplay(id) {
        const replay = await store.readReplay(id);
        if (replay !== undefined) showReplay(replay);
      },
    });

  // A process of the API alone reads its nodes for what it is asked; it follows no chain.
  const isReading = roles.includes('ingest') || roles.includes('api');
  const chains = createChains(isReading ? config : { ...config, chains: [], aptos: [] }, {
    store,
    log,
    tracing,
    onReorg: metrics.noteReorg,
    onDeliveries(deliveries) {
      metrics.noteSetAside(deliveries);
      deliver?.notice(deliveries);
    },
    refuseBlocks: () => disk?.problem,
    confirmedUpTo: (chain) => reports.find(chain)?.confirmedUpTo ?? null,
  });
  const reports = createChainReports({ store, log, own: () => chains.all });

  const noteFailures = (address: string): void => {
    log.warn('too many wrong API keys', { address });
    store
      .appendAudit({ action: 'authFailures', keyId: '', address, target: '' })
      .catch((error: unknown) => {
        log.error('cannot write the audit log', { error: describeError(error) });
      });
  };

  const app = createApp({
    store,
    auth: createAuth({
      keyRing,
      sessions: createSessions(vault.derive('console sessions'), keyRing, store),
      readPeer: createPeerReader(config.trustProxy ?? []),
      limits: createRateLimits({
        callsPerSecond: config.rateLimit ?? CALLS_PER_SECOND,
        onFailures: noteFailures,
      }),
      mayListenInPlain: isLoopback(config.host),
    }),
    keyRing,
    streamSecrets,
    live,
    log,
    version: VERSION,
    environment: config.environment ?? 'prod',
    kept,
    fastRetryMs,
    laterWaitsMs: (attempts, fastRetried) => laterWaitsMs(schedule, attempts, fastRetried),
    servesApi: roles.includes('api'),
    readMetrics: () => metrics.read(),
    whyNotReady: () => readiness.read(),
    consoleFolder: config.consoleFolder,
    chains: reports.list,
    callsOf: chains.callsOf,
    abiSource: createAbiSource(config.abiUrls ?? {}),
    aptosCallsOf: chains.aptosCallsOf,
    checkOptions: (options) => [...checkSelection(options), ...checkPlan(options)],
    hasSource: reports.isRead,
    lacksTraces: (chain) => reports.find(chain)?.lacksTraces === true,
    unreadEvents,
    refuseUrl: async (url) =>
      readInboxName(url.href) === undefined ? guard.refuseResolved(url) : undefined,
    async testWebhook(family, endpoint) {
      if (config.testWebhook === false) return undefined;
      const webhook = family === 'evm' ? TEST_WEBHOOK : TEST_APTOS_WEBHOOK;
      const body = Buffer.from(JSON.stringify(webhook));
      // A fresh id each time, so that a captured test cannot be shown again as a new one.
      const id = crypto.randomUUID();
      const waitMs = hostPace.takeSoon(endpoint.url, TEST_WAIT_MS);
      if (waitMs === undefined) {
        return `webhooks already wait more than ${TEST_WAIT_MS / 1_000} s for this host (--max-per-host ${config.maxPerHost}): try again later`;
      }
      if (waitMs > 0) await wait(waitMs);
      const result = await sender.send({
        ...endpoint,
        ...{ id, body, queueSize: 0, recordsCharged: 0 },
      });
      return result.error ?? undefined;
    },
    onReplay: (delivery, isNew) => deliver?.notice(isNew ? [delivery] : []),
    onReplayChange(replay) {
      replays?.notice();
      showReplay(replay);
    },
    onStopped: (delivery) => deliver?.notice([delivery]),
    settings,
    hidesSecrets: config.hideSecrets === true,
    isOurHost: createHostCheck(config.host, config.allowHosts ?? []),
    corsOrigins: config.corsOrigins ?? [],
  });

  // Before anybody is answered, and only where a name can be asked for.
  if (roles.includes('api') && findNameChain(chains) !== undefined) unpackNames();
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  await listen(server, config.port, config.host);
  const { port } = server.address() as AddressInfo;

  metrics.watch({
    chains: reports.list,
    inFlight: () => deliver?.inFlight() ?? 0,
    breakers: () => deliver?.breakers() ?? {},
    oldestDue: () => store.readOldestDue(),
    oldestTransactionAge: () => store.readOldestTransactionAge(),
    async unverifiedBlocks() {
      const ids = reports.list().map(({ id }) => id);
      const found = await Promise.all(ids.map((id) => store.readUnverified(id)));
      return Object.fromEntries(ids.map((id, n) => [id, found[n]?.blocks ?? 0]));
    },
    violations: invariants.counts,
    isReady: async () => (await readiness.read()).length === 0,
    diskUsedRatio: () => disk?.usedRatio,
  });
  await reports.start();
  await deliver?.start();
  replays?.start();
  if (roles.includes('ingest')) chains.start();
  const housekeeping = createDuty({
    name: 'housekeeping',
    store,
    log,
    begin: () =>
      startHousekeeping({
        store,
        log,
        invariants,
        options: { ...kept, terminateAfterHours: config.terminateAfterHours },
      }),
  });
  housekeeping.start();
  const { notifyUrl } = config;
  const notifying =
    notifyUrl === undefined
      ? undefined
      : createDuty({
          name: 'notices',
          store,
          log,
          begin: () =>
            startNotifier({
              url: notifyUrl,
              store,
              // The operator's own URL, which may well be private.
              sender: createSender({
                guard: createAddressGuard({ allowCidrs: EVERYWHERE }),
                ...signing,
              }),
              chains: reports.list,
              diskFilling: () => disk?.filling,
              log,
            }),
        });
  notifying?.start();
  readiness.started();

  let stopped: Promise<void> | undefined;
  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
    get secret() {
      return settings.read().secretKey;
    },
    newApiKey,
    stop: () =>
      (stopped ??= (async () => {
        readiness.stopping();
        disk?.stop();
        metrics.stop();
        live.close();
        const closed = new Promise((resolve) => server.close(resolve));
        server.closeIdleConnections();
        await Promise.all([chains.stop(), replays?.stop()]);
        await Promise.all([
          deliver?.stop(DRAIN_MS),
          housekeeping.stop(),
          notifying?.stop(),
          reports.stop(),
        ]);
        if (deliver === undefined) await sender.close();
        settings.stop();
        server.closeAllConnections();
        await closed;
        await store.close();
        await tracing.stop();
      })()),
  };
}

/** Of all filters of a stream: what a log of another's contract may cost everyone is bounded. */
const MOST_COMPARISONS = 1_000;

function checkSelection(options: StreamOptions): Pick<FilterError, 'path' | 'message'>[] {
  try {
    const { comparisons } = createSelection(options);
    if (comparisons <= MOST_COMPARISONS) return [];
    const message = `should have at most ${MOST_COMPARISONS} comparisons in all: put values into one in or nin`;
    return [{ path: ['advancedOptions'], message }];
  } catch (error) {
    if (error instanceof FilterError) return [error];
    throw error;
  }
}

/**
 * What seals the ledger's secrets. With a new master key, everything is sealed anew before it is used.
 *
 * @throws CallerError when no master key can be read, or it is not the ledger's.
 */
async function openVault(store: Store, config: ServiceConfig, log: Log): Promise<Vault> {
  mkdirSync(config.dataFolder, { recursive: true, mode: 0o700 });
  const { keys, madeIn } = readMasterKeys(config);
  const vault = createVault(keys);
  const resealed =
    Number(await resealSettings(store, vault)) +
    (await resealStreamSecrets(store, vault)) +
    (await resealEndpoints(store, vault));
  if (resealed > 0) log.info('secrets sealed with the new master key', { count: resealed });
  if (madeIn !== undefined && store.engine === 'postgres') {
    log.warn('a master key was made: every process of this ledger needs it', { file: madeIn });
  }
  return vault;
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
