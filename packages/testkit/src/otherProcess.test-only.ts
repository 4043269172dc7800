import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { createInterface } from 'node:readline';

/** A Node process of its own that runs a few lines of ours, to be killed as a user's would be. */
export interface OtherProcess {
  readonly pid: number;
  /**
   * The next line that it printed, parsed as JSON.
   *
   * @throws Error with what it wrote to standard error, when it ends first.
   */
  nextLine<Line>(): Promise<Line>;
  /** SIGKILL; resolves when it has gone. */
  kill(): Promise<void>;
}

/** Runs `code` as a module in which `testkit` is everything that this package exports. */
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

/** Whether a process of that id is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
