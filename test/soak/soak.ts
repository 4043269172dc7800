/**
 * `npm run soak -- --deliveries N --kills K [--seed S] [--store sqlite|postgres]
 * [--destination http|feed] [--out DIR]`: makes at least N deliveries while SIGKILL hits the
 * service, or sometimes the PostgreSQL server, at K random moments. Then checks the invariants of `docs/faults.md`. The waits of the standard
 * schedule are divided by 240; leases and deadlines are unchanged.
 *
 * Exits with 0 if every invariant holds and no delivery is quarantined.
 */
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { createClient } from '@sluice/kit';
import { FEED_URL } from '@sluice/kit/contract';
import { type Postgres, scripted, startPostgres, startScriptedChain, until } from '@sluice/testkit';
import { type BlockPhase, checkInvariants } from '../faults/invariants.ts';
import { createLostLeases, readPostgresLedger, readSqliteLedger } from '../faults/ledger.ts';
import { API_KEY, type Served, serve } from '../serve.ts';
import type { FeedsToRead } from './feedReaders.ts';
import type { ReceiverMessage } from './receiver.ts';
import { machineOf, writeReport } from './report.ts';

const { values: flags } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '50000' },
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now()) },
    store: { type: 'string', default: 'sqlite' },
    destination: { type: 'string', default: 'http' },
    out: { type: 'string' },
    remark: { type: 'string', default: '' },
  },
});
const deliveries = Number(flags.deliveries);
const kills = Number(flags.kills);
const { seed, store, destination } = flags;
const isFeed = destination === 'feed';
const isKnown = ['sqlite', 'postgres'].includes(store) && ['http', 'feed'].includes(destination);
if (!(deliveries > 0 && kills >= 0 && isKnown)) {
  process.stderr.write(
    'usage: npm run soak -- --deliveries N --kills K [--seed S] [--store sqlite|postgres] [--destination http|feed]\n',
  );
  process.exit(2);
}

const CHAIN = '0x7a69';
const CONFIRMATIONS = 2;
const STREAMS = 50;
const PHASES = ['unconfirmed', 'confirmed'] as const;
/** Interval, in kills, at which the PostgreSQL server is stopped instead of the service. */
const DATABASE_KILLS = 10;
const MAX_DELAY_MS = 1_000;
/**
 * Time without a delivery after which the service counts as stuck. Longer than a lease, the search
 * for expired leases, and a probe of a failing receiver.
 */
const STALLED_MS = 180_000;
const SAMPLE_MS = 1_000;
const WATCHED = `0x${'ab'.repeat(20)}` as const;
const SHORT_SCHEDULE = fileURLToPath(new URL('../faults/shortSchedule.ts', import.meta.url));

const random = createRandom(seed);
const say = (text: string): void =>
  void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

const folder = mkdtempSync(join(tmpdir(), 'sluice-soak-'));
const postgres: Postgres | undefined = store === 'postgres' ? await startPostgres() : undefined;
const ledger = postgres ? readPostgresLedger(() => postgres.url) : readSqliteLedger(folder);
const lostLeases = createLostLeases(ledger);
const chain = await startScriptedChain();

const receiver = new Worker(
  new URL(isFeed ? './feedReaders.ts' : './receiver.ts', import.meta.url),
  { workerData: { seed } },
);
let accepted = 0;
const results = Promise.withResolvers<Extract<ReceiverMessage, { receipts: object }>>();
const port = Promise.withResolvers<number>();
receiver.on('message', (message: ReceiverMessage) => {
  if ('port' in message) port.resolve(message.port);
  else if ('accepted' in message) ({ accepted } = message);
  else results.resolve(message);
});

const streams: string[] = [];
const launch = async (): Promise<Served> => {
  const launched = await serve(
    [
      ...(postgres ? ['--database-url', postgres.url] : ['--data', folder]),
      ...['--chain', `${CHAIN}=${chain.url},confirmations=${CONFIRMATIONS},poll=50`],
      '--no-test-webhook',
    ],
    { nodeFlags: ['--import', SHORT_SCHEDULE] },
  );
  if (isFeed) receiver.postMessage({ url: launched.url, streams } satisfies FeedsToRead);
  return launched;
};
let service = await launch();
const client = createClient({ apiKey: API_KEY, baseUrl: service.url });
for (let n = 0; n < STREAMS; n++) {
  const { id } = await client.streams.create({
    webhookUrl: isFeed ? FEED_URL : `http://127.0.0.1:${await port.promise}/${n}`,
    description: 'soak',
    tag: `soak-${n}`,
    chainIds: [CHAIN],
    includeNativeTxs: true,
  });
  await client.streams.addAddress(id, WATCHED);
  streams.push(id);
}

if (isFeed) receiver.postMessage({ url: service.url, streams } satisfies FeedsToRead);

