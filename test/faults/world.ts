/**
 * The setup of a fault test: a scripted chain and receiver, a `sluice serve` process on one of the
 * two stores, and an oracle that knows the expected deliveries.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@sluice/kit';
import type { ChainHealth, CreateEvmStream } from '@sluice/kit/contract';
import {
  type Postgres,
  type PostgresCluster,
  type PostgresOptions,
  type RecordedRequest,
  type RunningScriptedChain,
  type ScriptedBlock,
  type ScriptedTransaction,
  type SinkBehavior,
  scripted,
  startPostgres,
  startScriptedChain,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { expect } from 'vitest';
import { API_KEY, type ServeOptions, type Served, serve } from '../serve.ts';
import { type Receipts, checkInvariants } from './invariants.ts';
import {
  type Ledger,
  type LostLeases,
  createLostLeases,
  readPostgresLedger,
  readSqliteLedger,
} from './ledger.ts';

export const STORES = ['sqlite', 'postgres'] as const;
export type StoreName = (typeof STORES)[number];

/** Gnosis: a public network, because a local one starts over instead of halting. */
export const CHAIN = '0x64';
const CONFIRMATIONS = 2;

/** Topic of the event that every watched contract emits. */
const TOPIC = '0x00000000000000000000000000000000000000000000000000000000000fa017';
const SHORT_SCHEDULE = fileURLToPath(new URL('shortSchedule.ts', import.meta.url));
const SETTLE_MS = Number(process.env['FAULT_SETTLE_MS'] ?? 240_000);
/** Interval of the checks, each of which reads the complete ledger. */
const CHECK_MS = 250;
/**
 * Maximum time until the service's own integrity checks report no violations; they run once a
 * minute.
 */
const OWN_CHECK_MS = 90_000;

/** A stream that watches a separate address and has a separate path at the receiver. */
export interface Watch {
  readonly streamId: string;
  readonly address: `0x${string}`;
  readonly path: string;
  /** The first block that the stream is matched against. */
  readonly from: bigint;
  readonly phases: readonly ('unconfirmed' | 'confirmed')[];
}

export type ReceiverBehavior = SinkBehavior | ((request: RecordedRequest) => SinkBehavior);

export interface WorldOptions {
  /** Additional flags of `sluice serve`, after the flags for the ledger and the chain. */
  args?: readonly string[];
  serve?: ServeOptions;
  postgres?: PostgresOptions;
  /** Additional nodes of the chain. */
  nodes?: readonly RunningScriptedChain[];
  /** PostgreSQL cluster to use instead of a server that the world starts. */
  cluster?: PostgresCluster;
  /**
   * Called once the PostgreSQL server runs. Returns the database URL for the service, such as the
   * URL of a proxy.
   */
  onPostgres?: (postgres: Postgres) => Promise<string>;
  /** Data folder of the SQLite ledger. Default: a temporary folder. */
  folder?: string;
  /**
   * Whether to divide the waits of the standard schedule by 240 (`shortSchedule.ts`).
   * Default: true.
   */
  shortSchedule?: boolean;
}

