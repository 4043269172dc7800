import type {
  ExplainOutcome,
  ExplainReason,
  ExplainVerdict,
  Explanation,
  StreamVerdict,
} from '@sluice/kit/sluice';
import { findDeliveryIds, isShortId } from '@sluice/kit/operator';
import { type Command, Option } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { chooseId, findDeliveryId, shortenId } from '../connection/shortIds.ts';
import { examples } from '../flags/examples.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal, Tone } from '../terminal/terminal.ts';

const EXPECTABLE = [
  'delivered',
  'held',
  'waiting',
  'failed',
  'cancelled',
  'not-matched',
  'not-evaluated',
] as const;

export const declareExplain = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(
    command.argument('<what>', 'Transaction, block, address, ENS name, delivery or Aptos version'),
  )
    .option('--chain <id>', 'Chain to search, if several chains have the block or transaction')
    .option('--stream <stream>', 'Only this stream, by ID or tag')
    .option('--stages', 'Show every stage, not only the deciding one')
    .addOption(
      new Option('--expect <verdict>', 'Exit with code 9 unless a stream has this verdict').choices(
        EXPECTABLE,
      ),
    )
    .addHelpText(
      'after',
      examples('sluice explain 0x5c50… --stages', 'sluice explain 21000000 --chain 0x1'),
    )
    .action((what: string, options: ExplainOptions) => explain(what, options, terminal));

interface ExplainOptions extends ConnectionOptions {
  chain?: string;
  stream?: string;
  stages?: boolean;
  expect?: (typeof EXPECTABLE)[number];
}

const TONES: Readonly<Record<ExplainVerdict, Tone>> = {
  delivered: 'ok',
  held: 'warn',
  waiting: 'warn',
  failed: 'bad',
  cancelled: 'faint',
  'not-matched': 'faint',
  'not-evaluated': 'warn',
  watched: 'ok',
  'not-watched': 'faint',
};

/** Prints each stream's verdict and the reason for it. */
async function explain(given: string, options: ExplainOptions, terminal: Terminal): Promise<void> {
  const { sluice } = connect(options, terminal);
  const { stream: wanted } = options;
  const ask = (what: string) => sluice.explain(what, { chain: options.chain });
  let found = await ask(isShortId(given) ? await findDeliveryId(sluice, given) : given);
  // The short ID of one in 40 deliveries has only digits, like the number of a block.
  if (!wasFound(found) && /^\d{8}$/.test(given)) {
    const id = chooseId(given, await findDeliveryIds(sluice, given), 'deliveries');
    if (id !== undefined) found = await ask(id);
  }
  const streams = found.streams.filter(
    ({ streamId, tag }) =>
      wanted === undefined ||
      wanted === tag ||
      chooseId(wanted, [streamId], 'streams') === streamId,
  );
  const isFound = wasFound(found);
  if (options.json) terminal.printJson({ ...found, streams });
  else {
    if (isFound) terminal.printText(found.message);
    for (const reason of found.stages) printReason(reason, terminal);
    for (const verdict of streams) printVerdict(verdict, options.stages ?? false, terminal);
  }
  if (!isFound) {
    throw new CommandError(
      'not_found',
      found.message,
      'pass the complete hash, ID or number; if several chains have it, add --chain <id>',
    );
  }
  const { expect } = options;
  if (expect !== undefined && !streams.some(({ verdict }) => verdict === expect)) {
    const got =
      streams.map((each) => `${each.tag || shortenId(each.streamId)} ${each.verdict}`).join(', ') ||
      'none';
    throw new CommandError('check_failed', `No stream has the verdict ${expect}; verdicts: ${got}`);
  }
}

const wasFound = ({ kind, block }: Explanation): boolean =>
  kind !== 'unknown' && (kind === 'address' || block !== null);

function printVerdict(stream: StreamVerdict, all: boolean, terminal: Terminal): void {
  const { tag, streamId, verdict, reason, stages, values, valueCount, deliveries } = stream;
  terminal.print();
  terminal.printText(`${verdict}  ${tag || streamId}`, {
    tint: { tone: TONES[verdict], of: verdict },
  });
  for (const each of all ? stages : [reason]) printReason(each, terminal);
  // The only value of a verdict is its reason.
  for (const value of all || valueCount > 1 || verdict === 'watched' ? values : []) {
    terminal.printText(`  ${value.name}, block ${value.block}`);
    printReason(value.reason, terminal);
  }
  if (values.length < valueCount) {
    terminal.print(`  ${valueCount - values.length} more values`);
  }
  for (const { id, phase, state, attempts } of deliveries) {
    terminal.print(`  ${terminal.tint('faint', id)}  ${phase}  ${state}, attempts: ${attempts}`);
  }
}

const MARKS: Readonly<Record<ExplainOutcome, [Tone, string]>> = {
  passed: ['ok', '✓'],
  stopped: ['bad', '✗'],
  waiting: ['warn', '…'],
  unknown: ['faint', '?'],
};

function printReason({ stage, outcome, message }: ExplainReason, { printText }: Terminal): void {
  const [tone, mark] = MARKS[outcome];
  printText(`  ${mark} ${stage.padEnd(12)} ${message}`, { indent: 17, tint: { tone, of: mark } });
}
