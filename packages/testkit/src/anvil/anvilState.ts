import { existsSync } from 'node:fs';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type AnvilDump, repairDump } from './anvilDump.ts';

/*
 * How a local chain survives `kill -9` of everything. What anvil 1.7.1 does, by experiment:
 *
 * - A dump loaded with `--load-state` gives the same chain: hashes, transactions, receipts, logs,
 *   balances and nonces are equal. Of the states before the head nothing is left (`eth_call` at an
 *   older block answers BlockOutOfRangeError) unless the dump was taken with its history, and that
 *   is some 700 kB a block once the system contract of EIP-2935 holds its 8,191 block hashes.
 * - Its own `--state-interval` writes over the file in place: killed in the middle of a write it
 *   leaves half a file or none of it, and `--state` then refuses to start. Hence our own writes: a temporary
 *   file, made durable, renamed, with the one before kept beside it.
 * - `anvil_dumpState` answers gzip, and `--load-state` reads plain JSON only.
 * - Each start makes a genesis block of its own and keeps it beside the loaded one. The next dump holds
 *   both, in no order, and the load after that takes either: block 0 changes its hash.
 * - The dump is not one snapshot: a block mined meanwhile may be in the state and not in the chain.
 * - `--transaction-block-keeper` drops the transactions, receipts and logs of older blocks and changes
 *   none of their hashes. Their headers stay in memory and in every dump for good; no option drops
 *   them. A dump took 0.04 s at 1,000 blocks, 0.4 s at 12,000 and grows by 10 ms per 1,000 more, which
 *   is why the interval follows the time of the last one, and why a load cuts old blocks off. anvil
 *   accepts a chain with a hole after its first block.
 */

/** The file that anvil starts from, and where that came from. */
export interface LoadableState {
  /** Plain JSON for `--load-state`; delete it once anvil has started. */
  loadFile: string;
  /** The saved file it was made of. */
  savedFile: string;
}

/**
 * The saved states of a path, newest first: `<path>` and `<path>.previous`, each unpacked for anvil
 * when it is asked for.
 *
 * @param keepBlocks newest blocks to keep; older ones, but the genesis block, are cut off.
 * @param onUnreadable told of a file that is damaged; the next is tried.
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
      // gzip ends with a checksum, so a file that was cut short does not unpack.
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
 * Replaces the saved state in one step and keeps the one before as `<path>.previous`. Killed at any
 * point, it leaves at least one whole file.
 *
 * @param dump what `anvil_dumpState` answered, unpacked from hex: gzip.
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

/** A loop that saves the chain's state again and again. */
export interface StateSaver {
  /** Ends the loop, waiting for a save under way, and saves once more. Never rejects. */
  stop(): Promise<void>;
  /** Ends the loop at once; a save under way may fail, which is not reported. */
  abandon(): void;
}

export interface StateSaverOptions {
  statePath: string;
  /** One whole dump of the chain, as gzip. */
  readDump: () => Promise<Buffer>;
  /** Told when a save fails; the loop goes on, since the next may succeed. */
  onFailure: (error: Error) => void;
}

/** A block per second loses at most one or two blocks. */
const shortestPauseMs = 1_000;

/** Dumping may take a tenth of one core: at a day of blocks, a dump of 1 s every 10 s. */
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
