import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type StateSaver, readSavedStates, startSavingState } from './anvilState.ts';
import { type DevAccount, devAccounts } from './devAccounts.ts';
import { findAnvil } from './findAnvil.ts';
import { type TetheredProcess, startTethered } from '../tether.ts';

/** A real EVM chain on this machine: a running anvil. */
export interface Anvil {
  /** URL for JSON-RPC over HTTP: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** URL for JSON-RPC over WebSocket, on the same port. */
  readonly wsUrl: string;
  readonly port: number;
  readonly chainId: number;
  readonly pid: number;
  /** Ten accounts, each with 10,000 ether on a fresh chain. */
  readonly accounts: readonly DevAccount[];
  /**
   * Sends a JSON-RPC request.
   *
   * @throws Error with the method and the node's message; `cause` is the JSON-RPC error object.
   */
  request<Result = unknown>(method: string, params?: readonly unknown[]): Promise<Result>;
  /** Saves the state if `statePath` is set, and stops anvil. A second call does nothing. */
  stop(): Promise<void>;
  /** Kills anvil with SIGKILL without saving the state, like a crash. */
  kill(): Promise<void>;
}

export interface AnvilOptions {
  /** Default: 31337. */
  chainId?: number;
  /**
   * Seconds between blocks, at least 1. By default, anvil mines each transaction at once;
   * transactions that arrive within about a millisecond share a block.
   */
  blockTimeSeconds?: number;
  /** Default: a free port. */
  port?: number;
  /**
   * File that keeps the chain across restarts, in an existing folder. Only one anvil may use a
   * path. By default, the chain is lost when the process ends.
   *
   * The state is saved when anvil stops, and about every second while it runs. If a save takes more
   * than a tenth of a second, the next one follows after ten times its duration. `<path>.previous`
   * is the previous save.
   */
  statePath?: string;
  /**
   * Number of newest blocks that keep their transactions, receipts and logs, at about 20 kB of
   * memory each. Older blocks keep only their headers, until the next start from `statePath`. At
   * least 100. Default: 10,000.
   */
  keepBlocks?: number;
  /** If false, anvil's log is written to standard error. Default: true. */
  silent?: boolean;
  /**
   * Called with a message about a problem that does not fail the call: the state failed to load or
   * to save, or anvil exited unexpectedly. By default, these problems are not reported.
   */
  onWarning?: (warning: string) => void;
}

/**
 * Number of blocks that keep their state for `eth_call` and `eth_getBalance`. Each state is a copy
 * of all storage, up to nearly a megabyte. With `--prune-history`, anvil writes no states to disk
 * (`~/.foundry`); writing them would slow down mining from 15 ms to 40 ms per block by block
 * 10,000.
 */
const keepStates = 64;

const startDeadlineMs = 30_000;
const requestDeadlineMs = 30_000;
const stopDeadlineMs = 5_000;

