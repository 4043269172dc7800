import { statfs } from 'node:fs/promises';
import type { Log } from '../base/log.ts';
import type { LedgerFiles } from '../store/store.ts';
import { flagOf } from '../config/settings.ts';

export interface DiskWatch {
  /** Why no new blocks should be read now; undefined while there is enough space. */
  readonly problem: string | undefined;
  /** Used share of the disk at the last check: 0 to 1. */
  readonly usedRatio: number;
  /** Warning that the disk is almost full, or will be within a day; undefined otherwise. */
  readonly filling: string | undefined;
  stop(): void;
}

/** Reads the fields of `statfs` that show how full a disk is. */
type ReadDisk = (folder: string) => Promise<{ blocks: number; bavail: number; bsize: number }>;

const CHECK_MS = 5_000;
const MIB = 1024 * 1024;
/**
 * Multiple of the reserved space below which free space triggers a warning, even if the ledger
 * grows slowly.
 */
const LITTLE = 4;
/**
 * Growth is measured over the last hour, and only after ten minutes, because a backfill makes the
 * ledger grow fast but ends.
 */
const HOUR_MS = 3_600_000;
const MEASURED_MS = HOUR_MS / 6;
const SAMPLE_MS = 60_000;
const FULL_WITHIN_HOURS = 24;

export interface DiskReaders {
  readDisk?: ReadDisk;
  now?: () => number;
}

/**
 * Monitors the free space of the disk that contains the ledger. While the free space is below the
 * minimum, no blocks are read, because the sending of accepted deliveries needs space.
 */
export async function watchDisk(
  { folder, readSizeBytes }: LedgerFiles,
  minFreeBytes: number,
  log: Log,
  { readDisk = statfs, now = Date.now }: DiskReaders = {},
): Promise<DiskWatch> {
  let problem: string | undefined;
  let filling: string | undefined;
  let usedRatio = 0;
  const sizes: { at: number; bytes: number }[] = [];
  /** Returns the growth of the ledger in bytes per hour; 0 until it can be measured. */
  const measureGrowth = async (): Promise<number> => {
    const at = now();
    const bytes = await readSizeBytes();
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
        : `${toMib(free)} MiB free on the disk of ${folder}, below the minimum of ${toMib(minFreeBytes)} MiB ` +
          `(${flagOf('minFreeMib')}): the service reads blocks again when there is more space`;
    usedRatio = 1 - bavail / blocks;
    const was = filling;
    const growth = await measureGrowth();
    const hours = growth > 0 ? Math.max(0, free - minFreeBytes) / growth : Infinity;
    filling =
      free >= LITTLE * minFreeBytes && hours > FULL_WITHIN_HOURS
        ? undefined
        : `${toMib(free)} MiB free on the disk of ${folder}` +
          (hours > FULL_WITHIN_HOURS
            ? ''
            : `, and the ledger grows by ${toMib(growth)} MiB per hour: full in about ${Math.ceil(hours)} h`) +
          `. Free up space, or shorten the retention (${flagOf('keepDelivered')}, ${flagOf('keepUndelivered')})`;
    if (was === undefined && filling !== undefined) log.warn('disk filling', { reason: filling });
  };
  await look();
  const timer = setInterval(() => void look().catch(() => undefined), CHECK_MS);
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
