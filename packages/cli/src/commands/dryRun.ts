import type { CloseMatch } from '@sluice/kit/sluice';
import { countRecords, mergeCloseMatches, mergeObserved, webhooksOf } from '@sluice/kit/operator';
import { familyOf, nameOfChain } from '@sluice/kit/contract';
import type { Command } from 'commander';
import {
  type Connection,
  type ConnectionOptions,
  addConnectionOptions,
  connect,
} from '../connection/connection.ts';
import { CHAINS_OF } from '../families/names.ts';
import {
  type Observed,
  describeBlock,
  describeCloseMatches,
  describeObserved,
} from '../streams/describeDryRun.ts';
import { examples } from '../flags/examples.ts';
import { toCount, toRange } from '../flags/durations.ts';
import { findTransaction } from '../live/readTransaction.ts';
import { type TriedStream, matchBlock, tryDeclared, tryStored } from '../streams/matchBlock.ts';
import { findStream } from '../streams/findStream.ts';
import { readStreamFile } from '../streams/streamFile.ts';
import { CommandError } from '../terminal/errors.ts';
import { formatCount, formatQuantity, createProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const declareDryRun = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(command)
    .option('-f, --file <file>', 'YAML file with one stream')
    .option('--stream <stream>', 'Existing stream, by ID or tag')
    .option('--blocks <range>', 'Blocks to match, e.g. 100 or 100..200')
    .option('--tx <hash>', 'Match one transaction, on the chain that has it')
    .option('--chain <id>', 'Chain of --blocks; default: the first chain of the stream')
    .option('--expect <n>', 'Exit with code 9 unless exactly this many blocks match')
    .addHelpText(
      'after',
      examples(
        'sluice dry-run --stream payments --blocks 21000000..21000100',
        'sluice dry-run -f stream.yaml --tx 0x…',
      ),
    )
    .action((options: CommandOptions) => dryRun(options, terminal));

interface CommandOptions extends ConnectionOptions {
  file?: string;
  stream?: string;
  blocks?: string;
  tx?: string;
  chain?: string;
  expect?: string;
}

const MAX_BLOCKS = 10_000;

/** Matches past blocks against a stream. Nothing is sent or stored. */
async function dryRun(options: CommandOptions, terminal: Terminal): Promise<void> {
  const given = checkOptions(options);
  const { tx } = options;
  const connection = connect(options, terminal);
  const { from, to, chainId } =
    typeof given.blocks === 'object' ? given.blocks : await findBlock(connection, given.blocks);
  const stream =
    typeof given.stream === 'object'
      ? given.stream
      : tryStored(await findStream(connection, given.stream));
  const chain = chainId ?? options.chain ?? stream.chains[0];
  if (chain === undefined)
    throw new CommandError('usage', 'The stream has no chain', 'pass --chain');
  const { family } = stream;
  if (chainId !== undefined && familyOf(chainId) !== family) {
    throw new CommandError(
      'usage',
      `The transaction is on ${nameOfChain(chainId)}, but the stream is on ${CHAINS_OF[family]}`,
    );
  }
  const total = to - from + 1;
  const progress = createProgress(terminal, { what: 'blocks', total });
  let matched = 0;
  let records = 0;
  let close: CloseMatch[] = [];
  let had: Observed[] = [];
  /** The first block with values that could not be compared. */
  let lacking: { block: number; message: string } | undefined;
  for (let block = from; block <= to; block++) {
    const match = await matchBlock(connection, { stream, chain, block, tx });
    const { closeMatches, observed, values = [] } = match;
    const webhooks = webhooksOf(match);
    progress.update(block - from + 1);
    close = mergeCloseMatches(close, closeMatches);
    had = mergeObserved(had, observed);
    const found = webhooks.reduce((sum, webhook) => sum + countRecords(webhook), 0);
    const unknown = values.find(({ reason }) => reason.outcome === 'unknown');
    if (unknown !== undefined) lacking ??= { block, message: unknown.reason.message };
    records += found;
    if (found > 0) matched++;
    // Close matches need no separate check, because each one is among the observed events.
    const isEmpty = observed.length === 0 && values.length === 0;
    if (found === 0 && (isEmpty || !options.json)) continue;
    progress.end();
    if (options.json) terminal.printJson({ block, records: found, ...match });
    else {
      for (const webhook of webhooks) {
        const lines = describeBlock(block, countRecords(webhook), webhook, terminal.width);
        lines.forEach(terminal.print);
      }
    }
  }
  progress.end();
  if (!options.json) {
    describeObserved(had, tx, terminal.width).forEach(terminal.print);
    describeCloseMatches(close, tx, terminal.width).forEach(terminal.print);
  }
  if (lacking !== undefined) {
    terminal.note(`Values are missing from block ${lacking.block}: ${lacking.message}`);
  }
  terminal.note(
    `${formatCount(matched)} of ${formatQuantity(total, 'block')} matched, ${formatQuantity(records, 'record')}`,
  );
  if (given.expect !== undefined && matched !== given.expect) {
    throw new CommandError(
      'check_failed',
      `${formatQuantity(matched, 'block')} matched, expected ${formatCount(given.expect)}`,
      'see why a block did or did not match: sluice explain <block>',
    );
  }
}

interface Range {
  from: number;
  to: number;
  /** Chain of the transaction; missing for a block range. */
  chainId?: string;
}

interface Given {
  /** A block range, or the hash of a transaction. */
  blocks: Range | string;
  /** A declared stream, or the id or tag of an existing one. */
  stream: TriedStream | string;
  expect: number | undefined;
}

/**
 * Parses and checks the options before the first call to the service.
 *
 * @throws CommandError if an option is missing, invalid or conflicts with another option.
 */
function checkOptions({ blocks, tx, file, stream, expect }: CommandOptions): Given {
  const range = blocks === undefined ? undefined : toRange('--blocks', blocks);
  const which = range ?? tx;
  if (which === undefined || (range !== undefined && tx !== undefined)) {
    throw new CommandError('usage', 'Pass either --blocks or --tx');
  }
  if (range !== undefined && range.to - range.from >= MAX_BLOCKS) {
    throw new CommandError('usage', `--blocks ${blocks}: should be at most ${MAX_BLOCKS} blocks`);
  }
  const declared = file === undefined ? undefined : readDeclared(file);
  const wanted = declared ?? stream;
  if (wanted === undefined || (declared !== undefined && stream !== undefined)) {
    throw new CommandError('usage', 'Pass either -f or --stream');
  }
  return {
    blocks: which,
    stream: wanted,
    expect: expect === undefined ? undefined : toCount('--expect', expect),
  };
}

function readDeclared(file: string): TriedStream {
  const [declared, ...more] = readStreamFile(file);
  if (declared === undefined || more.length > 0) {
    throw new CommandError(
      'invalid_file',
      `${file} should declare one stream, but declares ${more.length + (declared ? 1 : 0)}`,
    );
  }
  const { fields, addresses = [] } = declared;
  return tryDeclared(
    fields,
    addresses.map(({ address }) => address),
  );
}

async function findBlock(connection: Connection, tx: string): Promise<Range> {
  const { chainId, blockNumber } = await findTransaction(connection, tx);
  return { from: blockNumber, to: blockNumber, chainId };
}
