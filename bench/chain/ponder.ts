/**
 * Runs Ponder on the same chain, with a request limit that is never reached. Its default app stores
 * each event, and POSTs the events of a block together.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, until } from '@sluice/testkit';
import { installLocked } from '../../test/installLocked.ts';

export interface Ponder {
  readonly pid: number;
  /** `performance.now()` at the first successful response of Ponder. */
  readonly startedAt: number;
}

export interface PonderOptions {
  /** HTTP URL of the node's JSON-RPC API. */
  node: string;
  contract: string;
  startBlock: number | 'latest';
  app: PonderApp;
  /** PostgreSQL database. Default: PGlite, the default of Ponder. */
  databaseUrl?: string | undefined;
  /** Milliseconds between polls of the head. Default: 1,000, as in Ponder. */
  pollMs?: number | undefined;
}

/** The files of an app, which reads the contract `Token`. */
export interface PonderApp {
  /** Exports `abi`. */
  abi: string;
  schema: string;
  handlers: string;
}

const PEER = new URL('../../test/peers/ponder/', import.meta.url);
const START_MS = 120_000;

const ABI = `export const abi = [{
  type: 'event', name: 'Ping', inputs: [{ name: 'value', type: 'uint256', indexed: false }],
}] as const;
`;

const configOf = ({
  node,
  contract,
  startBlock,
  databaseUrl,
  pollMs = 1_000,
}: PonderOptions): string => `
import { createConfig } from 'ponder';
import { http } from 'viem';
import { abi } from './abi';

export default createConfig({
  ${databaseUrl === undefined ? '' : `database: { kind: 'postgres', connectionString: '${databaseUrl}' },`}
  networks: {
    local: {
      chainId: 31337,
      transport: http('${node}'),
      pollingInterval: ${pollMs},
      maxRequestsPerSecond: 100_000,
    },
  },
  contracts: {
    Token: { network: 'local', abi, address: '${contract}', startBlock: ${JSON.stringify(startBlock)} },
  },
});
`;

const SCHEMA = `
import { onchainTable } from 'ponder';

export const ping = onchainTable('ping', (t) => ({
  id: t.text().primaryKey(),
  value: t.bigint().notNull(),
}));
`;

/**
 * Returns the handlers of the app, which sends the events of a block when the first event of another
 * block arrives, or when the event loop is idle.
 */
const handlerOf = (webhookUrl: string): string => `
import { ponder } from 'ponder:registry';
import { ping } from 'ponder:schema';

let block;
let logs = [];
let timer;
const send = () => {
  clearTimeout(timer);
  if (logs.length === 0) return;
  const body = JSON.stringify({ block: { number: String(block) }, logs });
  logs = [];
  fetch('${webhookUrl}', { method: 'POST', body }).then((response) => response.arrayBuffer());
};

ponder.on('Token:Ping', async ({ event, context }) => {
  if (event.block.number !== block) send();
  block = event.block.number;
  logs.push({ logIndex: String(event.log.logIndex), data: event.log.data, topics: event.log.topics });
  clearTimeout(timer);
  timer = setTimeout(send, 0);
  await context.db.insert(ping).values({ id: event.id, value: event.args.value });
});
`;

/** Returns the app that POSTs the events. */
export const postingApp = (webhookUrl: string): PonderApp => ({
  abi: ABI,
  schema: SCHEMA,
  handlers: handlerOf(webhookUrl),
});

/** An empty API, without which Ponder does not start. */
const API = `
import { Hono } from 'hono';
export default new Hono();
`;

export async function withPonder<T>(
  options: PonderOptions,
  work: (ponder: Ponder) => Promise<T>,
): Promise<T> {
  installLocked(PEER, 'Ponder');
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-ponder-'));
  mkdirSync(join(folder, 'src/api'), { recursive: true });
  symlinkSync(fileURLToPath(new URL('node_modules', PEER)), join(folder, 'node_modules'));
  const files = {
    'abi.ts': options.app.abi,
    'package.json': '{ "type": "module" }',
    'ponder.config.ts': configOf(options),
    'ponder.schema.ts': options.app.schema,
    'src/index.ts': options.app.handlers,
    'src/api/index.ts': API,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);

  const port = await findFreePort();
  const bin = fileURLToPath(new URL('node_modules/ponder/dist/esm/bin/ponder.js', PEER));
  const child = spawn(
    process.execPath,
    [bin, 'start', '--schema', 'bench', '--port', String(port), '--log-level', 'warn'],
    {
      cwd: folder,
      env: { ...process.env, NODE_OPTIONS: '', PONDER_TELEMETRY_DISABLED: 'true' },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const run = async (): Promise<T> => {
    await until(
      'Ponder responds',
      () =>
        fetch(`http://127.0.0.1:${port}/health`).then(
          ({ ok }) => ok,
          () => false,
        ),
      START_MS,
    );
    return work({ pid: child.pid!, startedAt: performance.now() });
  };
  const fail = async (): Promise<never> => {
    throw new Error(`Ponder exited with ${(await exited)[0]}`);
  };
  try {
    return await Promise.race([run(), fail()]);
  } finally {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true });
  }
}
