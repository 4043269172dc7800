import type { Job } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { findBackfillId, shortenId } from '../connection/shortIds.ts';
import { examples } from '../flags/examples.ts';
import { rewriteCommands, sluiceCommand } from '../package/packaged.ts';
import { findStream, nameOf } from '../streams/findStream.ts';
import { fillPast, toBlockNumber } from '../streams/past.ts';
import { formatCount, formatQuantity } from '../terminal/progress.ts';
import { type Cell, type TableOptions, addTableOptions, printTable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareBackfills(command: Command, terminal: Terminal): void {
  const add = (spec: string, description: string): Command =>
    addConnectionOptions(command.command(spec).description(description));

  addTableOptions(add('list', 'List backfills and searches for children, newest first'))
    .option('--stream <stream>', 'Only those of this stream')
    .addHelpText('after', examples('sluice backfills list --stream pools'))
    .action((options: ListOptions) => list(options, terminal));
  add('create <stream>', 'Match past blocks of a stream, up to its first live block')
    .option('--from <block>', 'First block', '0')
    .addHelpText('after', examples('sluice backfills create pools --from 19000000'))
    .action(async (name: string, { from, ...options }: CreateOptions) => {
      const { sluice } = connect(options, terminal);
      const blockFrom = toBlockNumber('--from', from);
      const stream = await findStream({ sluice }, name);
      const jobs = await fillPast(
        sluice,
        { id: stream.id, name: nameOf(stream) },
        blockFrom,
        terminal,
      );
      if (options.json) terminal.printJson(jobs);
      else for (const job of jobs) terminal.printText(describe(job), { indent: 4 });
    });
  for (const [verb, state, description] of [
    ['pause', 'paused', 'Pause a backfill or search for children'],
    ['resume', 'running', 'Resume a backfill or search that is paused or has failed'],
    ['cancel', 'cancelled', 'Permanently stop a backfill or search for children'],
  ] as const) {
    add(`${verb} <backfill>`, description)
      .addHelpText('after', examples(`sluice backfills ${verb} 01a207c0`))
      .action(async (given: string, options: ConnectionOptions) => {
        const { sluice } = connect(options, terminal);
        const job = await sluice.setJobState(await findBackfillId(sluice, given), state);
        if (options.json) terminal.printJson(job);
        else terminal.printText(describe(job), { indent: 4 });
      });
  }
}

interface CreateOptions extends ConnectionOptions {
  from: string;
}

interface ListOptions extends ConnectionOptions, TableOptions {
  stream?: string;
}

async function list(options: ListOptions, terminal: Terminal): Promise<void> {
  const { sluice } = connect(options, terminal);
  const { stream } = options;
  const jobs = await sluice.listJobs(
    stream === undefined ? {} : { streamId: (await findStream({ sluice }, stream)).id },
  );
  if (options.json) return terminal.printJson(jobs);
  if (jobs.length === 0)
    return terminal.note(
      `No backfills yet. Create one: ${sluiceCommand()} backfills create --help`,
    );
  const tags = new Map((await sluice.listStreamSummaries()).map(({ id, tag }) => [id, tag]));
  printTable(
    terminal,
    jobs,
    [
      { title: 'BACKFILL', value: ({ id }) => id, cut: 'middle' },
      { title: 'STREAM', value: ({ streamId: id }) => tags.get(id) || id, cut: 'end' },
      { title: 'CHAIN', value: ({ chainId }) => chainId },
      { title: 'BLOCKS', value: describeBlocks, cut: 'middle' },
      { title: 'DONE', value: describeDone, right: true },
      { title: 'FOUND', value: describeFound, right: true },
      { title: 'STATE', value: toState },
    ],
    options,
  );
  for (const { id, message } of jobs) {
    if (message !== '') terminal.note(`${shortenId(id)}: ${rewriteCommands(message)}`);
  }
}

const describeBlocks = ({ blockFrom, blockTo }: Job): string => `${blockFrom}..${blockTo}`;

/** Returns the share of the blocks that were matched or searched. */
const describeDone = ({ blockFrom, blockTo, nextBlock }: Job): string =>
  `${Math.floor((100 * (nextBlock - blockFrom)) / (blockTo - blockFrom + 1))}%`;

const describeFound = ({ kind, matches }: Job): string =>
  kind === 'children'
    ? formatQuantity(matches, 'child', 'children')
    : formatQuantity(matches, 'match', 'matches');

const toState = ({ state }: Job): Cell =>
  state === 'failed' ? { text: state, tone: 'bad' } : state;

function describe(job: Job): string {
  const { id, chainId, blockFrom, blockTo, nextBlock, state } = job;
  const blocks = formatQuantity(blockTo - blockFrom + 1, 'block');
  return `${id}  ${state}  ${formatCount(nextBlock - blockFrom)} of ${blocks} of ${chainId}, ${describeFound(job)}`;
}
