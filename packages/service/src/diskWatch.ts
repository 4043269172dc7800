import { statfs } from 'node:fs/promises';

export interface DiskWatch {
  /** Why no blocks should be taken in now, for people; undefined while there is room. */
  readonly problem: string | undefined;
  stop(): void;
}

const LOOK_MS = 5_000;
const MIB = 1024 * 1024;

/**
 * Looks after the free space of the disk that holds `folder`. Blocks can be read again later; what is
 * already accepted must still be deliverable, and that takes room to write.
 */
export async function watchDisk(folder: string, minFreeBytes: number): Promise<DiskWatch> {
  let problem: string | undefined;
  const look = async (): Promise<void> => {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    problem =
      free >= minFreeBytes
        ? undefined
        : `${toMib(free)} MiB left on the disk of ${folder}, and ${toMib(minFreeBytes)} are kept free ` +
          '(--min-free-mib): blocks are taken in again when there is room';
  };
  await look();
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  timer.unref();
  return {
    get problem() {
      return problem;
    },
    stop: () => clearInterval(timer),
  };
}

const toMib = (bytes: number): number => Math.floor(bytes / MIB);
