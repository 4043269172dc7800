/** The parts of the service, made once and handed to each other. Only here do they meet. */
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { TEST_WEBHOOK } from '@sluice/kit/contract';
import { checkConfig, type ServiceConfig } from './config.ts';
import { createDeliver } from './deliver/deliver.ts';
import { createAddressGuard } from './deliver/guard.ts';
import { createSender } from './deliver/send.ts';
import { createApp } from './http/app.ts';
import { createAuth, hashApiKey } from './http/auth.ts';
import { createLive } from './http/live.ts';
import { createEvmSource } from './ingest/evm.ts';
import { type Ingest, type Matcher, createIngest } from './ingest/ingest.ts';
import { FilterError } from './match/filter.ts';
import { matchBlock, transactionHashesOf } from './match/match.ts';
import { createSelection } from './match/selection.ts';
import { createStreamIndex } from './match/streamIndex.ts';
import { toWebhookParts } from './match/webhook.ts';
import { type Log, createLog } from './observe.ts';
import { splitBody } from './store/body.ts';
import { openPostgresStore } from './store/postgres.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { Store } from './store/store.ts';

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
const ROLL_UP_MS = 2_000;

/**
 * Starts the service and answers once it listens. An unreachable chain is no reason not to start.
 *
 * @throws ConfigError when a setting cannot be used; an Error when the ledger cannot be opened or
 *   the port is taken.
 */
export async function startService(
  config: ServiceConfig,
  log: Log = createLog((line) => process.stderr.write(line)),
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
    throw error;
  }
}

async function startWith(store: Store, config: ServiceConfig, log: Log): Promise<Service> {
  const { apiKeyHash, newApiKey } = await findApiKey(store, config.apiKey);
  const secret = await findSecret(store, config.secret);
  const live = createLive();
  const guard = createAddressGuard({ allowPrivate: config.allowPrivateEndpoints });
  const sender = createSender({ guard, secret: () => secret, region: REGION });

  // One process owns a SQLite ledger: whoever held a lease before is gone.
  if (store.engine === 'sqlite') await store.releaseLeases('all');

  const deliver = createDeliver({
    store,
    sender,
    log,
    schedule: config.schedule,
    onChange: (deliveries) => {
      for (const delivery of deliveries) live.publish({ type: 'delivery', delivery });
    },
  });

  const matcher = createMatcher(store, config.spamLists ?? {});
  const ingests = config.chains.map((chain): Ingest =>
    createIngest(
      {
        chain: chain.id,
        confirmations: chain.confirmations,
        resetWhenReplaced: chain.resetWhenReplaced,
      },
      {
        source: createEvmSource({ chain: chain.id, urls: chain.urls, pollMs: chain.pollMs }),
        store,
        matcher,
        log,
        listener: {
          onDeliveries(deliveries) {
            deliver.notice(deliveries);
            for (const delivery of deliveries) live.publish({ type: 'delivery', delivery });
          },
          onBlock: (chainId, block, head) => live.publish({ type: 'block', chainId, block, head }),
          onReorg: (chainId, ancestor) =>
            live.publish({ type: 'reorg', chainId, blockNumber: ancestor.number }),
          onHealth: (health) => live.publish({ type: 'chain', chain: health }),
        },
      },
    ),
  );
  for (const { network } of config.aptos) {
    log.warn('this version does not read Aptos yet: --aptos has no effect', {
      network,
    });
  }

  const app = createApp({
    store,
    auth: createAuth(apiKeyHash),
    live,
    log,
    version: VERSION,
    consoleFolder: config.consoleFolder,
    chains: () => ingests.map((ingest) => ingest.health()),
    checkFilters(options) {
      try {
        createSelection(options);
        return [];
      } catch (error) {
        if (error instanceof FilterError) return [error];
        throw error;
      }
    },
    hasSource: (chain) => ingests.some((ingest) => ingest.chain === chain),
    lacksTraces: (chain) => ingests.some((ingest) => ingest.chain === chain && ingest.lacksTraces),
    refuseUrl: (url) => guard.refuse(url),
    async testWebhook(url) {
      const body = JSON.stringify(TEST_WEBHOOK);
      // A fresh id each time, so that a captured test cannot be shown again as a new one.
      const id = crypto.randomUUID();
      const result = await sender.send({ url, id, body, queueSize: 0, recordsCharged: 0 });
      return result.error ?? undefined;
    },
    onChange: (streamId) => live.publish({ type: 'stream', streamId }),
    isOurHost: hostCheck(config.host),
  });

  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  await listen(server, config.port, config.host);
  const { port } = server.address() as AddressInfo;

  await deliver.start();
  for (const ingest of ingests) ingest.start();
  const rollUp = setInterval(() => {
    store
      .rollUpStats()
      .catch((error: unknown) => log.error('cannot roll up', { error: String(error) }));
  }, ROLL_UP_MS);

  let stopped: Promise<void> | undefined;
  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
    secret,
    newApiKey,
    stop: () =>
      (stopped ??= (async () => {
        clearInterval(rollUp);
        live.close();
        const closed = new Promise((resolve) => server.close(resolve));
        server.closeIdleConnections();
        await Promise.all(ingests.map((ingest) => ingest.stop()));
        await deliver.stop(DRAIN_MS);
        server.closeAllConnections();
        await closed;
        await store.close();
      })()),
  };
}

