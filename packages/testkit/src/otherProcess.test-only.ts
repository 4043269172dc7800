import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { createInterface } from 'node:readline';

/** A separate Node process that runs a few lines of code, so that tests can kill it. */
export interface OtherProcess {
  readonly pid: number;
  /**
   * Returns the next line of standard output, parsed as JSON.
   *
   * @throws Error with the content of standard error if the process ends first.
   */
  nextLine<Line>(): Promise<Line>;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
}

/** Runs `code` as an ES module, with all exports of this package in `testkit`. */
export function startOtherProcess(code: string): OtherProcess {
  const index = JSON.stringify(new URL('index.ts', import.meta.url).href);
  const args = ['-C', '@sluice/source', '--input-type=module', '--eval'];
  const child = spawn(process.execPath, [...args, `import * as testkit from ${index};\n${code}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const lines = on(createInterface(child.stdout), 'line', { close: ['close'] });
  return {
    pid: child.pid as number,
    nextLine: async <Line>() => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`The other process ended: ${complaint}`);
      return JSON.parse((value as [string])[0]) as Line;
    },
    kill: async () => {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    },
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
