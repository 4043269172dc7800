/**
 * `npm run -s bench -- NAME [PART...] [--json] [--minutes N]`: runs a benchmark and prints a table.
 */
import { parseArgs, styleText } from 'node:util';
import type { Figures } from './figures.ts';

const { positionals, values: flags } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    /** Duration of `deliver-hour` (default: 60), or of each pace of `chain` (default: 0.5). */
    minutes: { type: 'string' },
  },
});

const throughput = async () => (await import('./delivery/throughput.ts')).measureThroughput;
const hanging = async () => (await import('./delivery/hanging.ts')).measureHanging;
const latency = async () => (await import('./delivery/latency.ts')).measureLatency;
const feed = async () => (await import('./delivery/feed.ts')).measureFeed;
const queue = async () => (await import('./delivery/queue.ts')).measureQueue;
const kafka = async () => (await import('./delivery/kafka.ts')).startKafkaBench;
const nats = async () => (await import('./delivery/nats.ts')).startNatsBench;
const rabbitMq = async () => (await import('./delivery/rabbitMq.ts')).startRabbitMqBench;
const tables = async () => (await import('./delivery/tables.ts')).measureTables;
const addresses = async () => (await import('./addresses.ts')).measureAddresses;
const activity = async () => (await import('./activity.ts')).measureActivity;
const counts = async () => (await import('./counts.ts')).measureCounts;

const [name = '', ...parts] = positionals;

const benchmarks: Record<string, () => Promise<Figures>> = {
  activity: async () => (await activity())('sqlite'),
  'activity-postgres': async () => (await activity())('postgres'),
  addresses: async () => (await addresses())('sqlite'),
  'addresses-postgres': async () => (await addresses())('postgres'),
  aptos: async () => (await import('./aptos.ts')).default(),
  chain: async () =>
    (await import('./chain/chain.ts')).measureChain(parts, Number(flags.minutes ?? 0.5)),
  cli: async () => (await import('./cli.ts')).default(),
  console: async () => (await import('./console/console.ts')).measureConsole(parts),
  deliver: async () => (await throughput())('sqlite'),
  'deliver-postgres': async () => (await throughput())('postgres'),
  'deliver-latency': async () => (await latency())('sqlite'),
  'deliver-latency-postgres': async () => (await latency())('postgres'),
  'deliver-hanging': async () => (await hanging())('sqlite'),
  'deliver-hanging-postgres': async () => (await hanging())('postgres'),
  'deliver-hour': async () =>
    (await import('./delivery/hour.ts')).measureMemory(Number(flags.minutes ?? 60)),
  feed: async () => (await feed())('sqlite'),
  'feed-postgres': async () => (await feed())('postgres'),
  counts: async () => (await counts())('sqlite'),
  'counts-postgres': async () => (await counts())('postgres'),
  kit: async () => (await import('./kit.ts')).default(),
  match: async () => (await import('./match.ts')).default(parts),
  kafka: async () => (await queue())('kafka', await kafka(), 'sqlite'),
  'kafka-postgres': async () => (await queue())('kafka', await kafka(), 'postgres'),
  nats: async () => (await queue())('nats', await nats(), 'sqlite'),
  'nats-postgres': async () => (await queue())('nats', await nats(), 'postgres'),
  proof: async () => (await import('./proof.ts')).default(),
  rabbitmq: async () => (await queue())('rabbitmq', await rabbitMq(), 'sqlite'),
  'rabbitmq-postgres': async () => (await queue())('rabbitmq', await rabbitMq(), 'postgres'),
  tables: async () => (await tables())('sqlite'),
  'tables-postgres': async () => (await tables())('postgres'),
  'tables-ponder': async () => (await import('./chain/tables.ts')).measureTablesFromStart(),
  takeover: async () => (await import('./takeover.ts')).measureTakeover(parts),
};

const benchmark = benchmarks[name];
if (benchmark === undefined) {
  console.error(
    `usage: npm run -s bench -- NAME [PART...] [--json] [--minutes N]; NAME is one of ${Object.keys(benchmarks).join(', ')}; only chain, console, match and takeover have parts`,
  );
  process.exit(2);
}

const figures = await benchmark();
const width = Math.max(...Object.keys(figures).map((each) => each.length));
for (const [figure, { value, unit, note }] of Object.entries(figures)) {
  const number = value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
  console.log(
    `${figure.padEnd(width)}  ${number.padStart(10)} ${unit.padEnd(5)}  ${styleText('dim', note)}`,
  );
}
if (flags.json) {
  console.log(
    JSON.stringify(
      Object.fromEntries(
        Object.entries(figures).map(([key, { value, unit }]) => [key, { value, unit }]),
      ),
    ),
  );
}
process.exit(0);
