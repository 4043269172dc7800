/** Creates the terminal of this process and handles its signals. */
import { type RawOutput, STOPPED, type Terminal, createTerminal } from './terminal.ts';

export function createProcessTerminal(): Terminal {
  const controller = new AbortController();
  // Repeated signals have no effect, because one Ctrl-C can arrive from both the terminal and npm.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => controller.abort(signal));
  }
  // A disconnect means that the launcher of this process has exited and forwards no more signals.
  process.on('disconnect', () => controller.abort('SIGHUP'));
  // A reader that closes the pipe early, such as `| head`, is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return createTerminal({
    stdout: toOutput(process.stdout),
    stderr: toOutput(process.stderr),
    stdin: process.stdin,
    env: process.env,
    cwd: process.cwd(),
    signal: controller.signal,
    stop: () => controller.abort(STOPPED),
  });
}

/**
 * Output stream of the process. `columns` and `rows` are undefined without a terminal, and 0 if the
 * size is unknown.
 */
interface Stream {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  write(text: string): unknown;
}

function toOutput(stream: Stream): RawOutput {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  return {
    isTTY: stream.isTTY ?? false,
    get columns() {
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
    hasColor:
      NO_COLOR === undefined || NO_COLOR === ''
        ? FORCE_COLOR === undefined
          ? (stream.isTTY ?? false) && TERM !== 'dumb'
          : FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
        : false,
    write: (text) => void stream.write(text),
  };
}
