/**
 * Checks the invariants of `docs/faults.md` after a fault. Compares the rows of the ledger with the
 * requests at the receiver and with the deliveries that are expected from the chain.
 */
import type { Ledger } from './ledger.ts';

/** Numbers of requests that the receiver got with one webhook id. */
export interface Receipts {
  /** Number of POSTs that arrived completely. */
  total: number;
  /** Number of POSTs that got a 2xx. */
  accepted: number;
}

/** `chain:blockHash:phase`. A stream has one delivery for each value that is expected. */
export type BlockPhase = string;

export interface World {
  ledger: Ledger;
  /** Numbers of requests by webhook id. */
  received: ReadonlyMap<string, Receipts>;
  /** Expected block phases by stream; other streams are ignored. */
  expected: ReadonlyMap<string, ReadonlySet<BlockPhase>>;
  /** Block phases of removed blocks, for which the ledger may have further deliveries. */
  mayHave?: ReadonlySet<BlockPhase>;
  /**
   * Number of leases that each delivery lost to injected faults: the maximum number of times that
   * it may be sent again, and accepted again. Default: 0.
   */
  leasesLost?: ReadonlyMap<string, number>;
  /** Processes that were not ended by a fault, so they must still be running. */
  survivors?: readonly { isRunning(): boolean; output(): string }[];
}

interface DeliveryRow {
  id: string;
  /** `chain:blockHash:phase:part`. */
  event_key: string;
  state: string;
  run_at: number;
  last_error: string | null;
  attempts: number;
  /** Number of recorded attempts. `good` counts only the attempts without an error. */
  good_and_bad: number;
  good: number;
  stream_status: string;
}

interface StatRow {
  stream_id: string;
  metric: string;
  n: number;
}

export interface Verdict {
  /** Violations. Each message begins with the invariant, such as `I1`. */
  violations: string[];
  deliveries: number;
  states: Record<string, number>;
  /** Number of POSTs in addition to the recorded attempts. */
  repeated: number;
  /** Number of 2xx responses to deliveries that already had one. */
  acceptedAgain: number;
}

/** Checks one stream after another, so that a ledger of millions of deliveries fits in memory. */
export async function checkInvariants(world: World): Promise<Verdict> {
  const { leasesLost = new Map<string, number>(), survivors = [] } = world;
  const verdict: Verdict = {
    violations: [],
    deliveries: 0,
    states: {},
    repeated: 0,
    acceptedAgain: 0,
  };
  const stats = await world.ledger.rows<StatRow>(`
    select stream_id, metric, sum(n) as n from
      (select * from stat union all select * from stat_delta) as counted
    group by stream_id, metric`);
  for (const [stream, phases] of world.expected) {
    const deliveries = await world.ledger.rows<DeliveryRow>(`
      select d.id, m.chain || ':' || m.block_hash || ':' || d.phase || ':' || m.part as event_key,
        d.state, d.run_at, d.last_error, d.attempts, s.status as stream_status,
        (select count(*) from attempt a where a.delivery_id = d.id) as good_and_bad,
        (select count(*) from attempt a where a.delivery_id = d.id and a.error is null) as good
      from delivery d join match m on m.id = d.match_id join stream s on s.id = d.stream_id
      where d.stream_id = '${stream}'`);
    // Reads the time after the rows; otherwise, newer deliveries would seem to wait for a future
    // time.
    const now = await world.ledger.now();
    verdict.violations.push(
      ...missingOrDoubled(stream, phases, deliveries, world.mayHave),
      ...illegalStates(deliveries, now),
      ...miscounted(
        deliveries,
        stats.filter(({ stream_id }) => stream_id === stream),
      ),
      ...neverReceived(deliveries, world.received),
    );
    verdict.deliveries += deliveries.length;
    for (const { id, state, good_and_bad } of deliveries) {
      const { total = 0, accepted = 0 } = world.received.get(id) ?? {};
      verdict.states[state] = (verdict.states[state] ?? 0) + 1;
      const repeated = Math.max(0, total - good_and_bad);
      const acceptedAgain = Math.max(0, accepted - 1);
      verdict.repeated += repeated;
      verdict.acceptedAgain += acceptedAgain;
      // I5: no delivery was resent, or accepted again, more often than it lost a lease.
      const lost = leasesLost.get(id) ?? 0;
      for (const [what, count] of [
        ['POSTs beyond the recorded attempts', repeated],
        ['accepted again', acceptedAgain],
      ] as const) {
        if (count > lost) {
          verdict.violations.push(`I5: ${id} has ${count} ${what}, with ${lost} leases lost`);
        }
      }
    }
  }
  for (const process of survivors.filter((each) => !each.isRunning())) {
    const words = process.output().slice(-2000);
    verdict.violations.push(`I6: a process ended without a fault: ${words}`);
  }
  return verdict;
}

