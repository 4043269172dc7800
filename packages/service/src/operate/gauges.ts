/** Gauges with values that are read from the service whenever metrics are collected. */
import { Gauge, type Registry } from 'prom-client';
import type { ChainReport } from '../store/leases/contract.ts';
import type { FeedLag } from '../store/feeds/contract.ts';
import { destinationOf, streamOf } from '../store/rows/laneIds.ts';
import type { DestinationCount } from '../store/streams/contract.ts';
import type { ViolationKind } from '../store/integrity/contract.ts';
import { isUp } from './problems.ts';

export interface MetricSources {
  chains(): ChainReport[];
  chainsRead(): number;
  inFlight(): number;
  /** Returns the number of streams with failing or throttling receivers, by breaker state. */
  breakers(): Readonly<Record<string, number>>;
  /**
   * Returns the time since which the oldest delivery of any active stream has been due or waiting
   * for enrichment, in Unix milliseconds; null if there is none.
   */
  oldestDue(): Promise<number | null>;
  /** Returns the age of the database's oldest transaction in milliseconds; null if it has no server. */
  oldestTransactionAge(): Promise<number | null>;
  /** Returns whether the process is ready for traffic, as reported by `/ready`. */
  isReady(): Promise<boolean>;
  /** Returns the used share of the ledger's disk, from 0 to 1; undefined if a server has it. */
  diskUsedRatio(): number | undefined;
  /** Returns the expiry of the client certificate in Unix milliseconds; undefined without one. */
  clientCertificateExpiry(): number | undefined;
  /** Returns the number of blocks that were accepted unverified, by chain and code. */
  unverifiedBlocks(): Promise<Readonly<Record<string, Readonly<Record<string, number>>>>>;
  /** Returns the number of held deliveries of each chain that has some. */
  heldDeliveries(): Promise<Readonly<Record<string, number>>>;
  /** Returns the number of blocks that will be read again, because a check failed, by chain. */
  uncertainBlocks(): Promise<Readonly<Record<string, number>>>;
  /** Returns the number of blocks in whose state values are to be read, by chain. */
  pendingStates(): Promise<Readonly<Record<string, number>>>;
  /** Returns the number of children of factories of each chain that has some. */
  children(): Promise<Readonly<Record<string, number>>>;
  /** Returns the number of reads of feeds that wait for deliveries in this process. */
  waitingReads(): number;
  /** Returns the number of destinations of streams, by kind and status. */
  destinations(): Promise<readonly DestinationCount[]>;
  /** Returns how far each consumer of a feed is behind. */
  feedLags(): Promise<readonly FeedLag[]>;
  /** Returns the number of integrity violations, by kind. */
  violations(): Readonly<Record<ViolationKind, number>>;
}

/** Adds a gauge whose value is read on collection. */
export type AddGauge = (
  name: string,
  help: string,
  read: (gauge: Gauge) => void | Promise<void>,
  labelNames?: string[],
) => void;

export const createGauges =
  (registers: Registry[]): AddGauge =>
  (name, help, read, labelNames = []) => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers,
      // Other metrics must stay available while the ledger is not.
      async collect() {
        try {
          await read(gauge);
        } catch {
          // `reset` sets a gauge without labels to 0, and `remove` throws for a gauge with labels.
          if (labelNames.length === 0) gauge.remove();
          else gauge.reset();
        }
      },
    });
  };

const CONSUMER_LABELS = ['stream', 'destination', 'consumer'];

/** @param consumer with the lane of its feed as `streamId` */
const toLabels = ({ streamId: lane, name }: Pick<FeedLag, 'streamId' | 'name'>) => ({
  stream: streamOf(lane),
  destination: String(destinationOf(lane)),
  consumer: name,
});

