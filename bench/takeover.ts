/**
 * Measures the time from the kill of a reader to the webhook of a block that is mined immediately
 * afterwards. On PostgreSQL, a standby takes over; on SQLite, the service restarts. By default, 100
 * streams watch ten million random addresses, which are written directly to the tables in the order
 * in which an import writes them.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import {
  type RunningScriptedChain,
  type WebhookSink,
  scripted,
  startScriptedChain,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import pg from 'pg';
import { LEDGER_FILE } from '../packages/service/src/store/engine/sqlite/sqlite.ts';
import { openSqlite } from '../packages/service/src/store/engine/sqlite/sqliteConnection.ts';
import { API_KEY, type Served, serve } from '../test/serve.ts';
import { addressBytes } from './addressBytes.ts';
import { type EngineName, withPostgres } from './delivery/ledgers.ts';
import { type Figures, toFigure } from './figures.ts';

const CHAIN = '0x7a69';
const SENDER = '0x00000000000000000000000000000000000000cc';
const STREAMS = 100;
const ADDRESSES = 10_000_000;
const PATIENCE_MS = 600_000;

interface World {
  chain: RunningScriptedChain;
  sink: WebhookSink;
  streamIds: string[];
  addresses: number;
  args: readonly string[];
}

/**
 * @param parts engines, a number of addresses, or both. Default: both engines with ten million
 * addresses
 */
export async function measureTakeover(parts: readonly string[]): Promise<Figures> {
  const addresses = Number(parts.find((part) => Number(part) > 0) ?? ADDRESSES);
  const figures: Figures = {};
  for (const engine of ['sqlite', 'postgres'] satisfies EngineName[]) {
    const isWanted = parts.includes(engine) || parts.every((part) => Number(part) > 0);
    if (!isWanted) continue;
    const chain = await startScriptedChain();
    const sink = await startWebhookSink();
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
    const world = { chain, sink, streamIds: [], addresses };
    try {
      const args = ['--data', folder, '--min-free-mib', '0'];
      if (engine === 'sqlite') {
        Object.assign(figures, await measureSqlite({ ...world, args }, folder));
      } else {
        Object.assign(
          figures,
          await withPostgres(({ url }) =>
            measurePostgres({ ...world, args: [...args, '--database-url', url] }, url, folder),
          ),
        );
      }
    } finally {
      rmSync(folder, { recursive: true });
      await chain.stop();
      await sink.close();
    }
  }
  return figures;
}

async function measureSqlite(world: World, folder: string): Promise<Figures> {
  const first = await serve(withChain(world));
  world.streamIds.push(...(await createStreams(world, first)));
  await first.stop();
  await fillSqlite(world, join(folder, LEDGER_FILE));

  let service = await serve(withChain(world));
  await isReady(service);
  await matched(world, mineMatch(world));
  await service.kill();
  const from = performance.now();
  const block = mineMatch(world);
  service = await serve(withChain(world));
  const listeningMs = performance.now() - from;
  await isReady(service);
  const readyMs = performance.now() - from;
  await matched(world, block);
  const matchedMs = performance.now() - from;
  const memory = readMemoryMb(service);
  await service.kill();
  return {
    'sqlite, listening': seconds(listeningMs, 'from kill -9 and a new process'),
    'sqlite, ready': seconds(readyMs, 'until /ready returns 200'),
    'sqlite, matched': seconds(matchedMs, 'until its first webhook; goal 10'),
    'sqlite, memory': toFigure(memory, 'MB', 'peak resident memory'),
  };
}

async function measurePostgres(world: World, url: string, folder: string): Promise<Figures> {
  const rest = await serve([...world.args, '--role', 'api', '--role', 'deliver']);
  world.streamIds.push(...(await createStreams(world, rest)));
  await fillPostgres(world, url, folder);

  const reader = await serve([...withChain(world), '--role', 'ingest']);
  await isReady(reader);
  await isLive(reader);
  await matched(world, mineMatch(world));
  const from = performance.now();
  const standby = await serve([...withChain(world), '--role', 'ingest']);
  await isReady(standby);
  const readyMs = performance.now() - from;
  await reader.kill();
  const killed = performance.now();
  await matched(world, mineMatch(world));
  const takeoverMs = performance.now() - killed;
  const memory = readMemoryMb(standby);
  await Promise.all([standby.kill(), rest.kill()]);
  return {
    'postgres, ready': seconds(readyMs, 'from the start of a standby until /ready returns 200'),
    'postgres, takeover': seconds(takeoverMs, 'from kill -9 of the reader to a webhook; goal 10'),
    'postgres, memory': toFigure(memory, 'MB', 'peak resident memory of the standby'),
  };
}