const blocks = Math.ceil(deliveries / (STREAMS * PHASES.length));
const phases = new Set<BlockPhase>();
for (let n = 0; n < blocks; n++) {
  const transfer = scripted.transfer({ from: `0x${'cd'.repeat(20)}`, to: WATCHED, value: 1n });
  const { hash } = chain.mine({ transactions: [transfer] });
  for (const phase of PHASES) phases.add(`${CHAIN}:${hash}:${phase}`);
}
chain.mineMany(CONFIRMATIONS);
const all = STREAMS * phases.size;

const started = performance.now();
const samples: { at: number; rssMib: number }[] = [];
const sampling = setInterval(() => {
  const rssMib = readRssMib(service.pid);
  if (rssMib !== undefined) samples.push({ at: performance.now(), rssMib });
}, SAMPLE_MS);

const killed = { service: 0, database: 0 };
/** Numbers of accepted deliveries to wait for, one before each kill, in ascending order. */
const moments = Array.from({ length: kills }, () => Math.floor(random() * all)).sort(
  (a, b) => a - b,
);
for (const [n, moment] of moments.entries()) {
  await progress(moment);
  await delay(random() * MAX_DELAY_MS);
  if (postgres !== undefined && n % DATABASE_KILLS === DATABASE_KILLS - 1) {
    await postgres.kill();
    await postgres.restart();
    await lostLeases.note();
    killed.database++;
  } else {
    await service.kill();
    await lostLeases.note();
    killed.service++;
    service = await launch();
  }
  say(
    `${n + 1} of ${kills} kills, ${accepted} of ${all} delivered, ${lostLeases.total} leases lost`,
  );
  // Waits until the service delivers again, so that the next kill interrupts deliveries.
  if (accepted < all) await progress(accepted + 1);
}
await progress(all);
const untilLastDelivery = (performance.now() - started) / 1000;
say('all delivered; waiting until the outcomes are recorded');
const isWritten = async (): Promise<boolean> =>
  (await ledger.value("select count(*) as n from delivery where state = 'succeeded'")) >= all;
await until('every outcome is in the ledger', isWritten, STALLED_MS, 1_000).catch((error: Error) =>
  say(error.message),
);
clearInterval(sampling);
receiver.postMessage('receipts');
const { receipts, interrupted } = await results.promise;
const verdict = await checkInvariants({
  ledger,
  received: receipts,
  expected: new Map(streams.map((id) => [id, phases])),
  // A claim of a feed's delivery that is lost repeats nothing at its readers.
  leasesLost: interrupted ?? lostLeases.byDelivery,
  survivors: [service],
});
const { quarantined = 0 } = verdict.states;
if (quarantined > 0) verdict.violations.push(`${quarantined} deliveries are quarantined`);

const database = postgres
  ? `PostgreSQL ${await ledger.value("select current_setting('server_version_num')::int / 10000")}`
  : 'SQLite, synchronous=FULL';
const path = writeReport(
  flags.out ?? fileURLToPath(new URL('../../bench/results', import.meta.url)),
  {
    deliveries,
    kills,
    seed,
    store,
    destination,
    date: new Date().toISOString().slice(0, 10),
    machine: machineOf(database),
    seconds: { whole: (performance.now() - started) / 1000, untilLastDelivery },
    killed,
    leasesLost: lostLeases.total,
    verdict: { ...verdict, violations: verdict.violations.slice(0, 100) },
    rssMib: peaks(samples, 20),
    remark: flags.remark,
  },
);
await service.stop();
await receiver.terminate();
await chain.stop();
await postgres?.stop();
rmSync(folder, { recursive: true });
process.stdout.write(readFileSync(path));
process.exit(verdict.violations.length === 0 ? 0 : 1);

/** Waits until the receiver has accepted `count` deliveries; throws if the service is stuck. */
async function progress(count: number): Promise<void> {
  let last = accepted;
  let since = performance.now();
  while (accepted < count) {
    await delay(20);
    if (accepted > last) {
      last = accepted;
      since = performance.now();
    } else if (performance.now() - since > STALLED_MS) {
      throw new Error(
        `stuck at ${accepted} of ${all}, waiting for ${count}:\n${service.output().slice(-4000)}`,
      );
    }
  }
}

function readRssMib(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return undefined; // No process runs between a kill and the next start.
  }
}

/** Returns the largest sample of each of `parts` equal intervals. */
function peaks(taken: readonly { at: number; rssMib: number }[], parts: number): number[] {
  const first = taken[0]?.at ?? 0;
  const length = ((taken.at(-1)?.at ?? 0) - first) / parts;
  const most = Array.from({ length: parts }, () => 0);
  for (const { at, rssMib } of taken) {
    const part = Math.min(parts - 1, Math.floor((at - first) / length));
    most[part] = Math.max(most[part]!, Math.round(rssMib));
  }
  // Intervals in which the process was down have no sample.
  return most.filter((each) => each > 0);
}

/** Creates a seeded generator of numbers from 0 to less than 1, each from one hash. */
function createRandom(text: string): () => number {
  let drawn = 0;
  return () => Number.parseInt(hash('sha1', `${text}:${drawn++}`).slice(0, 8), 16) / 2 ** 32;
}
