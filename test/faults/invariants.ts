/**
 * The promises of delivery, checked from outside once a fault is over: against the ledger's own rows,
 * what the receiver recorded, and an oracle that knows the chain. `docs/faults.md` lists them.
 */
import type { Ledger } from './ledger.ts';

/** What one webhook id came to at the receiver. */
export interface Receipts {
  /** POSTs that arrived whole. */
  total: number;
  /** Of these, those answered with a 2xx. */
  accepted: number;
}

/** `chain:blockHash:phase` of a stream: what the oracle counts in. */
export type BlockPhase = string;

export interface World {
  ledger: Ledger;
  /** By webhook id. */
  received: ReadonlyMap<string, Receipts>;
  /** By stream, the block phases it is to have; a stream that is not named is not looked at. */
  expected: ReadonlyMap<string, ReadonlySet<BlockPhase>>;
  /** Block phases that may stand in the ledger as well: of blocks that left the chain. */
  mayHave?: ReadonlySet<BlockPhase>;
  /** By delivery, leases outstanding at the faults: how often it may have been sent again. Default: never. */
  leasesLost?: ReadonlyMap<string, number>;
  /** Processes that no fault ended. */
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
  /** Attempts on record, and those of them that were answered with a 2xx. */
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
  /** What is wrong, each with the invariant it breaks; none where all hold. */
  violations: string[];
  deliveries: number;
  /** Deliveries by their state. */
  states: Record<string, number>;
  /** POSTs that arrived beyond the attempts on record. */
  repeated: number;
  /** 2xx given to what had one before. */
  acceptedAgain: number;
}

/** Looks at one stream after the other, so that a ledger of millions fits. */
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
    // Not before they are read: what is made in between would seem to wait for a time to come.
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
      // I5: none was sent, or accepted, again more often than it lost a lease.
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
    verdict.violations.push(`I6: a process that no fault ended has ended: ${words}`);
  }
  return verdict;
}

/** I1: each expected (stream, block, phase) has one delivery, and there are no others. */
function missingOrDoubled(
  stream: string,
  phases: ReadonlySet<BlockPhase>,
  deliveries: readonly DeliveryRow[],
  mayHave?: ReadonlySet<BlockPhase>,
): string[] {
  const found = new Map<BlockPhase, number>();
  for (const { event_key } of deliveries) {
    const [chain, hash, phase, part] = event_key.split(':');
    // The further parts of one match are no doubles; the unique key holds them.
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
      wrong.push(`I1: ${stream} ${phase} was never to be delivered`);
    }
  }
  return wrong;
}

/** I2: succeeded, waiting for its time, or at an end that says why. */
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

/** I3: the statistics say what the deliveries say, and these what their attempts say. */
function miscounted(deliveries: readonly DeliveryRow[], stats: readonly StatRow[]): string[] {
  const wrong = deliveries
    .filter((row) => row.attempts !== row.good_and_bad)
    .map((row) => `I3: ${row.id} counts ${row.attempts} attempts and has ${row.good_and_bad}`);
  const sum = (count: (row: DeliveryRow) => number): number =>
    deliveries.reduce((n, row) => n + count(row), 0);
  const counts: Record<string, number> = {
    webhooks_delivered: sum(({ state }) => (state === 'succeeded' ? 1 : 0)),
    webhooks_failed: sum(({ state }) => (state === 'failed' ? 1 : 0)),
    delivered: sum(({ good }) => good),
    failed_attempts: sum(({ good, good_and_bad }) => good_and_bad - good),
  };
  for (const [metric, count] of Object.entries(counts)) {
    const told = stats.find((row) => row.metric === metric)?.n ?? 0;
    if (told !== count) wrong.push(`I3: ${metric} says ${told}, the rows say ${count}`);
  }
  return wrong;
}

/** I4: whatever is said to have arrived did. */
function neverReceived(
  deliveries: readonly DeliveryRow[],
  received: ReadonlyMap<string, Receipts>,
): string[] {
  return deliveries
    .filter((row) => row.state === 'succeeded' && (received.get(row.id)?.accepted ?? 0) === 0)
    .map((row) => `I4: ${row.id} is succeeded, and the receiver never accepted it`);
}