export interface FaultWorld {
  readonly chain: RunningScriptedChain;
  readonly ledger: Ledger;
  /** The PostgreSQL server that the world started; undefined with SQLite or with `cluster`. */
  readonly postgres: Postgres | undefined;
  /** The current service process, which `start` replaces. */
  readonly service: Served;
  readonly receiver: {
    readonly url: string;
    /** All requests, oldest first. */
    readonly requests: readonly RecordedRequest[];
    /**
     * Sets the responses for a path. A list has one response per request, and the last one repeats.
     * Default: 200.
     */
    respond(
      path: string,
      behavior: ReceiverBehavior | readonly [ReceiverBehavior, ...ReceiverBehavior[]],
    ): void;
    requestsOf(watch: Watch): RecordedRequest[];
  };
  client(): ReturnType<typeof createClient>;
  /** Returns the state of the chain. */
  health(): Promise<Pick<ChainHealth, 'state' | 'message' | 'checkpoint'>>;
  /** Returns the values of the lines of `/metrics` that match the pattern. */
  metrics(pattern: RegExp): Promise<number[]>;
  /**
   * Creates a stream that watches a new address. Its webhooks go to `url`, by default to a new path
   * of the receiver.
   */
  watch(name: string, options?: Partial<CreateEvmStream> & { url?: string }): Promise<Watch>;
  /**
   * Mines blocks (default: one), each with one transaction and one log per watch, and returns them.
   */
  mine(watches: readonly Watch[], blocks?: number): ScriptedBlock[];
  /** Returns the transactions that `mine` puts into a block. */
  transactionsOf(watches: readonly Watch[]): ScriptedTransaction[];
  readonly lostLeases: LostLeases;
  /** Kills the service with SIGKILL and records its lost leases. */
  kill(): Promise<void>;
  start(options?: WorldOptions): Promise<void>;
  /**
   * Waits until all invariants hold for these streams, and the service's own integrity checks
   * report no violations; throws after a timeout.
   */
  holds(watches: readonly Watch[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startWorld(
  store: StoreName,
  options: WorldOptions = {},
): Promise<FaultWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'));
  const data = options.folder ?? join(folder, 'data');
  const { cluster } = options;
  const postgres =
    store === 'postgres' && cluster === undefined
      ? await startPostgres(options.postgres)
      : undefined;
  const chain = await startScriptedChain({ chainId: Number(CHAIN) });
  const databaseUrl =
    cluster?.url ?? (postgres && ((await options.onPostgres?.(postgres)) ?? postgres.url));
  const ledger =
    databaseUrl === undefined
      ? readSqliteLedger(data)
      : readPostgresLedger(() => cluster?.primary.url ?? pastProxy(databaseUrl, postgres!));
  const receiver = await startReceiver();
  const oracle = createOracle(chain);

  let current = options;
  const launch = (): Promise<Served> => {
    const urls = [chain, ...(current.nodes ?? [])].map(({ url }) => url);
    return serve(
      [
        ...(databaseUrl === undefined ? ['--data', data] : ['--database-url', databaseUrl]),
        ...urls.flatMap((url) => [
          '--chain',
          `${CHAIN}=${url},confirmations=${CONFIRMATIONS},poll=50`,
        ]),
        '--no-test-webhook',
        ...(current.args ?? []),
      ],
      {
        ...current.serve,
        nodeFlags: [
          ...(current.serve?.nodeFlags ?? []),
          ...(current.shortSchedule === false ? [] : ['--import', SHORT_SCHEDULE]),
        ],
      },
    );
  };
  let service = await launch();
  let watches = 0;

  const world: FaultWorld = {
    chain,
    ledger,
    postgres,
    get service() {
      return service;
    },
    receiver,
    client: () => createClient({ apiKey: API_KEY, baseUrl: service.url }),
    async health() {
      const headers = { 'x-api-key': API_KEY };
      const response = await fetch(`${service.url}/sluice/chains`, { headers });
      return ((await response.json()) as { result: [ChainHealth] }).result[0];
    },
    metrics: (pattern) => readMetrics(service.url, pattern),
    async watch(name, { url, ...more } = {}) {
      watches++;
      const address = `0x${watches.toString(16).padStart(40, 'a')}` as const;
      const path = `/${name}-${watches}`;
      const client = world.client();
      const { id } = await client.streams.create({
        webhookUrl: url ?? receiver.url + path,
        description: name,
        tag: name,
        chainIds: [CHAIN],
        includeNativeTxs: true,
        includeContractLogs: true,
        ...more,
      });
      const { effectiveFrom } = await client.streams.addAddress(id, address);
      return {
        streamId: id,
        address,
        path,
        from: BigInt(effectiveFrom![CHAIN]!),
        phases: more.deliver === 'confirmed' ? ['confirmed'] : ['unconfirmed', 'confirmed'],
      };
    },
    transactionsOf: (watched) =>
      watched.map(({ address }) => scripted.log({ address, topics: [TOPIC] })),
    mine: (watched, blocks = 1) =>
      Array.from({ length: blocks }, () =>
        chain.mine({ transactions: world.transactionsOf(watched) }),
      ),
    lostLeases: createLostLeases(ledger),
    async kill() {
      await service.kill();
      await world.lostLeases.note();
    },
    async start(changed) {
      if (changed !== undefined) current = { ...current, ...changed };
      service = await launch();
    },
    async holds(watched) {
      let violations: string[] = [];
      const look = async (): Promise<boolean> => {
        try {
          const verdict = await checkInvariants({
            ledger,
            received: receiver.receipts,
            ...oracle.expect(watched),
            leasesLost: world.lostLeases.byDelivery,
            survivors: [service],
          });
          ({ violations } = verdict);
        } catch (error) {
          violations = [`the ledger cannot be read: ${String(error)}`];
        }
        return violations.length === 0;
      };
      await until('the invariants hold', look, SETTLE_MS, CHECK_MS).catch(() => {
        throw new Error(
          `${violations.length} violations:\n${violations.slice(0, 20).join('\n')}\n` +
            `checkpoint and head: ${chain.head.number}\n${service.output().slice(-4000)}`,
        );
      });
      // A change of the clock may make one integrity check fail; the next one, a minute later, must
      // pass.
      await until(
        'the integrity checks of the service find nothing',
        async () =>
          (await world.metrics(/^sluice_integrity_violations/)).every((count) => count === 0),
        OWN_CHECK_MS,
      );
    },
    async stop() {
      if (service.isRunning()) expect(await service.stop(), service.output().slice(-4000)).toBe(0);
      await receiver.close();
      await chain.stop();
      await postgres?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  // Waits for the first block. Before it, the service does not know from which block an address is
  // watched (`effectiveFrom`).
  await until(
    'the first block is committed',
    async () => (await world.health()).checkpoint !== null,
  );
  return world;
}

/** Returns the URL of the database itself, without the proxy. */
function pastProxy(databaseUrl: string, { port }: Postgres): string {
  const url = new URL(databaseUrl);
  url.port = String(port);
  return url.href;
}

async function readMetrics(url: string, pattern: RegExp): Promise<number[]> {
  const response = await fetch(`${url}/metrics`, { headers: { 'x-api-key': API_KEY } });
  const lines = (await response.text()).split('\n');
  return lines
    .filter((line) => pattern.test(line))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
}

async function startReceiver(): Promise<
  FaultWorld['receiver'] & {
    receipts: ReadonlyMap<string, Receipts>;
    close(): Promise<void>;
  }
> {
  const sink = await startWebhookSink();
  const behaviors = new Map<string, ReceiverBehavior[]>();
  const receipts = new Map<string, Receipts>();
  sink.respond((request) => {
    const queue = behaviors.get(request.path) ?? [200];
    const next = queue.length > 1 ? queue.shift()! : queue[0]!;
    const behavior = typeof next === 'function' ? next(request) : next;
    const { total, accepted } = receipts.get(request.id) ?? { total: 0, accepted: 0 };
    receipts.set(request.id, {
      total: total + 1,
      accepted: accepted + (isAcceptance(behavior) ? 1 : 0),
    });
    return behavior;
  });
  return {
    url: sink.url,
    requests: sink.requests,
    receipts,
    respond: (path, behavior) =>
      void behaviors.set(
        path,
        Array.isArray(behavior)
          ? [...(behavior as ReceiverBehavior[])]
          : [behavior as ReceiverBehavior],
      ),
    requestsOf: ({ path }) => sink.requests.filter((request) => request.path === path),
    close: sink.close,
  };
}

/** Returns whether the service counts a response as a success, which its status line decides. */
function isAcceptance(behavior: SinkBehavior): boolean {
  if (typeof behavior === 'number') return behavior >= 200 && behavior < 300;
  if ('silence' in behavior) return false;
  const { status = 200 } = behavior;
  return status >= 200 && status < 300;
}

/**
 * Derives from the chain, independently of the service, which deliveries each stream must or may
 * have.
 */
function createOracle(chain: RunningScriptedChain) {
  const mined = new Map<string, { block: ScriptedBlock; times: number }>();
  chain.onHead((block) => {
    const times = (mined.get(block.hash)?.times ?? 0) + 1;
    mined.set(block.hash, { block, times });
  });
  const phase = (block: ScriptedBlock, name: string) => `${CHAIN}:${block.hash}:${name}`;

  return {
    expect(watches: readonly Watch[]) {
      const canonical = chain.canonical();
      const isFinal = (block: ScriptedBlock) =>
        block.number + BigInt(CONFIRMATIONS) <= chain.head.number;
      const expected = new Map(
        watches.map(({ streamId, address, from, phases }) => {
          const matching = canonical.filter(
            (block) => block.number >= from && block.transactions.some(({ to }) => to === address),
          );
          const wanted = matching.flatMap((block) =>
            phases
              .filter((each) => each === 'unconfirmed' || isFinal(block))
              .map((each) => phase(block, each)),
          );
          return [streamId, new Set(wanted)];
        }),
      );
      const onChain = new Set(canonical.map(({ hash }) => hash));
      const mayHave = new Set(
        [...mined.values()]
          .filter(({ block, times }) => times > 1 || !onChain.has(block.hash))
          .flatMap(({ block }) =>
            ['unconfirmed', 'confirmed', 'removed'].map((name) => phase(block, name)),
          ),
      );
      return { expected, mayHave };
    },
  };
}
