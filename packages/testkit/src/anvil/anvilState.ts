import { existsSync } from 'node:fs';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type AnvilDump, repairDump } from './anvilDump.ts';

/*
 * Lets a local chain survive `kill -9` of everything. Experiments with anvil 1.7.1 showed:
 * - A dump loaded with `--load-state` restores hashes, transactions, receipts, logs, balances and
 * nonces. Earlier states are lost unless the dump includes its history, about 700 kB per block.
 * - anvil's `--state-interval` overwrites the file in place, so a kill during a write leaves a file
 * that `--state` rejects. We therefore write a temporary file, rename it, and keep the previous
 * one.
 * - `anvil_dumpState` returns gzip, but `--load-state` reads only plain JSON.
 * - Each start adds a new genesis block to the loaded one, in no order, so block 0's hash changes.
 * - The dump is not a snapshot: a block mined meanwhile can be in the state but not in the chain.
 * - `--transaction-block-keeper` drops transactions, receipts and logs of older blocks, but not
 * their headers. A dump took 0.04 s at 1,000 blocks and 0.4 s at 12,000, so the interval depends on
 * the duration of the last dump, and a load drops old blocks.
 */

/** A file that anvil can start from, and its origin. */
export interface LoadableState {
  /** Plain JSON for `--load-state`; delete it once anvil has started. */
  loadFile: string;
  /** The saved file that it comes from. */
  savedFile: string;
}

/**
 * Yields the saved states of a path, newest first: `<path>` and `<path>.previous`, each unpacked
 * only on demand.
 *
 * @param keepBlocks number of newest blocks to keep; older ones, except block 0, are dropped.
 * @param onUnreadable called for a damaged file; the next one is tried.
 */
export async function* readSavedStates(
  statePath: string,
  keepBlocks: number,
  onUnreadable: (savedFile: string, error: Error) => void,
): AsyncGenerator<LoadableState> {
  const loadFile = `${statePath}.loading`;
  for (const savedFile of [statePath, previousOf(statePath)]) {
    if (!existsSync(savedFile)) continue;
    try {
      // gzip ends with a checksum, so unpacking a truncated file fails.
      const json = await promisify(gunzip)(await readFile(savedFile));
      const dump = JSON.parse(json.toString()) as AnvilDump;
      await writeFile(loadFile, JSON.stringify(repairDump(dump, keepBlocks)));
    } catch (error) {
      onUnreadable(savedFile, error as Error);
      continue;
    }
    yield { loadFile, savedFile };
  }
  await rm(loadFile, { force: true });
}

/**
 * Replaces the saved state and keeps the previous one as `<path>.previous`. If the process is
 * killed at any point, at least one complete file is left.
 *
 * @param dump result of `anvil_dumpState`, decoded from hex: gzip.
 */
export async function saveState(statePath: string, dump: Buffer): Promise<void> {
  const writing = `${statePath}.writing`;
  const file = await open(writing, 'w');
  try {
    await file.writeFile(dump);
    await file.sync();
  } finally {
    await file.close();
  }
  if (existsSync(statePath)) await rename(statePath, previousOf(statePath));
  await rename(writing, statePath);
}

function previousOf(statePath: string): string {
  return `${statePath}.previous`;
}

/** A loop that saves the chain's state repeatedly. */
export interface StateSaver {
  /** Stops the loop, waits for a save in progress, and saves once more. Never rejects. */
  stop(): Promise<void>;
  /** Stops the loop immediately; a save in progress may fail, which is not reported. */
  abandon(): void;
}

export interface StateSaverOptions {
  statePath: string;
  /** Returns a complete dump of the chain, as gzip. */
  readDump: () => Promise<Buffer>;
  /** Called when a save fails; the loop continues, because the next one may succeed. */
  onFailure: (error: Error) => void;
}

/** With one block per second, a crash loses at most one or two blocks. */
const shortestPauseMs = 1_000;

/** Maximum share of a core for dumps: after a day of blocks, a dump of 1 s every 10 s. */
const pausePerDumpMs = 10;

export function startSavingState({
  statePath,
  readDump,
  onFailure,
}: StateSaverOptions): StateSaver {
  let abandoned = false;
  let timer: NodeJS.Timeout | undefined;
  let saving = Promise.resolve();

  const save = async () => {
    const startedAt = performance.now();
    try {
      const dump = await readDump();
      if (!abandoned) await saveState(statePath, dump);
    } catch (error) {
      if (!abandoned) onFailure(error as Error);
    }
    return performance.now() - startedAt;
  };

  const schedule = (pauseMs: number) => {
    timer = setTimeout(() => {
      saving = save().then((tookMs) => {
        if (timer) schedule(Math.max(shortestPauseMs, tookMs * pausePerDumpMs));
      });
    }, pauseMs);
    timer.unref();
  };
  schedule(shortestPauseMs);

  const endLoop = () => {
    clearTimeout(timer);
    timer = undefined;
  };

  return {
    stop: async () => {
      endLoop();
      await saving;
      await save();
    },
    abandon: () => {
      endLoop();
      abandoned = true;
    },
  };
}
