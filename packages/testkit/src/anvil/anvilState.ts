import { existsSync } from 'node:fs';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type AnvilDump, repairDump } from './anvilDump.ts';

/*
 * Lets a local chain survive `kill -9` of everything. Experiments with anvil 1.7.1 showed:
 *
 * - A dump loaded with `--load-state` restores the same chain: hashes, transactions, receipts,
 *   logs, balances and nonces are equal. Earlier states are lost (`eth_call` at an older block
 *   returns BlockOutOfRangeError) unless the dump includes its history, which takes about 700 kB
 *   per block once the system contract of EIP-2935 holds its 8,191 block hashes.
 * - anvil's `--state-interval` overwrites the file in place: if anvil is killed during a write, the
 *   file is truncated or empty, and `--state` then refuses to start. We therefore write a temporary
 *   file, sync and rename it, and keep the previous one.
 * - `anvil_dumpState` returns gzip, but `--load-state` reads only plain JSON.
 * - Each start creates a new genesis block and keeps it in addition to the loaded one. The next
 *   dump contains both, in no order, and the next load picks either, so block 0's hash changes.
 * - The dump is not a snapshot: a block mined meanwhile can be in the state but not in the chain.
 * - `--transaction-block-keeper` drops transactions, receipts and logs of older blocks without
 *   changing their hashes. Their headers stay in memory and in every dump. A dump took 0.04 s
 *   at 1,000 blocks and 0.4 s at 12,000, and grows by 10 ms per 1,000 more. The interval therefore
 *   depends on the duration of the last dump, and a load drops old blocks. anvil accepts a chain
 *   with a gap after its first block.
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
