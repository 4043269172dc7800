import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type StateSaver, readSavedStates, startSavingState } from './anvilState.ts';
import { type DevAccount, devAccounts } from './devAccounts.ts';
import { findAnvil } from './findAnvil.ts';
import { type Tethered, startTethered } from '../tether.ts';

/** A real EVM chain on this machine: a running anvil. */
export interface Anvil {
  /** JSON-RPC over HTTP, `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** JSON-RPC over WebSocket, on the same port. */
  readonly wsUrl: string;
  readonly port: number;
  readonly chainId: number;
  /** anvil's process id. */
  readonly pid: number;
  /** Ten accounts, each with 10,000 ether on a fresh chain. */
  readonly accounts: readonly DevAccount[];
  /**
   * One JSON-RPC call.
   *
   * @throws Error with the method and the node's message; `cause` is the JSON-RPC error object.
   */
  request<Result = unknown>(method: string, params?: readonly unknown[]): Promise<Result>;
  /** Saves the state, where there is a `statePath`, and ends anvil. A second call does nothing. */
  stop(): Promise<void>;
  /** Ends anvil with SIGKILL and saves nothing: what a crash looks like. */
  kill(): Promise<void>;
}

export interface AnvilOptions {
  /** Default 31337. */
  chainId?: number;
  /**
   * Seconds between blocks, at least 1. Absent: a block at once when a transaction comes; those that
   * come within a millisecond or so share one.
   */
  blockTimeSeconds?: number;
  /** Absent: a free port. */
  port?: number;
  /**
   * Where the chain is kept across restarts; its folder must exist. Absent: it is gone with the
   * process. The state is saved when anvil stops and every second or so while it runs (ten times as
   * long as the last save took, where that is more), so that a `kill -9` of everything loses the last
   * seconds only. `<path>.previous` is the save before. One anvil per path.
   */
  statePath?: string;
  /**
   * How many of the newest blocks keep their transactions, receipts and logs. Older blocks keep their
   * headers, and even these are dropped (but the genesis block) at the next start from `statePath`.
   * Each costs some 20 kB of memory. Default 10,000; at least 100.
   */
  keepBlocks?: number;
  /** False: anvil's own log goes to standard error. Default true. */
  silent?: boolean;
  /**
   * Told, in a sentence, of what the caller should know and the call survives: a state that could not
   * be loaded or saved, anvil ending by itself. Default: nobody is told.
   */
  onNotice?: (notice: string) => void;
}

/**
 * How many blocks keep their state for `eth_call` and `eth_getBalance`. Each is a copy of all storage,
 * nearly a megabyte once EIP-2935's ring of block hashes is full. Given a number, anvil also writes
 * none of them to disk (`~/.foundry`), which by block 10,000 takes 40 ms a block instead of 15.
 */
const keepStates = 64;

const startDeadlineMs = 30_000;
const requestDeadlineMs = 30_000;
const stopDeadlineMs = 5_000;

/**
 * Starts anvil on 127.0.0.1 and resolves when it answers. It never outlives this process, however
 * this process ends, and a Ctrl-C in the terminal does not reach it.
 *
 * @throws Error when there is no anvil on this machine (the message names the three places looked
 *   at), and when it does not start (the message holds what it said).
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const { chainId = 31337, keepBlocks = 10_000, statePath, onNotice = () => {} } = options;
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
    (statePath && (await launchFromState(statePath, keepBlocks, launch, onNotice))) ||
    (await launch([]));
  const url = `http://127.0.0.1:${port}`;

  let ending = false;
  void program.exited.then(() => {
    if (ending) return;
    saver?.abandon();
    onNotice(`anvil (process ${program.pid}) ended by itself`);
  });

  const saver: StateSaver | undefined = statePath
    ? startSavingState({
        statePath,
        readDump: () => readDump(url),
        onFailure: (error) => {
          onNotice(`The chain's state could not be saved to ${statePath}: ${error.message}`);
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
  'No anvil on this machine. Looked at the environment variable ANVIL_BIN, the npm package ' +
  '@foundry-rs/anvil-linux-amd64 (Linux x64 only) and the PATH. Install Foundry ' +
  '(https://getfoundry.sh) or set ANVIL_BIN to the path of an anvil binary.';

interface Launched {
  program: Tethered;
  port: number;
}

/** Starts from the newest saved state that loads; undefined when there is none. */
async function launchFromState(
  statePath: string,
  keepBlocks: number,
  launch: (loadArgs: string[]) => Promise<Launched>,
  onNotice: (notice: string) => void,
): Promise<Launched | undefined> {
  const failed: string[] = [];
  const noteFailure = (savedFile: string, error: Error) => {
    failed.push(savedFile);
    onNotice(`The chain's state in ${savedFile} could not be loaded: ${error.message}`);
  };
  for await (const { loadFile, savedFile } of readSavedStates(statePath, keepBlocks, noteFailure)) {
    try {
      const launched = await launch(['--load-state', loadFile]);
      if (failed.length > 0) onNotice(`The chain goes on from the save before, ${savedFile}`);
      await rm(loadFile);
      return launched;
    } catch (error) {
      noteFailure(savedFile, error as Error);
    }
  }
  if (failed.length > 0) onNotice('The chain starts afresh: block 0, and no contracts');
  return undefined;
}

/** Runs anvil until it says which port it listens on. */
async function launchAnvil(binary: string, args: string[], silent: boolean): Promise<Launched> {
  const program = await startTethered(binary, args);
  // Both streams are read to the end: a full pipe would stop anvil.
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
 * A dump of the whole chain, as gzip. A block mined during a dump may tear it (its effects in the
 * state, itself not in the chain), so one that a block came into is taken again; a chain that never
 * rests gets what it can.
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

/** The bytes of `"result":"0x…"`, without parsing tens of megabytes of JSON on the way. */
function unpackHexResult(answer: Buffer): Buffer {
  const opening = '"result":"0x';
  const start = answer.indexOf(opening);
  if (start < 0) throw new Error(`anvil_dumpState: ${answer.subarray(0, 500).toString()}`);
  const end = answer.indexOf('"', start + opening.length);
  return Buffer.from(answer.toString('latin1', start + opening.length, end), 'hex');
}
