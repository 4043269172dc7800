/** Tests the examples against one service: each prints or stores the webhooks that it receives. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '@sluice/kit';
import {
  findFreePort,
  type Postgres,
  type RunningScriptedAptos,
  type RunningScriptedChain,
  aptosDevAccounts,
  scripted,
  scriptedAptos,
  startPostgres,
  startScriptedAptos,
  startScriptedChain,
  until,
} from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sluice-examples-'));
const ALICE = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const BOB = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const TOKEN = '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35';

let chain: RunningScriptedChain;
let aptos: RunningScriptedAptos;
let service: Served;
let client: Client;
const children: ChildProcess[] = [];

beforeAll(async () => {
  chain = await startScriptedChain();
  aptos = await startScriptedAptos();
  service = await serve([
    ...['--data', join(folder, 'data'), '--min-free-mib', '0', '--no-test-webhook'],
    ...['--chain', `0x7a69=${chain.wsUrl},confirmations=2,poll=100`],
    ...['--aptos', `local=${aptos.url},poll=50`],
  ]);
  client = createClient({ baseUrl: service.url, apiKey: API_KEY });
});
afterAll(async () => {
  for (const child of children) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  await service?.stop();
  await chain?.stop();
  await aptos?.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Example {
  /** Waits until the output of the example matches. */
  prints(line: RegExp): Promise<unknown>;
  output(): string;
  kill(): Promise<void>;
}

/** Starts an example as a reader would. */
function start(name: string, env: Record<string, string> = {}): Example {
  const child = spawn(process.execPath, ['-C', '@sluice/source', join(root, 'examples', name)], {
    cwd: folder,
    env: {
      ...process.env,
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
      SLUICE_URL: service.url,
      SLUICE_API_KEY: API_KEY,
      SLUICE_SECRET: SECRET,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return {
    prints: (line) =>
      until(`it prints ${line}`, () => line.test(output)).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}:\n${output}`);
      }),
    output: () => output,
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** Starts an example that receives webhooks on a free port, and waits until it listens. */
async function serveExample(
  name: string,
  env: Record<string, string> = {},
): Promise<Example & { url: string }> {
  const port = await findFreePort();
  const example = start(name, { PORT: String(port), ...env });
  const url = `http://127.0.0.1:${port}`;
  await until('it listens', () => fetch(url).catch(() => undefined)).catch((error: Error) => {
    throw new Error(`${name}: ${error.message}:\n${example.output()}`);
  });
  return { ...example, url };
}

const pay = (to: typeof ALICE | typeof BOB, value: bigint) =>
  chain.mine({ transactions: [scripted.erc20Transfer({ token: TOKEN, from: ALICE, to, value })] });

/** Creates a stream that sends the logs of the token to an example. */
const streamTo = async (url: string, tag: string): Promise<void> => {
  const { id } = await client.streams.create({
    webhookUrl: `${url}/webhooks`,
    description: '',
    tag,
    chainIds: ['0x7a69'],
    includeContractLogs: true,
    notifyRemoved: true,
  });
  await client.streams.addAddress(id, TOKEN);
};

describe.each(['express.ts', 'fastify.ts', 'hono.ts'])('%s', (name) => {
  test('prints a transfer once, and its other routes respond', async () => {
    const { url, prints, output } = await serveExample(name);
    await streamTo(url, name);
    pay(BOB, 250n);
    chain.mineMany(2);
    await prints(new RegExp(`^Transfer 250n to ${BOB} in 0x`, 'm'));
    expect(output().match(/Transfer/g)).toHaveLength(1);
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ ok: true });
  });
});

describe('postgres.ts', () => {
  let postgres: Postgres;
  let database: pg.Client;
  beforeAll(async () => {
    postgres = await startPostgres();
    database = new pg.Client({ connectionString: postgres.url });
    await database.connect();
  });
  afterAll(async () => {
    await database?.end();
    await postgres?.stop();
  });

  test('stores a row, which is confirmed later', async () => {
    const { url } = await serveExample('postgres.ts', { DATABASE_URL: postgres.url });
    await streamTo(url, 'postgres');
    const rows = async () =>
      (await database.query('SELECT "value", "confirmed" FROM "erc20Transfers"')).rows as object[];
    pay(BOB, 777n);
    await until('the row is stored', async () => (await rows()).length === 1);
    expect(await rows()).toMatchObject([{ value: '777' }]);
    chain.mineMany(2);
    await until('the row is confirmed', async () => {
      const [row] = await rows();
      return row !== undefined && 'confirmed' in row && row.confirmed === 1;
    });
    expect(await rows()).toHaveLength(1);
  });
});

test('exchange.ts: pending, removed with its block, pending again, credited once, also after a kill', async () => {
  const env = { DATABASE: join(folder, 'deposits') };
  const { prints, output, kill } = start('exchange.ts', env);
  await until('its addresses are watched', async () => {
    for await (const { tag, amountOfAddresses } of client.streams.list()) {
      if (tag === 'deposits') return amountOfAddresses === 2;
    }
    return false;
  });
  pay(BOB, 1_000n);
  await prints(/^pending Bob 1000 SLD$/m);
  chain.fork({ depth: 1, blocks: 1 });
  await prints(/^gone Bob 1000 SLD$/m);
  pay(BOB, 2_000n);
  chain.mineMany(2);
  await prints(/^credited Bob 2000 SLD$/m);
  expect(output()).not.toContain('credited Bob 1000');
  expect(output().match(/credited/g)).toHaveLength(1);
  await kill();
  pay(BOB, 3_000n);
  chain.mineMany(2);
  const again = start('exchange.ts', env);
  await again.prints(/^credited Bob 3000 SLD$/m);
  expect(again.output()).not.toMatch(/Bob [12]000/);
});

test('aptosWallet.ts: prints payments to and from the account', async () => {
  const [ada, bo] = aptosDevAccounts;
  const { prints } = start('aptosWallet.ts');
  await until('its account is watched', async () => {
    for await (const { tag, amountOfAddresses } of client.streams.list({ networkType: 'aptos' })) {
      if (tag === 'wallet') return amountOfAddresses === 1;
    }
    return false;
  });
  aptos.mine({
    transactions: [scriptedAptos.transfer({ from: bo!, to: ada!, amount: 150_000_000n })],
  });
  aptos.mine({
    transactions: [scriptedAptos.transfer({ from: ada!, to: bo!, amount: 50_000_000n })],
  });
  await prints(/^\+ 1\.5 APT 0x0+1::aptos_coin::AptosCoin$/m);
  await prints(/^- 0\.5 APT 0x0+1::aptos_coin::AptosCoin$/m);
});