export function watchSources(sources: MetricSources, addGauge: AddGauge): void {
  addGauge('sluice_chains_read', 'Chains that this process reads', (gauge) => {
    gauge.set(sources.chainsRead());
  });
  addGauge('sluice_deliveries_in_flight', 'Attempts in flight', (gauge) => {
    gauge.set(sources.inFlight());
  });
  addGauge(
    'sluice_circuit_breakers',
    'Destinations of streams whose receivers fail or throttle, by state of their circuit breaker',
    (gauge) => {
      for (const [state, count] of Object.entries(sources.breakers())) {
        gauge.set({ state }, count);
      }
    },
    ['state'],
  );
  addGauge(
    'sluice_destinations',
    'Destinations of streams by kind and status, including the webhook URL of each stream',
    async (gauge) => {
      gauge.reset();
      for (const { kind, status, count } of await sources.destinations()) {
        gauge.set({ kind, status }, count);
      }
    },
    ['kind', 'status'],
  );
  addGauge(
    'sluice_delivery_queue_age_seconds',
    'Age of the oldest delivery that is due or waiting for enrichment; 0 if there is none',
    async (gauge) => {
      const since = await sources.oldestDue();
      gauge.set(since === null ? 0 : Math.max(0, Date.now() - since) / 1000);
    },
  );
  addGauge(
    'sluice_feed_reads_waiting',
    'Reads of feeds that wait for deliveries in this process',
    (gauge) => gauge.set(sources.waitingReads()),
  );
  addGauge(
    'sluice_feed_unread',
    'Deliveries of a feed that a consumer has not acknowledged, including those it is processing',
    async (gauge) => {
      gauge.reset();
      for (const { unread, leased, ...consumer } of await sources.feedLags()) {
        gauge.set(toLabels(consumer), unread + leased);
      }
    },
    CONSUMER_LABELS,
  );
  addGauge(
    'sluice_feed_missed',
    'Deliveries of a feed that expired before a consumer acknowledged them',
    async (gauge) => {
      gauge.reset();
      for (const { missed, ...consumer } of await sources.feedLags()) {
        gauge.set(toLabels(consumer), missed);
      }
    },
    CONSUMER_LABELS,
  );
  addGauge(
    'sluice_integrity_violations',
    'Rows of the ledger that contradict each other, as of the last check; should always be 0',
    (gauge) => {
      for (const [kind, count] of Object.entries(sources.violations())) {
        gauge.set({ kind }, count);
      }
    },
    ['kind'],
  );
  addGauge(
    'sluice_database_oldest_transaction_age_seconds',
    'Age of the oldest transaction, which keeps PostgreSQL from cleaning up; 0 on SQLite',
    async (gauge) => gauge.set(((await sources.oldestTransactionAge()) ?? 0) / 1000),
  );
  addGauge('sluice_ready', '1 while the process is ready for traffic', async (gauge) =>
    gauge.set((await sources.isReady()) ? 1 : 0),
  );
  if (sources.diskUsedRatio() !== undefined) {
    addGauge('sluice_disk_used_ratio', 'Used share of the disk of the ledger, on SQLite', (gauge) =>
      gauge.set(sources.diskUsedRatio()!),
    );
  }
  if (sources.clientCertificateExpiry() !== undefined) {
    addGauge(
      'sluice_client_certificate_expiry_timestamp_seconds',
      'Time at which the client certificate expires, in Unix seconds',
      (gauge) => gauge.set(sources.clientCertificateExpiry()! / 1000),
    );
  }
  addGauge(
    'sluice_chain_head_lag_blocks',
    'Blocks between the head of the nodes and the last committed block',
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
    'sluice_chain_up',
    '1 while the chain is live, catching up or settling',
    (gauge) => {
      for (const { id, state } of sources.chains()) {
        gauge.set({ chain: id }, isUp(state) ? 1 : 0);
      }
    },
    ['chain'],
  );
  addGauge(
    'sluice_chain_settling',
    '1 while the next block of the chain failed a check and waits to be accepted',
    (gauge) => {
      for (const { id, state } of sources.chains()) {
        gauge.set({ chain: id }, state === 'settling' ? 1 : 0);
      }
    },
    ['chain'],
  );
  addGauge(
    'sluice_chain_unverified_blocks',
    'Blocks that were accepted although they could not be fully verified, by what is not covered',
    async (gauge) => {
      for (const [chain, byCode] of Object.entries(await sources.unverifiedBlocks())) {
        for (const [code, blocks] of Object.entries(byCode)) gauge.set({ chain, code }, blocks);
      }
    },
    ['chain', 'code'],
  );
  addGauge(
    'sluice_deliveries_held',
    'Deliveries that wait until another node confirms their unverified block',
    async (gauge) => {
      const held = await sources.heldDeliveries();
      for (const { id } of sources.chains()) gauge.set({ chain: id }, held[id] ?? 0);
    },
    ['chain'],
  );
  addGauge(
    'sluice_chain_uncertain_blocks',
    'Blocks that were accepted although a check failed, and that will be read again',
    async (gauge) => {
      for (const [chain, blocks] of Object.entries(await sources.uncertainBlocks())) {
        gauge.set({ chain }, blocks);
      }
    },
    ['chain'],
  );
  addGauge(
    'sluice_chain_pending_states',
    'Committed blocks in whose state values of streams are still to be read',
    async (gauge) => {
      for (const [chain, blocks] of Object.entries(await sources.pendingStates())) {
        gauge.set({ chain }, blocks);
      }
    },
    ['chain'],
  );
  addGauge(
    'sluice_chain_children',
    'Children of factories that streams watch on the chain',
    async (gauge) => {
      for (const [chain, children] of Object.entries(await sources.children())) {
        gauge.set({ chain }, children);
      }
    },
    ['chain'],
  );
  addGauge(
    'sluice_rpc_disagreements',
    'Heights at which a node had a different block than the others, since the service started',
    (gauge) => {
      for (const { id, providers } of sources.chains()) {
        for (const { name, disagreements } of providers) {
          gauge.set({ chain: id, provider: name }, disagreements);
        }
      }
    },
    ['chain', 'provider'],
  );
}
