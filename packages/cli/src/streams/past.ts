/** Matches the past of a stream by backfills, and shows their progress. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Job, SluiceClient } from '@sluice/kit/sluice';
import { rewriteCommands, sluiceCommand } from '../package/packaged.ts';
import { CommandError } from '../terminal/errors.ts';
import { createProgress, formatQuantity } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

const CHECK_EVERY_MS = 500;

/** @throws CommandError `usage` if the text is not the number of a block */
export function toBlockNumber(flag: string, given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new CommandError('usage', `${flag} ${given}: should be the number of a block`);
}

/**
 * Starts the backfills of a stream from a block to its first live block, or continues those of an
 * earlier call, and waits for their end.
 *
 * @throws CommandError `partial` if a backfill fails
 */
export async function fillPast(
  sluice: SluiceClient,
  { id: streamId, name }: { id: string; name: string },
  blockFrom: number,
  terminal: Terminal,
): Promise<Job[]> {
  const started = await sluice.createBackfills(streamId, { blockFrom });
  if (started.length === 0) {
    terminal.note(`${name}: there are no blocks from ${blockFrom} before the first live one`);
    return [];
  }
  for (const { id, chainId, blockTo, state } of started) {
    terminal.note(`${name}: matching blocks ${blockFrom} to ${blockTo} of ${chainId}`);
    if (state === 'failed' || state === 'paused') await sluice.setJobState(id, 'running');
  }
  let ended: Job[];
  try {
    ended = await waitFor(sluice, started, name, terminal);
  } catch (error) {
    terminal.note(
      `The backfill continues in the service. Show its progress: ${sluiceCommand()} backfills list --stream ${name}`,
    );
    throw error;
  }
  const unfinished = ended.filter(({ state }) => state !== 'done');
  if (unfinished.length > 0) {
    throw new CommandError(
      'partial',
      unfinished
        .map(({ chainId, state, message }) => `The backfill of ${chainId} is ${state}: ${message}`)
        .join('\n'),
      `run the command again: ${sluiceCommand()} backfills create ${name} --from ${blockFrom}`,
    );
  }
  const found = ended.reduce((sum, { matches }) => sum + matches, 0);
  terminal.note(`${name}: ${formatQuantity(found, 'past block')} matched`);
  return ended;
}

async function waitFor(
  sluice: SluiceClient,
  started: readonly Job[],
  name: string,
  terminal: Terminal,
): Promise<Job[]> {
  const total = started.reduce((sum, job) => sum + job.blockTo - job.blockFrom + 1, 0);
  const progress = createProgress(terminal, { what: 'blocks', total, from: doneOf(started) });
  const shown = new Map<string, string>();
  try {
    for (;;) {
      const jobs = await Promise.all(started.map(({ id }) => sluice.getJob(id)));
      for (const { id, state, message } of jobs) {
        if (state !== 'running' || message === '' || shown.get(id) === message) continue;
        shown.set(id, message);
        progress.end();
        terminal.note(`${name}: ${rewriteCommands(message)}`);
      }
      progress.update(doneOf(jobs));
      if (jobs.every(({ state }) => state !== 'running')) return jobs;
      await delay(CHECK_EVERY_MS, undefined, { signal: terminal.signal });
    }
  } finally {
    progress.end();
  }
}

const doneOf = (jobs: readonly Job[]): number =>
  jobs.reduce((sum, { nextBlock, blockFrom }) => sum + nextBlock - blockFrom, 0);
