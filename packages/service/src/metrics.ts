/** What the service counts of itself, for Prometheus: `docs/operations.md` says what each means. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { DeliverySummary } from '@sluice/kit/contract';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { LocalFailure } from './deliver/localFailure.ts';
import type { ChainReport, ViolationKind } from './store/store.ts';

export interface Metrics {
  /** Deliveries of which an attempt ended just now. */
  noteAttempts(deliveries: readonly DeliverySummary[]): void;
  /** Deliveries that were created, changed or cancelled: those set aside are counted. */
  noteSetAside(deliveries: readonly DeliverySummary[]): void;
  noteReorg(chain: string, depth: number): void;
  noteLostLeases(count: number): void;
  /** Attempts whose outcome could not be recorded: the receiver may be asked again. */
  noteLostOutcomes(count: number): void;
  /** An attempt that failed in this process and not at its receiver. */
  noteLocalFailure(cause: LocalFailure): void;
  /** An attempt that the address guard refused. */
  noteBlockedAddress(reason: string): void;
  /** What is so now is read when it is asked for. */
  watch(sources: MetricSources): void;
  /** In the text format of Prometheus. */
  read(): Promise<{ contentType: string; text: string }>;
  stop(): void;
}

export interface MetricSources {
  chains(): ChainReport[];
  inFlight(): number;
  /** Streams whose receivers fail or ask for patience. */
  breakers(): Readonly<Record<string, number>>;
  /** Unix milliseconds since when the oldest delivery has been due; null while none is. */
  oldestDue(): Promise<number | null>;
  /** Milliseconds since the oldest transaction of the database began; null where there is none. */
  oldestTransactionAge(): Promise<number | null>;
  /** Whether the process is fit for traffic, as `/ready` says. */
  isReady(): Promise<boolean>;
  /** Of the ledger's disk; undefined where it is another machine's. */
  diskUsedRatio(): number | undefined;
  /** The number of blocks of each chain that were accepted unverified. */
  unverifiedBlocks(): Promise<Readonly<Record<string, number>>>;
  /** What the ledger contradicts itself in. */
  violations(): Readonly<Record<ViolationKind, number>>;
}

