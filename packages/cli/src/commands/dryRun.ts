import type { DryRunOptions, EvmWebhook } from '@sluice/kit';
import type { AptosDryRun, AptosNetwork, AptosWebhook } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import {
  type Connection,
  type ConnectionOptions,
  addConnectionOptions,
  connect,
} from '../connection.ts';
import { toCount, toRange } from '../durations.ts';
import { describeBody } from '../live/deliveryLine.ts';
import { findTransaction, onlyOf } from '../live/readTransaction.ts';
import { readAddresses } from '../streams/addresses.ts';
import { findStream } from '../streams/findStream.ts';
import { readStream } from '../streams/saveStream.ts';
import { readStreamFile } from '../streams/streamFile.ts';
import { type Fields, familyOf, toFields } from '../streams/streamFields.ts';
import { CommandError } from '../terminal/errors.ts';
import { count, createProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const declareDryRun = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(command)
    .option('-f, --file <file>', 'YAML of one stream')
    .option('--stream <stream>', 'as this one is now, by id or tag')
    .option('--blocks <range>', 'one, or from..to, both included')
    .option('--tx <hash>', 'one transaction alone, wherever it is')
    .option('--chain <id>', 'default: the first of the stream')
    .option('--expect <n>', 'exit code 9 unless so many blocks match')
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

/** What a stream would have got of past blocks. Nothing is sent or stored. */
async function dryRun(options: CommandOptions, terminal: Terminal): Promise<void> {
  const given = checkOptions(options);
  const connection = connect(options, terminal);
  const { from, to, chainId } =
    typeof given.blocks === 'object' ? given.blocks : await findBlock(connection, given.blocks);
  const { fields, addresses } =
    typeof given.stream === 'object' ? given.stream : await readWanted(connection, given.stream);
  const chain =
    chainId ??
    options.chain ??
    (fields['chainIds'] as string[] | undefined)?.[0] ??
    (fields['network'] as string[] | undefined)?.[0];
  if (chain === undefined)
    throw new CommandError('usage', 'The stream names no chain', 'pass --chain');
  const total = to - from + 1;
  const progress = createProgress(terminal, { what: 'blocks', total });
  let matched = 0;
  let records = 0;
  for (let block = from; block <= to; block++) {
    const matching = await matchBlock(connection, { chain, block, fields, addresses });
    const webhook =
      options.tx === undefined ? matching : onlyOf(matching as EvmWebhook, options.tx);
    progress.update(block - from + 1);
    const found = webhook === undefined ? 0 : countRecords(webhook);
    if (found === 0) continue;
    matched++;
    records += found;
    progress.end();
    if (options.json) terminal.sayJson({ block, records: found, webhook });
    else terminal.say(`#${block}  ${found} records  ${describeBody(JSON.stringify(webhook))}`);
  }
  progress.end();
  terminal.note(`${count(matched)} of ${count(total)} blocks match, ${count(records)} records`);
  if (given.expect !== undefined && matched !== given.expect) {
    throw new CommandError(
      'check_failed',
      `${matched} blocks match, expected were ${given.expect}`,
      'sluice explain <block> tells why one matches or not',
    );
  }
}

interface Range {
  from: number;
  to: number;
  /** Of a transaction: the chain that has it. */
  chainId?: string;
}

interface Wanted {
  fields: Fields;
  addresses: string[];
}

interface Given {
  /** Or the hash of a transaction. */
  blocks: Range | string;
  /** Or the id or tag of one that is there. */
  stream: Wanted | string;
  expect: number | undefined;
}

/** @throws CommandError for what cannot be, whatever the service has. */
function checkOptions({ blocks, tx, file, stream, expect }: CommandOptions): Given {
  const range = blocks === undefined ? undefined : toRange('--blocks', blocks);
  const which = range ?? tx;
  if (which === undefined || (range !== undefined && tx !== undefined)) {
    throw new CommandError('usage', 'Which blocks? One of --blocks and --tx is needed');
  }
  if (range !== undefined && range.to - range.from >= MAX_BLOCKS) {
    throw new CommandError('usage', `--blocks ${blocks}: at most ${MAX_BLOCKS} at once`);
  }
  const declared = file === undefined ? undefined : readDeclared(file);
  const wanted = declared ?? stream;
  if (wanted === undefined || (declared !== undefined && stream !== undefined)) {
    throw new CommandError('usage', 'Which stream? One of -f and --stream is needed');
  }
  return {
    blocks: which,
    stream: wanted,
    expect: expect === undefined ? undefined : toCount('--expect', expect),
  };
}

function readDeclared(file: string): Wanted {
  const [declared, ...more] = readStreamFile(file);
  if (declared === undefined || more.length > 0) {
    throw new CommandError(
      'invalid_file',
      `${file} should declare one stream, it declares ${more.length + (declared ? 1 : 0)}`,
    );
  }
  return {
    fields: declared.fields,
    addresses: (declared.addresses ?? []).map(({ address }) => address),
  };
}

async function findBlock(connection: Connection, tx: string): Promise<Range> {
  const { chainId, blockNumber } = await findTransaction(connection, tx);
  return { from: blockNumber, to: blockNumber, chainId };
}

async function readWanted(connection: Connection, stream: string): Promise<Wanted> {
  const summary = await findStream(connection, stream);
  return {
    fields: toFields(await readStream(connection.api, summary)),
    addresses: [...(await readAddresses(connection.api, summary)).keys()],
  };
}

type Answer = Partial<EvmWebhook> | Partial<AptosWebhook>;

/** What of a stream decides which records it gets; the rest says where they go. */
const MATCHING_FIELDS = {
  evm: [
    'tag',
    'topic0',
    'allAddresses',
    'includeNativeTxs',
    'includeContractLogs',
    'includeInternalTxs',
    'includeAllTxLogs',
    'filterPossibleSpamAddresses',
    'abi',
    'advancedOptions',
  ] satisfies (keyof DryRunOptions)[],
  aptos: [
    'tag',
    'functions',
    'events',
    'includePayload',
    'includeEvents',
    'includeChanges',
    'allAddresses',
  ] satisfies (keyof AptosDryRun)[],
} as const;

async function matchBlock(
  { api, sluice }: Connection,
  { chain, block, fields, addresses }: Wanted & { chain: string; block: number },
): Promise<Answer> {
  const family = familyOf(fields);
  const names: readonly string[] = MATCHING_FIELDS[family];
  const matching = Object.fromEntries(
    Object.entries(fields).filter(([name]) => names.includes(name)),
  );
  return family === 'evm'
    ? api.streams.dryRunBlock({ chainId: chain, blockNumber: block, addresses, ...matching })
    : sluice.dryRunAptosBlock(chain as AptosNetwork, { block, addresses, ...matching });
}

const countRecords = (webhook: Answer): number =>
  'transactions' in webhook
    ? (webhook.transactions?.length ?? 0)
    : ['logs', 'txs', 'txsInternal'].reduce(
        (sum, name) =>
          sum + ((webhook as Record<string, unknown[] | undefined>)[name]?.length ?? 0),
        0,
      );
