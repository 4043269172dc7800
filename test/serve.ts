/** Runs `sluice serve` as a process that tests can stop or kill. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Served {
  readonly url: string;
  readonly pid: number;
  isRunning(): boolean;
  /** Returns what the process has written to stdout and stderr so far. */
  output(): string;
  /** Sends SIGTERM and returns the exit code; null if a signal ended the process. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL and waits until the process has ended. */
  kill(): Promise<void>;
}

export const API_KEY = 'test-key-0123456789abcdef';
export const SECRET = 'test-streams-secret';

const PACKED_MAIN = process.env['TESTS_PROGRAM'];
const SOURCE = ['-C', '@sluice/source', 'packages/cli/src/main.ts'];
/**
 * Arguments with which Node runs `sluice` in the root folder: the program that `npm test` packed,
 * which starts faster, or the sources.
 */
export const SLUICE = PACKED_MAIN === undefined ? SOURCE : [PACKED_MAIN];
const COMMAND = `serve --port 0 --api-key ${API_KEY} --secret ${SECRET}`.split(' ');
const root = fileURLToPath(new URL('..', import.meta.url));
const START_MS = 60_000;

export interface ServeOptions {
  allowPrivateEndpoints?: boolean;
  /** Environment variables to add to the environment of this process. */
  env?: Readonly<Record<string, string>>;
  /** Flags of Node, such as `--import FILE`. */
  nodeFlags?: readonly string[];
  /**
   * A command prefix that runs the service with `exec`, so that signals reach the service itself.
   */
  wrapper?: readonly string[];
  /**
   * Path of the `main.js` of a packed program, to run instead of the sources. Default: the program
   * that `npm test` packed, unless there are `nodeFlags`, which may change modules of the sources.
   */
  packedMain?: string | undefined;
}

/** Starts the service on a free port, and resolves once it listens. */
export async function serve(
  args: readonly string[],
  {
    allowPrivateEndpoints = true,
    env = {},
    nodeFlags = [],
    wrapper = [],
    packedMain = nodeFlags.length === 0 ? PACKED_MAIN : undefined,
  }: ServeOptions = {},
): Promise<Served> {
  const flags = allowPrivateEndpoints ? ['--allow-private-endpoints'] : [];
  const [program, ...rest] = [
    ...wrapper,
    process.execPath,
    ...nodeFlags,
    ...(packedMain === undefined ? SOURCE : [packedMain]),
    ...COMMAND,
    ...flags,
    ...args,
  ];
  const child = spawn(program!, rest, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const url = await listening(child, () => output);
  const exited = once(child, 'exit') as Promise<[number | null]>;
  return {
    url,
    pid: child.pid!,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    output: () => output,
    async stop() {
      child.kill('SIGTERM');
      return (await exited)[0];
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function listening(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail(`did not listen within ${START_MS} ms`), START_MS);
    const fail = (why: string): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`sluice serve ${why}:\n${output()}`));
    };
    child.on('exit', (code) => fail(`exited with ${code}`));
    child.stdout!.on('data', () => {
      const url = /listening on (http:\S+)/.exec(output())?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
}
