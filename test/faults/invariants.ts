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
  /** Leases outstanding at the faults, added up: what may have been sent twice. Default 0. */
  leasesLost?: number;
  /** Processes that no fault ended. */
  survivors?: readonly { isRunning(): boolean; output(): string }[];
}

interface DeliveryRow {
  id: string;
  stream_id: string;
  event_key: string;
  state: string;
  run_at: number;
  last_error: string | null;
  attempts: number;
  rows: number;
  stream_status: string;
}

/** What is wrong, each with the invariant it breaks; nothing where all hold. */
export async function findViolations(world: World): Promise<string[]> {
  const now = await world.ledger.now();
  const streams = [...world.expected.keys()];
  const deliveries = await world.ledger.rows<DeliveryRow>(`
    select d.id, d.stream_id, d.event_key, d.state, d.run_at, d.last_error, d.attempts,
      s.status as stream_status, coalesce(a.n, 0) as rows
    from delivery d
    join stream s on s.id = d.stream_id
    left join (select delivery_id, count(*) as n from attempt group by delivery_id) a
      on a.delivery_id = d.id
    where d.stream_id in (${streams.map((id) => `'${id}'`).join(', ')})`);
  return [
    ...missingOrDoubled(world, deliveries),
    ...illegalStates(deliveries, now),
    ...(await miscounted(world, deliveries)),
    ...neverReceived(world, deliveries),
    ...sentTooOften(world, deliveries),
    ...(world.survivors ?? [])
      .filter((process) => !process.isRunning())
      .map(
        (process) =>
          `I6: a process that no fault ended has ended: ${process.output().slice(-2000)}`,
      ),
  ];
}

/** I1: each expected (stream, block, phase) has one delivery, and there are no others. */
function missingOrDoubled(world: World, deliveries: readonly DeliveryRow[]): string[] {
  const found = new Map<string, number>();
  for (const { stream_id, event_key } of deliveries) {
    const [chain, hash, phase, part] = event_key.split(':');
    // The further parts of one match, and a block announced again after it came back, are no doubles
    // where the key says so; the unique key of the table holds the rest.
    const key = `${stream_id} ${chain}:${hash}:${phase}`;
    if (part === '0') found.set(key, (found.get(key) ?? 0) + 1);
  }
  const wrong: string[] = [];
  for (const [stream, phases] of world.expected) {
    for (const phase of phases) {
      const key = `${stream} ${phase}`;
      const count = found.get(key) ?? 0;
      const isDoubled = count > 1 && world.mayHave?.has(phase) !== true;
      if (count === 0 || isDoubled) wrong.push(`I1: ${key} has ${count} deliveries, not 1`);
      found.delete(key);
    }
  }
  for (const key of found.keys()) {
    const phase = key.slice(key.indexOf(' ') + 1);
    if (world.mayHave?.has(phase) !== true) wrong.push(`I1: ${key} was never to be delivered`);
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
async function miscounted(world: World, deliveries: readonly DeliveryRow[]): Promise<string[]> {
  const wrong = deliveries
    .filter((row) => row.attempts !== row.rows)
    .map((row) => `I3: ${row.id} counts ${row.attempts} attempts and has ${row.rows}`);
  const stats = await world.ledger.rows<{ stream_id: string; metric: string; n: number }>(`
    select stream_id, metric, sum(n) as n from
      (select * from stat union all select * from stat_delta) as counted
    group by stream_id, metric`);
  const attempts = await world.ledger.rows<{ stream_id: string; good: number; bad: number }>(`
    select d.stream_id, sum(case when a.error is null then 1 else 0 end) as good,
      sum(case when a.error is null then 0 else 1 end) as bad
    from attempt a join delivery d on d.id = a.delivery_id group by d.stream_id`);
  for (const stream of world.expected.keys()) {
    const own = deliveries.filter((row) => row.stream_id === stream);
    const made = attempts.find((row) => row.stream_id === stream);
    const counts: Record<string, number> = {
      webhooks_delivered: own.filter((row) => row.state === 'succeeded').length,
      webhooks_failed: own.filter((row) => row.state === 'failed').length,
      delivered: made?.good ?? 0,
      failed_attempts: made?.bad ?? 0,
    };
    for (const [metric, count] of Object.entries(counts)) {
      const told = stats.find((row) => row.stream_id === stream && row.metric === metric)?.n ?? 0;
      if (told !== count) wrong.push(`I3: ${metric} of ${stream} says ${told}, the rows ${count}`);
    }
  }
  return wrong;
}

/** I4: whatever is said to have arrived did, and nothing arrived that the ledger does not know. */
function neverReceived(world: World, deliveries: readonly DeliveryRow[]): string[] {
  return deliveries
    .filter((row) => row.state === 'succeeded' && (world.received.get(row.id)?.accepted ?? 0) === 0)
    .map((row) => `I4: ${row.id} is succeeded, and the receiver never accepted it`);
}

/** I5: no more was sent, or accepted, twice than leases were lost. */
function sentTooOften(world: World, deliveries: readonly DeliveryRow[]): string[] {
  const { leasesLost = 0 } = world;
  let repeated = 0;
  let acceptedAgain = 0;
  for (const row of deliveries) {
    const { total = 0, accepted = 0 } = world.received.get(row.id) ?? {};
    repeated += Math.max(0, total - row.rows);
    acceptedAgain += Math.max(0, accepted - 1);
  }
  return [
    ...(repeated > leasesLost
      ? [`I5: ${repeated} POSTs beyond the recorded attempts, with ${leasesLost} leases lost`]
      : []),
    ...(acceptedAgain > leasesLost
      ? [`I5: ${acceptedAgain} accepted again, with ${leasesLost} leases lost`]
      : []),
  ];
}
