/** The service's metrics for Prometheus, as described in `docs/operations.md`. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { DeliverySummary } from '@sluice/kit/contract';
import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { LocalFailure } from '../deliver/send/localFailure.ts';
import { type MetricSources, createGauges, watchSources } from './gauges.ts';

export interface Metrics {
  /** Counts the last attempt of each delivery, and records the latency of each success. */
  recordAttempts(deliveries: readonly DeliverySummary[]): void;
  /**
   * Counts the quarantined deliveries among the given ones: deliveries that were created, enriched,
   * canceled or made due again.
   */
  recordSetAside(deliveries: readonly DeliverySummary[]): void;
  recordReorg(chain: string, depth: number): void;
  recordLostLeases(count: number): void;
  /**
   * Counts attempts that were not recorded because their lease had expired, so they may be
   * repeated.
   */
  recordLostOutcomes(count: number): void;
  /** Counts an attempt that failed in this process rather than at its receiver. */
  recordLocalFailure(cause: LocalFailure): void;
  /** Counts an attempt that the address guard rejected. */
  recordBlockedAddress(reason: string): void;
  /** Adds gauges with values that are read on collection. */
  watch(sources: MetricSources): void;
  /** Returns the metrics in the Prometheus text format. */
  read(): Promise<{ contentType: string; text: string }>;
  stop(): void;
}

/**
 * Upper bounds of the latency buckets in seconds, from a fast local receiver to a delivery that was
 * retried for a day.
 */
const LATENCY_BUCKETS_S = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600, 3600, 86_400];
const REORG_BUCKETS = [1, 2, 3, 5, 8, 12, 32, 64, 128, 256];
const NANOSECONDS = 1e9;

/** @param build version and commit of the service */
export function createMetrics(build: { version: string; commit: string }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const addGauge = createGauges(registers);
  addGauge(
    'sluice_build_info',
    'Version and commit of the service, and version of Node; the value is always 1',
    (gauge) => gauge.set({ ...build, node: process.versions.node }, 1),
    ['version', 'commit', 'node'],
  );

  const attempts = new Counter({
    name: 'sluice_delivery_attempts_total',
    help: 'HTTP attempts, by result and status class',
    labelNames: ['result', 'code_class'],
    registers,
  });
  const latency = new Histogram({
    name: 'sluice_delivery_latency_seconds',
    help: 'Time from the creation of a delivery to its 2xx',
    buckets: LATENCY_BUCKETS_S,
    registers,
  });
  const lostLeases = new Counter({
    name: 'sluice_delivery_leases_expired_total',
    help: 'Leases that expired: a process died with deliveries in flight',
    registers,
  });
  const lostOutcomes = new Counter({
    name: 'sluice_delivery_duplicates_suspected_total',
    help: 'Attempts whose lease expired before they were recorded: they may be sent again',
    registers,
  });
  const blocked = new Counter({
    name: 'sluice_ssrf_blocked_total',
    help: 'Refused targets of webhooks, added nodes and added alert URLs: a forbidden port, or a private address by its source',
    labelNames: ['reason'],
    registers,
  });
  const localFailures = new Counter({
    name: 'sluice_delivery_local_failures_total',
    help: 'Attempts that failed in this process rather than at the receiver, by cause',
    labelNames: ['cause'],
    registers,
  });
  const setAside = new Counter({
    name: 'sluice_deliveries_quarantined_total',
    help: 'Deliveries quarantined before an attempt: a record exceeds the maximum webhook size, or the ledger rejects the body',
    registers,
  });
  const reorgs = new Histogram({
    name: 'sluice_reorg_depth_blocks',
    help: 'Blocks removed from a chain by one reorg',
    labelNames: ['chain'],
    buckets: REORG_BUCKETS,
    registers,
  });
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  addGauge(
    'sluice_event_loop_lag_seconds',
    '99th percentile of the delay of the event loop since the last scrape',
    (gauge) => {
      gauge.set(loop.percentile(99) / NANOSECONDS);
      loop.reset();
    },
  );

  return {
    recordAttempts(deliveries) {
      for (const { state, status, createdAt, updatedAt } of deliveries) {
        const succeeded = state === 'succeeded';
        attempts.inc({
          result: succeeded ? 'succeeded' : 'failed',
          code_class: status === null ? 'none' : `${Math.floor(status / 100)}xx`,
        });
        if (succeeded) latency.observe((updatedAt - createdAt) / 1000);
      }
    },
    recordSetAside: (deliveries) =>
      setAside.inc(deliveries.filter(({ state }) => state === 'quarantined').length),
    recordReorg: (chain, depth) => reorgs.observe({ chain }, depth),
    recordLostLeases: (count) => lostLeases.inc(count),
    recordLostOutcomes: (count) => lostOutcomes.inc(count),
    recordLocalFailure: (cause) => localFailures.inc({ cause }),
    recordBlockedAddress: (reason) => blocked.inc({ reason }),
    watch: (sources) => watchSources(sources, addGauge),
    async read() {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
    stop: () => loop.disable(),
  };
}
