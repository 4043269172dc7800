import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/**
 * A child process on a tether: it dies with us, even when we are killed with SIGKILL and can run no
 * handler of our own, and it lives through the Ctrl-C that a terminal sends to its whole foreground
 * group, so that the program shuts down in its own order.
 */
export interface Tethered {
  /** The program's own process id, not the watchdog's. */
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the program has gone and both streams have been read to their end; never rejects. */
  readonly exited: Promise<void>;
  /** Sends a signal to the program; does nothing once it has gone. */
  signal(signal: NodeJS.Signals): void;
}

export interface TetherOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Run as this user and group; only root may say so. POSIX only. */
  uid?: number;
  gid?: number;
  /** What the program gets when we vanish. Default `KILL`. */
  lostSignal?: 'KILL' | 'QUIT' | 'TERM';
  /** A folder to delete, after the program has gone, when we vanish. Absolute path. */
  lostFolder?: string;
}

/**
 * The watchdog. Standard input is a pipe whose other end only we hold: the kernel closes it however
 * we die, and `read` then returns. The program must not hold the pipe. Its pid may go to another
 * process once the shell has waited for it, so nothing is sent to it after that.
 * Arguments: signal, folder to delete or nothing, then the command.
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
 * Starts `command` on a tether.
 *
 * On Windows there is no `sh`: the child is killed when this process exits in order, and may be left
 * behind when it is terminated.
 *
 * @throws Error when the command cannot be started at all; a program that starts and then ends at
 *   once is seen through `exited`.
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
    // `detached` makes a session, and so a process group, of its own.
    { ...spawnOptions, detached: true, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  await once(shell, 'spawn');
  shell.stdin.on('error', () => {}); // the shell has gone: `exited` tells
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
    // Not `exit`, which comes before the program's last words have been read.
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
        // It ended a moment ago and the shell has not told us yet.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    },
  };
}

/** Reads the watchdog's first line and leaves what the program wrote after it in the stream. */
function readPid(stdout: Readable): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = Buffer.alloc(0);
    // `readable` and not `data`: it leaves the stream unread between here and the caller's listener.
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