/** From a receiver next door to one that took the whole retry schedule. */
const LATENCY_BUCKETS_S = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600, 3600, 86_400];
const REORG_BUCKETS = [1, 2, 3, 5, 8, 12, 32, 64, 128, 256];
const NANOSECONDS = 1e9;

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  /** A value that is read when it is asked for. */
  const addGauge = (
    name: string,
    help: string,
    read: (gauge: Gauge) => void | Promise<void>,
    labelNames: string[] = [],
  ): void => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers,
      // While the ledger is away the rest is to be read all the more.
      async collect() {
        try {
          await read(gauge);
        } catch {
          gauge.remove();
        }
      },
    });
  };

  const attempts = new Counter({
    name: 'delivery_attempts_total',
    help: 'HTTP attempts, by how they ended and the first digit of the status',
    labelNames: ['result', 'code_class'],
    registers,
  });
  const latency = new Histogram({
    name: 'delivery_latency_seconds',
    help: 'From the creation of a delivery to its 2xx',
    buckets: LATENCY_BUCKETS_S,
    registers,
  });
  const lostLeases = new Counter({
    name: 'delivery_leases_expired_total',
    help: 'Leases that ran out: a process died with deliveries under way',
    registers,
  });
  const lostOutcomes = new Counter({
    name: 'delivery_duplicates_suspected_total',
    help: 'Attempts whose lease ran out before they were recorded: their receivers may be asked again',
    registers,
  });
  const blocked = new Counter({
    name: 'ssrf_blocked_total',
    help: 'Attempts that were not made since their address is private, by where that showed',
    labelNames: ['reason'],
    registers,
  });
  const localFailures = new Counter({
    name: 'delivery_local_failures_total',
    help: 'Attempts that failed in this process and not at the receiver, by cause',
    labelNames: ['cause'],
    registers,
  });
  const setAside = new Counter({
    name: 'deliveries_set_aside_total',
    help: 'Deliveries quarantined before an attempt: a record over --max-webhook-bytes, or a body the ledger refuses',
    registers,
  });
  const reorgs = new Histogram({
    name: 'reorg_depth',
    help: 'Blocks that left a chain at once',
    labelNames: ['chain'],
    buckets: REORG_BUCKETS,
    registers,
  });
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  addGauge('event_loop_lag_seconds', '99th percentile since the last reading', (gauge) => {
    gauge.set(loop.percentile(99) / NANOSECONDS);
    loop.reset();
  });

  return {
    noteAttempts(deliveries) {
      for (const { state, status, createdAt, updatedAt } of deliveries) {
        const succeeded = state === 'succeeded';
        attempts.inc({
          result: succeeded ? 'succeeded' : 'failed',
          code_class: status === null ? 'none' : `${Math.floor(status / 100)}xx`,
        });
        if (succeeded) latency.observe((updatedAt - createdAt) / 1000);
      }
    },
    noteSetAside: (deliveries) =>
      setAside.inc(deliveries.filter(({ state }) => state === 'quarantined').length),
    noteReorg: (chain, depth) => reorgs.observe({ chain }, depth),
    noteLostLeases: (count) => lostLeases.inc(count),
    noteLostOutcomes: (count) => lostOutcomes.inc(count),
    noteLocalFailure: (cause) => localFailures.inc({ cause }),
    noteBlockedAddress: (reason) => blocked.inc({ reason }),
    watch(sources) {
      addGauge('delivery_inflight', 'Attempts under way', (gauge) => {
        gauge.set(sources.inFlight());
      });
      addGauge(
        'endpoint_breaker_state',
        'Streams whose receivers fail and are asked seldom, or ask for patience',
        (gauge) => {
          for (const [state, count] of Object.entries(sources.breakers())) {
            gauge.set({ state }, count);
          }
        },
        ['state'],
      );
      addGauge(
        'delivery_queue_age_seconds',
        'How long the oldest delivery that is due or waits for enrichment has waited; 0 while none does',
        async (gauge) => {
          const since = await sources.oldestDue();
          gauge.set(since === null ? 0 : Math.max(0, Date.now() - since) / 1000);
        },
      );
      addGauge(
        'outbox_invariant_violations',
        'Rows of the ledger that contradict each other, as of the last look; 0 always',
        (gauge) => {
          for (const [kind, count] of Object.entries(sources.violations())) {
            gauge.set({ kind }, count);
          }
        },
        ['kind'],
      );
      addGauge(
        'db_oldest_xmin_age_seconds',
        'How long the oldest transaction keeps PostgreSQL from cleaning up; 0 on SQLite',
        async (gauge) => gauge.set(((await sources.oldestTransactionAge()) ?? 0) / 1000),
      );
      addGauge('service_ready', '1 while the process is fit for traffic', async (gauge) =>
        gauge.set((await sources.isReady()) ? 1 : 0),
      );
      if (sources.diskUsedRatio() !== undefined) {
        addGauge('disk_used_ratio', 'Of the disk of the ledger, on SQLite', (gauge) =>
          gauge.set(sources.diskUsedRatio()!),
        );
      }
      addGauge(
        'chain_head_lag_blocks',
        'Blocks between the head of the nodes and what is committed',
        (gauge) => {
          for (const { id, head, checkpoint } of sources.chains()) {
            if (head !== null && checkpoint !== null) {
              gauge.set({ chain: id }, Math.max(0, head - checkpoint));
            }
          }
        },
        ['chain'],
      );
      addGauge(
        'chain_up',
        '1 while the chain is live or catching up',
        (gauge) => {
          for (const { id, state } of sources.chains()) {
            gauge.set({ chain: id }, state === 'live' || state === 'catching-up' ? 1 : 0);
          }
        },
        ['chain'],
      );
      addGauge(
        'chain_unverified_blocks',
        'Blocks that were accepted although not everything about them could be verified',
        async (gauge) => {
          for (const [chain, blocks] of Object.entries(await sources.unverifiedBlocks())) {
            gauge.set({ chain }, blocks);
          }
        },
        ['chain'],
      );
      addGauge(
        'rpc_disagreement_total',
        'Heights at which a node had another block than the others, since the start',
        (gauge) => {
          for (const { id, providers } of sources.chains()) {
            for (const { name, disagreements } of providers) {
              gauge.set({ chain: id, provider: name }, disagreements);
            }
          }
        },
        ['chain', 'provider'],
      );
    },
    async read() {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
    stop: () => loop.disable(),
  };
}
