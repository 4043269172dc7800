import { existsSync } from 'node:fs';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type AnvilDump, repairDump } from './anvilDump.ts';

/*
 * Saves the state of a local chain so that the chain survives `kill -9` of all processes.
 * Experiments with anvil 1.7.1 showed:
 * - A dump loaded with `--load-state` restores hashes, transactions, receipts, logs, balances and
 *   nonces. The state after earlier blocks is lost unless the dump includes historical states, at
 *   about 700 kB per block.
 * - anvil's `--state-interval` overwrites the file in place, so a kill during a write leaves a file
 *   that `--state` rejects. We therefore write a temporary file, rename it, and keep the previous
 *   one.
 * - `anvil_dumpState` returns gzip, but `--load-state` reads only plain JSON.
 * - Each start adds a new genesis block to the loaded blocks. The order of blocks in a dump is
 *   arbitrary, so the hash of block 0 can change.
 * - The dump is not a snapshot: a block mined during the dump can be in the state but not in the
 *   chain.
 * - `--transaction-block-keeper` drops transactions, receipts and logs of older blocks, but not
 *   their headers, so dumps become slower: 0.04 s at 1,000 blocks, 0.4 s at 12,000. The interval
 *   therefore depends on the duration of the last save, and old blocks are dropped at the next
 *   load.
 */

/** A saved state, unpacked into a file that anvil can load. */
export interface LoadableState {
  /** Plain JSON for `--load-state`. The caller deletes the file once anvil has started. */
  loadFile: string;
  /** The saved state from which `loadFile` was made. */
  savedFile: string;
}

/**
 * Yields the saved states of a path, newest first: `<path>` and `<path>.previous`, each unpacked
 * only on demand.
 *
 * @param keepBlocks number of newest blocks to keep; older ones, except blocks 0 and 1, are
 *   dropped.
 * @param onUnreadable called for a file that cannot be unpacked; the next one is then tried.
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
 * killed meanwhile, the earlier state is still complete at one of the two paths.
 *
 * @param dump the gzip data that `anvil_dumpState` returns, decoded from hex.
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

/** A running loop that saves the state of the chain. */
export interface StateSaver {
  /** Stops the loop, waits for a save in progress, and saves once more. Never rejects. */
  stop(): Promise<void>;
  /**
   * Stops the loop without another save. Discards a dump in progress and reports no more failures.
   */
  abandon(): void;
}

export interface StateSaverOptions {
  statePath: string;
  /** Returns a dump of the complete chain, as gzip. */
  readDump: () => Promise<Buffer>;
  /** Called for each save that fails. The loop continues, because the next save may succeed. */
  onFailure: (error: Error) => void;
}

/** Minimum pause between saves. With one block per second, a crash loses one or two blocks. */
const shortestPauseMs = 1_000;

/**
 * Pause between saves, as a multiple of the duration of the last save, so that anvil spends less
 * than a tenth of its time on dumps.
 */
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
