import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/**
 * A child process that is stopped when this process ends. On POSIX, even SIGKILL of this process
 * stops the child, and Ctrl-C in a terminal does not reach the child, so this process controls the
 * order of the shutdown.
 */
export interface TetheredProcess {
  /** Process ID of the program, not of the shell that watches it. */
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * Resolves when the program has exited and `stdout` and `stderr` have been read to the end. Never
   * rejects.
   */
  readonly exited: Promise<void>;
  /** Sends a signal to the program; does nothing once it has exited. */
  signal(signal: NodeJS.Signals): void;
}

export interface TetherOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** User and group that the program runs as. POSIX only; only root can set them. */
  uid?: number;
  gid?: number;
  /** Signal sent to the program when this process ends; ignored on Windows. Default: `KILL`. */
  lostSignal?: 'KILL' | 'QUIT' | 'TERM';
  /**
   * Absolute path of a folder to delete if this process ends before the program; ignored on
   * Windows. It is deleted once the program has exited.
   */
  lostFolder?: string;
}

/**
 * Shell script that starts the program and watches this process. Its arguments are a signal, a
 * folder to delete or an empty string, and the command.
 *
 * Only this process has the other end of the script's standard input, so `read` fails as soon as
 * this process ends, for whatever reason.
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
 * Windows has no `sh`. There, the child is killed when this process exits normally, but may keep
 * running if this process is killed.
 *
 * @throws Error if the shell, or on Windows the command, cannot be started. If the shell cannot run
 * the command, or the program exits immediately, the call and `exited` still resolve.
 */
export async function startTethered(
  command: string,
  args: readonly string[],
  options: TetherOptions = {},
): Promise<TetheredProcess> {
  const { lostSignal = 'KILL', lostFolder = '', ...spawnOptions } = options;
  if (process.platform === 'win32') return startOnWindows(command, args, spawnOptions);

  const shell = spawn(
    'sh',
    ['-c', watchdog, 'tether', lostSignal, lostFolder, command, ...args],
    // `detached` creates a new session and process group, so Ctrl-C does not reach the program.
    { ...spawnOptions, detached: true, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  await once(shell, 'spawn');
  shell.stdin.on('error', () => {}); // emitted if the shell has exited; `exited` reports that
  const pid = await readPid(shell.stdout);
  return tethered(pid, shell, shell.stdout, shell.stderr);
}

async function startOnWindows(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv },
): Promise<TetheredProcess> {
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

function tethered(
  pid: number,
  child: ChildProcess,
  stdout: Readable,
  stderr: Readable,
): TetheredProcess {
  let gone = false;
  const exited = new Promise<void>((resolve) => {
    // Waits for `close`, because `exit` can be emitted before all output has been read.
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
        // The program may have exited before the shell did.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    },
  };
}

/**
 * Reads the program's process ID from the watchdog's first line, and leaves the program's output in
 * the stream.
 */
function readPid(stdout: Readable): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = Buffer.alloc(0);
    // A `data` listener would start the flow of data, and output would be lost before the caller
    // adds its own listener.
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
