import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/**
 * A child process that ends when this process ends, even if this process is killed with SIGKILL. A
 * Ctrl-C, which a terminal sends to its foreground process group, does not reach the child, so that
 * this process can shut down in its own order.
 */
export interface Tethered {
  /** The program's own process id, not the watchdog's. */
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has exited and both streams are read to the end; never rejects. */
  readonly exited: Promise<void>;
  /** Sends a signal to the program; does nothing once it has exited. */
  signal(signal: NodeJS.Signals): void;
}

export interface TetherOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** User and group that run the program; only root can set them. POSIX only. */
  uid?: number;
  gid?: number;
  /** Signal sent to the program when this process ends. Default: `KILL`. */
  lostSignal?: 'KILL' | 'QUIT' | 'TERM';
  /** Folder to delete when this process has ended and the program has exited. Absolute path. */
  lostFolder?: string;
}

/**
 * The watchdog, whose arguments are a signal, a folder to delete or an empty string, and the
 * command. Only this process holds the other end of its standard input, so `read` returns however
 * this process ends.
 */
const watchdog = `
signal=$1 folder=$2 lost=
shift 2
exec 3<&0 </dev/null
trap 'lost=yes' USR1
"$@" 3<&- &
program=$!
printf 'pid %s\\n' "$program"
(
  exec >/dev/null 2>&1
  while read -r _ <&3; do :; done
  kill -s USR1 $$
  kill -s "$signal" "$program"
) &
watcher=$!
# The trap interrupts a wait, so wait until there is nothing left to wait for.
while kill -s 0 "$program" 2>/dev/null; do wait "$program"; done
kill -s KILL "$watcher" 2>/dev/null
if [ -n "$lost" ] && [ -n "$folder" ]; then rm -rf "$folder"; fi
`;

/**
 * Starts `command` as a tethered process.
 *
 * Windows has no `sh`: the child is killed when this process exits normally, but may be left
 * running when this process is terminated.
 *
 * @throws Error if the command cannot be started. A program that starts and exits immediately only
 *   resolves `exited`.
 */
export async function startTethered(
  command: string,
  args: readonly string[],
  options: TetherOptions = {},
): Promise<Tethered> {
  const { lostSignal = 'KILL', lostFolder = '', ...spawnOptions } = options;
  if (process.platform === 'win32') return startOnWindows(command, args, spawnOptions);

  const shell = spawn(
    'sh',
    ['-c', watchdog, 'tether', lostSignal, lostFolder, command, ...args],
    // `detached` creates a new session, and therefore a new process group.
    { ...spawnOptions, detached: true, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  await once(shell, 'spawn');
  shell.stdin.on('error', () => {}); // the shell has exited: see `exited`
  const pid = await readPid(shell.stdout);
  return tethered(pid, shell, shell.stdout, shell.stderr);
}

async function startOnWindows(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv },
): Promise<Tethered> {
  const child = spawn(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  await once(child, 'spawn');
  const killIt = () => void child.kill();
  process.once('exit', killIt);
  child.once('exit', () => process.removeListener('exit', killIt));
  return tethered(child.pid as number, child, child.stdout, child.stderr);
}

function tethered(pid: number, child: ChildProcess, stdout: Readable, stderr: Readable): Tethered {
  let gone = false;
  const exited = new Promise<void>((resolve) => {
    // Not `exit`, which is emitted before the remaining output has been read.
    child.once('close', () => {
      gone = true;
      resolve();
    });
  });
  return {
    pid,
    stdout,
    stderr,
    exited,
    signal: (signal) => {
      if (gone) return;
      try {
        process.kill(pid, signal);
      } catch (error) {
        // It has just exited, and the shell has not reported it yet.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    },
  };
}

/** Reads the watchdog's first line and leaves the output of the program in the stream. */
function readPid(stdout: Readable): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = Buffer.alloc(0);
    // `readable` rather than `data`: the stream stays unread until the caller adds its listener.
    const read = () => {
      for (let chunk: Buffer | null; (chunk = stdout.read() as Buffer | null);) {
        text = Buffer.concat([text, chunk]);
      }
      const end = text.indexOf('\n');
      if (end < 0) return;
      stdout.off('readable', read).off('end', ended);
      if (end + 1 < text.length) stdout.unshift(text.subarray(end + 1));
      resolve(Number(text.subarray('pid '.length, end).toString()));
    };
    const ended = () => reject(new Error('The watchdog shell ended before it started the program'));
    stdout.on('readable', read).on('end', ended);
  });
}