/**
 * I1: each expected (stream, block, phase) has one delivery, and only removed blocks have others.
 */
function missingOrDoubled(
  stream: string,
  phases: ReadonlySet<BlockPhase>,
  deliveries: readonly DeliveryRow[],
  mayHave?: ReadonlySet<BlockPhase>,
): string[] {
  const found = new Map<BlockPhase, number>();
  for (const { event_key } of deliveries) {
    const [chain, hash, phase, part] = event_key.split(':');
    // Counts only the first part of a match. A unique key prevents duplicates of the other parts.
    const key = `${chain}:${hash}:${phase}`;
    if (part === '0') found.set(key, (found.get(key) ?? 0) + 1);
  }
  const wrong: string[] = [];
  for (const phase of phases) {
    const count = found.get(phase) ?? 0;
    const isDoubled = count > 1 && mayHave?.has(phase) !== true;
    if (count === 0 || isDoubled) {
      wrong.push(`I1: ${stream} ${phase} has ${count} deliveries, not 1`);
    }
    found.delete(phase);
  }
  for (const phase of found.keys()) {
    if (mayHave?.has(phase) !== true) {
      wrong.push(`I1: ${stream} ${phase} is unexpected`);
    }
  }
  return wrong;
}

/**
 * I2: each delivery has succeeded, was canceled, ended with an error, or waits: for a future time,
 * or because its stream is not active.
 */
function illegalStates(deliveries: readonly DeliveryRow[], now: number): string[] {
  const isLegal = (row: DeliveryRow): boolean => {
    switch (row.state) {
      case 'succeeded':
        return row.attempts > 0;
      case 'cancelled':
        return true;
      case 'pending':
        return row.run_at > now || row.stream_status !== 'active';
      case 'failed':
      case 'quarantined':
        return row.last_error !== null && row.last_error !== '';
      default:
        return false;
    }
  };
  return deliveries
    .filter((row) => !isLegal(row))
    .map(
      (row) => `I2: ${row.id} is ${row.state}, due ${now - row.run_at} ms ago, ${row.last_error}`,
    );
}

/** I3: the statistics match the deliveries, and the deliveries match their attempts. */
function miscounted(deliveries: readonly DeliveryRow[], stats: readonly StatRow[]): string[] {
  const wrong = deliveries
    .filter((row) => row.attempts !== row.good_and_bad)
    .map((row) => `I3: ${row.id} counts ${row.attempts} attempts, but has ${row.good_and_bad}`);
  const sum = (count: (row: DeliveryRow) => number): number =>
    deliveries.reduce((n, row) => n + count(row), 0);
  const counts: Record<string, number> = {
    webhooks_delivered: sum(({ state }) => (state === 'succeeded' ? 1 : 0)),
    webhooks_failed: sum(({ state }) => (state === 'failed' ? 1 : 0)),
    delivered: sum(({ good }) => good),
    failed_attempts: sum(({ good, good_and_bad }) => good_and_bad - good),
  };
  for (const [metric, count] of Object.entries(counts)) {
    const stored = stats.find((row) => row.metric === metric)?.n ?? 0;
    if (stored !== count) wrong.push(`I3: ${metric} is ${stored}, but the rows add up to ${count}`);
  }
  return wrong;
}

/** I4: the receiver accepted every delivery recorded as succeeded. */
function neverReceived(
  deliveries: readonly DeliveryRow[],
  received: ReadonlyMap<string, Receipts>,
): string[] {
  return deliveries
    .filter((row) => row.state === 'succeeded' && (received.get(row.id)?.accepted ?? 0) === 0)
    .map((row) => `I4: ${row.id} has succeeded, but the receiver never accepted it`);
}
