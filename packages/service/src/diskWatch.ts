import { statfs } from 'node:fs/promises';
import type { Log } from './observe.ts';

export interface DiskWatch {
  /** Why no blocks should be taken in now, for people; undefined while there is room. */
  readonly problem: string | undefined;
  /** Of the whole disk, as it was looked at last: 0 to 1. */
  readonly usedRatio: number;
  /** That it will be full some day, for people, from 80 % on; undefined before. */
  readonly filling: string | undefined;
  stop(): void;
}

/** What of `statfs` says how full a disk is. */
type ReadDisk = (folder: string) => Promise<{ blocks: number; bavail: number; bsize: number }>;

const LOOK_MS = 5_000;
const MIB = 1024 * 1024;
const FILLING_RATIO = 0.8;

/**
 * Looks after the free space of the disk that holds `folder`. Blocks can be read again later; what is
 * already accepted must still be deliverable, and that takes room to write.
 */
export async function watchDisk(
  folder: string,
  minFreeBytes: number,
  log: Log,
  readDisk: ReadDisk = statfs,
): Promise<DiskWatch> {
  let problem: string | undefined;
  let filling: string | undefined;
  let usedRatio = 0;
  const look = async (): Promise<void> => {
    const { blocks, bavail, bsize } = await readDisk(folder);
    const free = bavail * bsize;
    problem =
      free >= minFreeBytes
        ? undefined
        : `${toMib(free)} MiB left on the disk of ${folder}, and ${toMib(minFreeBytes)} are kept free ` +
          '(--min-free-mib): blocks are taken in again when there is room';
    usedRatio = 1 - bavail / blocks;
    const was = filling;
    filling =
      usedRatio < FILLING_RATIO
        ? undefined
        : `${Math.floor(usedRatio * 100)} % of the disk of ${folder} is used, ${toMib(free)} MiB are left: ` +
          'make room, or keep less (--keep-delivered, --keep-undelivered)';
    if (was === undefined && filling !== undefined) log.warn('disk filling', { reason: filling });
  };
  await look();
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  timer.unref();
  return {
    get problem() {
      return problem;
    },
    get usedRatio() {
      return usedRatio;
    },
    get filling() {
      return filling;
    },
    stop: () => clearInterval(timer),
  };
}

const toMib = (bytes: number): number => Math.floor(bytes / MIB);