/** What the contract calls the region of the sender; a self-hosted service has one. */
const REGION = 'us-east-1';

function createMatcher(
  store: Store,
  spamLists: Readonly<Record<string, ReadonlySet<string>>>,
): Matcher {
  const index = createStreamIndex();
  let refreshing: Promise<number> | undefined;
  return {
    // Chains share the index; those that ask while it is read wait for that same reading.
    refresh: () =>
      (refreshing ??= (async () => {
        try {
          const changes = await store.readRules(index.revision);
          if (changes.revision !== index.revision) index.apply(changes);
          return index.revision;
        } finally {
          refreshing = undefined;
        }
      })()),
    needs: (chain) => index.needs(chain),
    match: (chain, block) =>
      matchBlock(index, chain, block, spamLists[chain]).map((match) => {
        const { head, tail } = toWebhookParts(chain, block, match, spamLists[chain]);
        return {
          streamId: match.stream.record.id,
          tag: match.stream.record.tag,
          deliver: match.stream.record.deliver,
          logs: match.logs.length,
          transactions: match.transactions.length,
          internalTransactions: match.internalTransactions.length,
          transactionHashes: transactionHashesOf(match),
          enrichment: null,
          ...splitBody(head, tail),
        };
      }),
  };
}

async function findApiKey(
  store: Store,
  given: string | undefined,
): Promise<{ apiKeyHash: string; newApiKey: string | undefined }> {
  if (given !== undefined) return { apiKeyHash: hashApiKey(given), newApiKey: undefined };
  const stored = await store.readSetting('apiKeyHash');
  if (stored !== undefined) return { apiKeyHash: stored, newApiKey: undefined };
  const newApiKey = `sluice_${randomBytes(32).toString('base64url')}`;
  await store.saveSetting('apiKeyHash', hashApiKey(newApiKey));
  return { apiKeyHash: hashApiKey(newApiKey), newApiKey };
}

async function findSecret(store: Store, given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
  const stored = await store.readSetting('streamsSecret');
  if (stored !== undefined) return stored;
  const secret = randomBytes(32).toString('hex');
  await store.saveSetting('streamsSecret', secret);
  return secret;
}

/** On loopback only its own names are ours; elsewhere the names are the operator's to choose. */
function hostCheck(host: string): (header: string) => boolean {
  const isLoopback = /^(127\.|localhost$|::1$)/.test(host);
  if (!isLoopback) return () => true;
  return (header) => /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?$/i.test(header);
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(
              `Port ${port} of ${host} is in use: choose another with --port, or 0 for any free one`,
            )
          : error,
      );
    });
    server.listen(port, host, () => resolve());
  });
}
