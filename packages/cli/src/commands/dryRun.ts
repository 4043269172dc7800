import { type AptosWebhook, type EvmWebhook, isAptosWebhook } from '@sluice/kit';
import {
  type AptosDryRun,
  type AptosNetwork,
  type EvmDryRun,
  type NearMiss,
  mergeNearMisses,
  mergeSeen,
} from '@sluice/kit/sluice';
import { findAptosNetwork, toAptosNetwork } from '@sluice/kit/contract';
import type { Command } from 'commander';
import {
  type Connection,
  type ConnectionOptions,
  addConnectionOptions,
  connect,
} from '../connection/connection.ts';
import {
  type Seen,
  describeBlock,
  describeNearMisses,
  describeSeen,
} from '../streams/describeDryRun.ts';
import { toCount, toRange } from '../flags/durations.ts';
import { findTransaction, onlyOf, onlyOfAptos } from '../live/readTransaction.ts';
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
  const { tx } = options;
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
  const family = familyOf(fields);
  if (chainId !== undefined && (toAptosNetwork(chainId) !== undefined) !== (family === 'aptos')) {
    const of = family === 'aptos' ? 'Aptos' : 'EVM chains';
    throw new CommandError('usage', `The transaction is of ${chainId}, and the stream of ${of}`);
  }
  const total = to - from + 1;
  const progress = createProgress(terminal, { what: 'blocks', total });
  let matched = 0;
  let records = 0;
  let close: NearMiss[] = [];
  let had: Seen[] = [];
  for (let block = from; block <= to; block++) {
    const question = { chain, block, fields, addresses, tx };
    const { webhook, near, seen } = await matchBlock(connection, question);
    progress.update(block - from + 1);
    close = mergeNearMisses(close, near);
    had = mergeSeen(had, seen);
    const found = webhook === null ? 0 : countRecords(webhook);
    records += found;
    if (found > 0) matched++;
    // What was nearly let pass was seen, too.
    if (found === 0 && (seen.length === 0 || !options.json)) continue;
    progress.end();
    if (options.json) terminal.sayJson({ block, records: found, webhook, near, seen });
    else if (webhook !== null)
      describeBlock(block, found, webhook, terminal.width).forEach(terminal.say);
  }
  progress.end();
  if (!options.json) {
    describeSeen(had, tx, terminal.width).forEach(terminal.say);
    describeNearMisses(close, tx, terminal.width).forEach(terminal.say);
  }
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
  /** Of a transaction: the chain that has it, as streams name it. */
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
  return { from: blockNumber, to: blockNumber, chainId: findAptosNetwork(chainId) ?? chainId };
}

async function readWanted(connection: Connection, stream: string): Promise<Wanted> {
  const summary = await findStream(connection, stream);
  return {
    fields: toFields(await readStream(connection.api, summary)),
    addresses: [...(await readAddresses(connection.api, summary)).keys()],
  };
}

/** What of a stream decides what it gets; the rest says where it goes. */
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
    'triggers',
    'getNativeBalances',
  ] satisfies (keyof EvmDryRun)[],
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

interface Question extends Wanted {
  chain: string;
  block: number;
  /** What else the block has is left out. */
  tx: string | undefined;
}

interface Answer {
  /** Null where nothing matches. */
  webhook: EvmWebhook | AptosWebhook | null;
  /** Empty of Aptos. */
  near: NearMiss[];
  seen: Seen[];
}

async function matchBlock(
  { sluice }: Connection,
  { chain, block, fields, addresses, tx }: Question,
): Promise<Answer> {
  const family = familyOf(fields);
  const names: readonly string[] = MATCHING_FIELDS[family];
  const matching = Object.fromEntries(
    Object.entries(fields).filter(([name]) => names.includes(name)),
  );
  const asked = { block, addresses, ...matching };
  const isWhole = tx === undefined;
  if (family === 'aptos') {
    const { webhook, seen } = await sluice.dryRunAptos(chain as AptosNetwork, asked);
    const its = webhook === null || isWhole ? webhook : onlyOfAptos(webhook, tx);
    return { webhook: its ?? null, near: [], seen };
  }
  const { webhook, near, seen } = await sluice.dryRunEvm(chain, asked);
  const its = webhook === null || isWhole ? webhook : onlyOf(webhook, tx);
  return { webhook: its ?? null, near, seen };
}

const countRecords = (webhook: EvmWebhook | AptosWebhook): number =>
  isAptosWebhook(webhook)
    ? webhook.transactions.length
    : webhook.logs.length + webhook.txs.length + webhook.txsInternal.length;
