/** `sluice serve` as a process of its own, for tests that end it as an operator or a crash would. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface Served {
  readonly url: string;
  readonly pid: number;
  /** Whether it has not ended yet. */
  isRunning(): boolean;
  /** Everything it has said on either stream so far. */
  output(): string;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL, and gone. */
  kill(): Promise<void>;
}

export const API_KEY = 'test-key-0123456789abcdef';
export const SECRET = 'test-streams-secret';

const COMMAND =
  `-C @sluice/source packages/cli/src/main.ts serve --port 0 --api-key ${API_KEY} --secret ${SECRET}`.split(
    ' ',
  );
const root = fileURLToPath(new URL('..', import.meta.url));
const START_MS = 60_000;

export interface ServeOptions {
  allowPrivateEndpoints?: boolean;
  /** Beside the variables of this process. */
  env?: Readonly<Record<string, string>>;
  /** Flags of Node, such as `--import FILE`. */
  nodeFlags?: readonly string[];
  /** A program that is given the command to run, and becomes it (`exec`). */
  wrapper?: readonly string[];
}

/** Starts it on a free port and resolves when it says where it listens. */
export async function serve(
  args: readonly string[],
  { allowPrivateEndpoints = true, env = {}, nodeFlags = [], wrapper = [] }: ServeOptions = {},
): Promise<Served> {
  const flags = allowPrivateEndpoints ? ['--allow-private-endpoints'] : [];
  const [program, ...rest] = [
    ...wrapper,
    process.execPath,
    ...nodeFlags,
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

/** A port that nobody listens on, for a program that wants to be told one. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