const seconds = (ms: number, note: string) => toFigure(ms / 1_000, 's', note);

const withChain = ({ args, chain }: World): string[] => [
  ...args,
  '--chain',
  `${CHAIN}=${chain.wsUrl},confirmations=1`,
];

async function createStreams({ sink }: World, on: Served): Promise<string[]> {
  const { streams } = createClient({ baseUrl: on.url, apiKey: API_KEY });
  const ids: string[] = [];
  for (let n = 0; n < STREAMS; n++) {
    const { id } = await streams.create({
      webhookUrl: sink.url,
      description: '',
      tag: 'bench',
      chainIds: [CHAIN],
      includeNativeTxs: true,
    });
    ids.push(id);
  }
  return ids;
}

const isReady = (service: Served): Promise<boolean> =>
  until('the service is ready', async () => (await fetch(`${service.url}/ready`)).ok, PATIENCE_MS);

/** Waits until the chain is live, because blocks that are mined earlier are not matched. */
const isLive = (service: Served): Promise<boolean> =>
  until(
    'the chain is live',
    async () => {
      const health = (await (await fetch(`${service.url}/health`)).json()) as Health;
      return health.chains.every(({ state }) => state === 'live');
    },
    PATIENCE_MS,
  );

interface Health {
  chains: { state: string }[];
}

/** Mines a block with a transfer to an address of the last stream. Returns the block number. */
function mineMatch({ chain, addresses }: World): bigint {
  const to = `0x${Buffer.from(addressBytes(addresses - 1)).toString('hex')}` as const;
  const transactions = [scripted.transfer({ from: SENDER, to, value: 1n })];
  return chain.mine({ transactions }).number;
}

const matched = ({ sink }: World, block: bigint): Promise<unknown> =>
  until(
    'the block is matched',
    () => sink.requests.some(({ body }) => body.includes(`"number":"${block}"`)),
    PATIENCE_MS,
    5,
  );

const readMemoryMb = ({ pid }: Served): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

function listAddresses({ addresses }: World, stream: number): string[] {
  const each = addresses / STREAMS;
  return Array.from(
    { length: each },
    (_, n) => `0x${Buffer.from(addressBytes(stream * each + n)).toString('hex')}`,
  ).toSorted();
}

async function fillSqlite(world: World, path: string): Promise<void> {
  const { db, sqlite } = openSqlite(path, false);
  sqlite.exec('pragma synchronous = off');
  const insert = sqlite.prepare(
    `insert into stream_address (stream_id, address, added_at, key_id, added_by)
      values (?, ?, 0, 'bench', 0)`,
  );
  for (const [n, id] of world.streamIds.entries()) {
    sqlite.exec('begin');
    for (const address of listAddresses(world, n)) insert.run(id, address);
    sqlite.exec('commit');
  }
  sqlite.exec(`update stream set address_count = ${world.addresses / STREAMS}`);
  await db.destroy();
}

async function fillPostgres(world: World, url: string, folder: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  // The database server reads the file in this folder as another user.
  chmodSync(folder, 0o755);
  const file = join(folder, 'addresses');
  for (const [n, id] of world.streamIds.entries()) {
    const rows = listAddresses(world, n).map((address) => `${id}\t${address}\t0\tbench\t0\n`);
    writeFileSync(file, rows.join(''));
    await client.query(
      `copy stream_address (stream_id, address, added_at, key_id, added_by) from '${file}'`,
    );
  }
  rmSync(file);
  await client.query(`update stream set address_count = ${world.addresses / STREAMS}`);
  await client.query('vacuum analyze stream_address');
  await client.end();
}