/**
 * Starts anvil on 127.0.0.1 and resolves when it accepts requests. Except on Windows, anvil never
 * outlives this process, however this process ends, and a Ctrl-C in the terminal does not reach
 * anvil.
 *
 * @throws Error if anvil is not installed (the message lists the three searched places), or if it
 * does not start (the message contains its output).
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const { chainId = 31337, keepBlocks = 10_000, statePath, onWarning = () => {} } = options;
  const binary = findAnvil();
  if (!binary) throw new Error(missingAnvil);
  const args = [
    '--host=127.0.0.1',
    `--port=${options.port ?? 0}`,
    `--chain-id=${chainId}`,
    `--transaction-block-keeper=${keepBlocks}`,
    `--prune-history=${keepStates}`,
    ...(options.blockTimeSeconds ? [`--block-time=${options.blockTimeSeconds}`] : []),
  ];
  const launch = (loadArgs: string[]) =>
    launchAnvil(binary, [...args, ...loadArgs], options.silent ?? true);

  const { program, port } =
    (statePath && (await launchFromState(statePath, keepBlocks, launch, onWarning))) ||
    (await launch([]));
  const url = `http://127.0.0.1:${port}`;

  let ending = false;
  void program.exited.then(() => {
    if (ending) return;
    saver?.abandon();
    onWarning(`anvil (process ${program.pid}) exited unexpectedly`);
  });

  const saver: StateSaver | undefined = statePath
    ? startSavingState({
        statePath,
        readDump: () => readDump(url),
        onFailure: (error) => {
          onWarning(`Couldn't save the chain's state to ${statePath}: ${error.message}`);
        },
      })
    : undefined;

  let requestId = 0;
  return {
    url,
    wsUrl: `ws://127.0.0.1:${port}`,
    port,
    chainId,
    pid: program.pid,
    accounts: devAccounts,
    request: async <Result>(method: string, params: readonly unknown[] = []) => {
      requestId += 1;
      const response = await post(url, { jsonrpc: '2.0', id: requestId, method, params });
      const answer = (await response.json()) as { result: Result; error?: { message: string } };
      if (answer.error) {
        throw new Error(`${method}: ${answer.error.message}`, { cause: answer.error });
      }
      return answer.result;
    },
    stop: async () => {
      if (ending) return program.exited;
      ending = true;
      await saver?.stop();
      program.signal('SIGTERM');
      const hurry = new AbortController();
      const patience = delay(stopDeadlineMs, undefined, { signal: hurry.signal }).then(
        () => program.signal('SIGKILL'),
        () => {},
      );
      await program.exited;
      hurry.abort();
      await patience;
    },
    kill: async () => {
      ending = true;
      saver?.abandon();
      program.signal('SIGKILL');
      await program.exited;
    },
  };
}

const missingAnvil =
  'anvil was not found. Searched the environment variable ANVIL_BIN, the npm package ' +
  '@foundry-rs/anvil-linux-amd64 (Linux x64 only) and the PATH. Install Foundry ' +
  '(https://getfoundry.sh) or set ANVIL_BIN to the path of an anvil binary.';

interface Launched {
  program: TetheredProcess;
  port: number;
}

/** Starts anvil from the newest saved state that loads; returns undefined if there is none. */
async function launchFromState(
  statePath: string,
  keepBlocks: number,
  launch: (loadArgs: string[]) => Promise<Launched>,
  onWarning: (warning: string) => void,
): Promise<Launched | undefined> {
  const failed: string[] = [];
  const recordFailure = (savedFile: string, error: Error) => {
    failed.push(savedFile);
    onWarning(`Couldn't load the chain's state from ${savedFile}: ${error.message}`);
  };
  for await (const { loadFile, savedFile } of readSavedStates(
    statePath,
    keepBlocks,
    recordFailure,
  )) {
    try {
      const launched = await launch(['--load-state', loadFile]);
      if (failed.length > 0) onWarning(`The chain continues from the previous save, ${savedFile}`);
      await rm(loadFile);
      return launched;
    } catch (error) {
      recordFailure(savedFile, error as Error);
    }
  }
  if (failed.length > 0) onWarning('The chain starts over at block 0, without contracts');
  return undefined;
}

/** Starts anvil and resolves when it has printed the port that it listens on. */
async function launchAnvil(binary: string, args: string[], silent: boolean): Promise<Launched> {
  const program = await startTethered(binary, args);
  // Both streams must be read to the end, because a full pipe would block anvil.
  let said = '';
  const hear = (chunk: Buffer) => {
    if (!silent) process.stderr.write(chunk);
    said = (said + chunk.toString()).slice(-4_000);
  };
  program.stderr.on('data', hear);
  program.stdout.on('data', hear);

  const listening = new Promise<number>((resolve) => {
    program.stdout.on('data', () => {
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (port) resolve(Number(port));
    });
  });
  const timer = new AbortController();
  const port = await Promise.race([
    listening,
    program.exited,
    delay(startDeadlineMs, undefined, { signal: timer.signal }).catch(() => {}),
  ]);
  timer.abort();
  if (port === undefined) {
    program.signal('SIGKILL');
    throw new Error(`anvil did not start: ${said.trim()}`);
  }
  program.stdout.removeAllListeners('data').on('data', hear);
  return { program, port };
}

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(requestDeadlineMs),
  });
}

/**
 * Returns a dump of the complete chain, as gzip. If a block is mined during the dump, the dump may
 * be inconsistent and is repeated, at most twice.
 */
async function readDump(url: string): Promise<Buffer> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await readHeadHash(url);
    const response = await post(url, {
      jsonrpc: '2.0',
      id: 1,
      method: 'anvil_dumpState',
      params: [],
    });
    const answer = Buffer.from(await response.arrayBuffer());
    if (attempt === 3 || before === (await readHeadHash(url))) return unpackHexResult(answer);
  }
}

async function readHeadHash(url: string): Promise<string> {
  const params = ['latest', false];
  const response = await post(url, {
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getBlockByNumber',
    params,
  });
  return ((await response.json()) as { result: { hash: string } }).result.hash;
}

/** Returns the bytes of `"result":"0x…"` without parsing tens of megabytes of JSON. */
function unpackHexResult(answer: Buffer): Buffer {
  const opening = '"result":"0x';
  const start = answer.indexOf(opening);
  if (start < 0) throw new Error(`anvil_dumpState: ${answer.subarray(0, 500).toString()}`);
  const end = answer.indexOf('"', start + opening.length);
  return Buffer.from(answer.toString('latin1', start + opening.length, end), 'hex');
}
