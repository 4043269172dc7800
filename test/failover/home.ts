/** The folder, the user and the programs of a cluster. */
import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTethered } from '@sluice/testkit';

export interface Home {
  /** A temporary folder, which belongs to `user`. */
  readonly folder: string;
  /** Under root, the user `postgres`, because PostgreSQL does not run as root; else undefined. */
  readonly user: { uid: number; gid: number } | undefined;
  /** Adds a step to `remove`. The steps run in reverse order. */
  onRemove(step: () => Promise<void>): void;
  /** Runs all steps, then deletes the folder. */
  remove(): Promise<void>;
}

export async function makeHome(): Promise<Home> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-failover-'));
  const user = process.getuid?.() === 0 ? findUser('postgres') : undefined;
  if (user) await chown(folder, user.uid, user.gid);
  const steps: (() => Promise<void>)[] = [];
  return {
    folder,
    user,
    onRemove: (step) => void steps.push(step),
    async remove() {
      for (const step of steps.toReversed()) await step();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function findUser(name: string): { uid: number; gid: number } {
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, name]));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

export interface Program {
  readonly pid: number;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the program has exited and no child has its output open. */
  readonly exited: Promise<void>;
}

/** Starts a program as the user of the home. Appends its output to a file. */
export async function startProgram(
  { folder, user }: Home,
  command: string,
  args: readonly string[],
  logFile: string,
): Promise<Program> {
  const program = await startTethered(command, args, {
    cwd: folder,
    ...user,
    // Patroni stops PostgreSQL before it exits.
    lostSignal: 'TERM',
  });
  const log = createWriteStream(logFile, { flags: 'a' });
  program.stdout.pipe(log, { end: false });
  program.stderr.pipe(log, { end: false });
  void program.exited.then(() => log.end());
  return program;
}
