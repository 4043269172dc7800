import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../base/log.ts';
import { LEDGER_FILE } from '../store/engine/sqlite/sqlite.ts';

export interface DiskWatch {
  /** Why no blocks should be taken in now, for people; undefined while there is room. */
  readonly problem: string | undefined;
  /** Of the whole disk, as it was looked at last: 0 to 1. */
  readonly usedRatio: number;
  /** Why it is about to be full, for people; undefined while it is not. */
  readonly filling: string | undefined;
  stop(): void;
}

/** What of `statfs` says how full a disk is. */
type ReadDisk = (folder: string) => Promise<{ blocks: number; bavail: number; bsize: number }>;

/** Bytes of the ledger in its folder. */
type ReadLedger = (folder: string) => Promise<number>;

const LOOK_MS = 5_000;
const MIB = 1024 * 1024;
/** Times the space that is kept free: less than this is little, however slowly the ledger grows. */
const LITTLE = 4;
/** Growth is measured over an hour, and believed after ten minutes: a backfill grows fast, and ends. */
const HOUR_MS = 3_600_000;
const MEASURED_MS = HOUR_MS / 6;
const SAMPLE_MS = 60_000;
const FULL_WITHIN_HOURS = 24;

export interface DiskReaders {
  readDisk?: ReadDisk;
  readLedger?: ReadLedger;
  now?: () => number;
}

/**
 * Looks after the free space of the disk that holds `folder`. Blocks can be read again later; what is
 * already accepted must still be deliverable, and that takes room to write.
 */
export async function watchDisk(
  folder: string,
  minFreeBytes: number,
  log: Log,
  { readDisk = statfs, readLedger = readLedgerSize, now = Date.now }: DiskReaders = {},
): Promise<DiskWatch> {
  let problem: string | undefined;
  let filling: string | undefined;
  let usedRatio = 0;
  const sizes: { at: number; bytes: number }[] = [];
  /** Bytes an hour, 0 before it is known. */
  const measureGrowth = async (): Promise<number> => {
    const at = now();
    const bytes = await readLedger(folder);
    if (at - (sizes.at(-1)?.at ?? -Infinity) >= SAMPLE_MS) sizes.push({ at, bytes });
    while (sizes.length > 1 && at - sizes[0]!.at > HOUR_MS) sizes.shift();
    const [first] = sizes;
    const overMs = at - (first?.at ?? at);
    return overMs < MEASURED_MS ? 0 : ((bytes - first!.bytes) / overMs) * HOUR_MS;
  };
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
    const growth = await measureGrowth();
    const hours = growth > 0 ? Math.max(0, free - minFreeBytes) / growth : Infinity;
    filling =
      free >= LITTLE * minFreeBytes && hours > FULL_WITHIN_HOURS
        ? undefined
        : `${toMib(free)} MiB are left on the disk of ${folder}` +
          (hours > FULL_WITHIN_HOURS
            ? ''
            : `, and the ledger grows by ${toMib(growth)} MiB an hour: full in about ${Math.ceil(hours)} h`) +
          '. Make room, or keep less (--keep-delivered, --keep-undelivered)';
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

async function readLedgerSize(folder: string): Promise<number> {
  const sizes = await Promise.all(
    ['', '-wal'].map(async (ending) => {
      const found = await stat(join(folder, LEDGER_FILE + ending)).catch(() => undefined);
      return found?.size ?? 0;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
