/**
 * `npm run test:failover -- [--failovers N] [--fault NAME]… [--round-trip MS] [--out DIR]`: makes
 * 500 deliveries per second on a PostgreSQL cluster under Patroni and etcd, and injects N faults
 * (default: 5), one after another. After each fault, waits until webhooks arrive, until the repaired
 * cluster is complete, and until the service has caught up. Finally checks the invariants of
 * `docs/faults.md`.
 *
 * Exits with 0 if every invariant holds, no delivery that was recorded as successful is lost, and
 * no block has webhooks with two IDs. The times are reported, but do not change the exit code.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { until } from '@sluice/testkit';
import { checkInvariants } from '../faults/invariants.ts';
import { createLostLeases, readPostgresLedger } from '../faults/ledger.ts';
import { isRoot } from '../faults/root.ts';
import { machineOf } from '../soak/report.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { FAULTS, type Fault } from './faults.ts';
import { DELIVERIES_PER_SECOND, type Load, startLoad } from './load.ts';
import { type Failover, type FailoverReport, toMarkdown } from './report.ts';

const { values: flags } = parseArgs({
  options: {
    failovers: { type: 'string', default: '5' },
    fault: { type: 'string', multiple: true },
    'round-trip': { type: 'string', default: '0' },
    out: { type: 'string' },
    remark: { type: 'string', default: '' },
  },
});
const count = Number(flags.failovers);
const roundTripMs = Number(flags['round-trip']);
const faults = FAULTS.filter(
  ({ name, needsRoot = false }) =>
    (isRoot || !needsRoot) && (flags.fault?.some((part) => name.includes(part)) ?? true),
);
if (!(count > 0 && roundTripMs >= 0) || faults.length === 0) {
  process.stderr.write(
    'usage: npm run test:failover -- [--failovers N] [--fault NAME]… [--round-trip MS] [--out DIR]\n' +
      `faults: ${FAULTS.map(({ name }) => name).join(', ')}\n`,
  );
  process.exit(2);
}

/** Load before the first fault, and between a repair and the next fault. */
const CALM_MS = 5_000;
/** Time for which a fault that should not interrupt webhooks is observed. */
const HARMLESS_MS = 20_000;
const RESUME_MS = 120_000;
const SETTLE_MS = 300_000;
/** With a delay between servers, about five blocks can be committed per second. */
const BLOCK_MS = roundTripMs === 0 ? 200 : 400;
/** Number of blocks that may be without webhooks once the service has caught up: two seconds. */
const CAUGHT_UP_BLOCKS = 2_000 / BLOCK_MS;
/** Number of recorded attempts to compare before and after a fault. */
const COMPARED = 5_000;

const say = (text: string): void =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

say('starting the cluster');
const cluster = await startCluster({ delayMs: roundTripMs / 2, isOnOwnDisk: isRoot });
let load: Load | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cluster.stop().finally(() => process.exit(1)));
}
try {
  load = await startLoad(cluster.url, { blockMs: BLOCK_MS });
  const report = await measure(cluster, load);
  write(report);
  process.exitCode = report.problems.length === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`${load?.service.output().slice(-4_000) ?? ''}\n${cluster.output()}\n`);
  throw error;
} finally {
  await load?.stop();
  await cluster.stop();
}

async function measure(cluster: Cluster, load: Load): Promise<FailoverReport> {
  const { service, streams, phases } = load;
  let primaryUrl = await cluster.primaryUrl('sluice');
  const ledger = readPostgresLedger(() => primaryUrl);
  const lostLeases = createLostLeases(ledger);
  const failovers: Failover[] = [];
  const problems: string[] = [];

  for (let n = 0; n < count; n++) {
    await wait(CALM_MS);
    const fault = faults[n % faults.length]!;
    const recorded = await ledger.rows<{ id: string }>(
      `select delivery_id as id from attempt where error is null order by id desc limit ${COMPARED}`,
    );
    const silenceMs = await failOver(fault, cluster, load);
    primaryUrl = await cluster.primaryUrl('sluice');
    await lostLeases.note();
    const kept = await ledger.value(`
      select count(*) from delivery where state = 'succeeded'
      and id in (${recorded.map(({ id }) => `'${id}'`).join() || 'null'})`);
    const lost = new Set(recorded.map(({ id }) => id)).size - kept;
    if (lost > 0) problems.push(`${fault.name}: ${lost} recorded deliveries are lost`);
    failovers.push({ fault: fault.name, silenceMs, lost });
    say(`${n + 1} of ${count}: ${fault.name}: ${silenceMs} ms without webhooks`);
  }

  load.finish();
  const all = streams.length * phases.size;
  const haveArrived = async (): Promise<boolean> => (await load.receiver()).accepted >= all;
  await until('all webhooks arrive', haveArrived, SETTLE_MS, 500).catch(() =>
    problems.push('not all webhooks arrived'),
  );
  // The last results are recorded shortly after the responses.
  await wait(CALM_MS);
  const { receipts, secondIds } = await load.received();
  const verdict = await checkInvariants({
    ledger,
    received: receipts,
    expected: new Map(streams.map((id) => [id, phases])),
    leasesLost: lostLeases.byDelivery,
    survivors: [service],
  });
  problems.push(...secondIds.map((each) => `two IDs: ${each}`), ...verdict.violations);
  const version = await ledger.value("select current_setting('server_version_num')::int / 10000");
  return {
    failovers,
    roundTripMs,
    deliveriesPerSecond: DELIVERIES_PER_SECOND,
    date: new Date().toISOString().slice(0, 10),
    machine: machineOf(`PostgreSQL ${version}`),
    deliveries: verdict.deliveries,
    secondIds: secondIds.length,
    repeated: verdict.repeated,
    problems: problems.slice(0, 50),
    blockMs: BLOCK_MS,
    remark: flags.remark,
  };
}

/**
 * Injects a fault, waits until webhooks arrive, repairs it, and waits until the service has caught
 * up. Returns the longest time without webhooks, in milliseconds.
 */
async function failOver(fault: Fault, cluster: Cluster, load: Load): Promise<number> {
  const before = await cluster.incarnation();
  await load.receiver('restart');
  const repair = await fault.inject(cluster);
  if (fault.isHarmless) await wait(HARMLESS_MS);
  else {
    const isReplaced = async (): Promise<boolean> => {
      const now = await cluster.incarnation();
      return now !== undefined && now !== before;
    };
    await until('a primary starts', isReplaced, RESUME_MS, 200);
  }
  const { accepted } = await load.receiver();
  const arrive = async (): Promise<boolean> => (await load.receiver()).accepted > accepted;
  await until('webhooks arrive', arrive, RESUME_MS);
  const { silenceMs } = await load.receiver();
  await repair();
  await cluster.untilComplete();
  // Otherwise, the webhooks that waited during one fault would add up to those of the next.
  const isCaughtUp = async (): Promise<boolean> =>
    (await load.receiver()).newestBlock >= load.head - CAUGHT_UP_BLOCKS;
  await until('the service has caught up', isCaughtUp, SETTLE_MS, 500);
  return silenceMs;
}

function write(report: FailoverReport): void {
  const folder = flags.out ?? fileURLToPath(new URL('../../bench/results', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `failover-${roundTripMs}ms`);
  const markdown = toMarkdown(report, FAULTS);
  writeFileSync(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(`${path}.md`, markdown);
  process.stdout.write(markdown);
}
