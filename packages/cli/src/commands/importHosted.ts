import { CHAIN_FAMILIES } from '@sluice/kit/contract';
import { HOSTED_DROPPED } from '../families/hosted.ts';
import { type Client, type SluiceError, createClient, isSluiceError } from '@sluice/kit';
import type { NetworkType } from '@sluice/kit';
import type { SluiceClient } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { resolve } from 'node:path';
import {
  type ConnectionOptions,
  addConnectionOptions,
  connect,
  toClientOptions,
} from '../connection/connection.ts';
import { examples } from '../flags/examples.ts';
import { sluiceCommand } from '../package/packaged.ts';
import { type ImportJournal, type ImportedStream, openJournal } from '../streams/importJournal.ts';
import type { ListedAddress } from '@sluice/kit/operator';
import { type SecretOptions, importSecret, explainRefusal } from '../streams/importSecret.ts';
import { createStream } from '../streams/saveStream.ts';
import { type AnyStream, compareFields, toContractFields } from '../streams/streamFields.ts';
import { CommandError } from '../terminal/errors.ts';
import { type Progress, formatQuantity, createProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareHostedImport(command: Command, terminal: Terminal): void {
  addConnectionOptions(
    command
      .command('moralis')
      .description('Import streams and addresses from the hosted Moralis Streams API'),
  )
    .option('--hosted-key <key>', 'API key of the hosted service (env: MORALIS_API_KEY)')
    .option('--hosted-url <url>', 'URL of the hosted service', 'https://api.moralis-streams.com')
    .option(
      '--streams-secret <secret>',
      'Secret that receivers currently verify with (env: MORALIS_STREAMS_SECRET); default: prompt',
    )
    .option('--new-secret', 'Sign with a newly created secret, which your receivers must accept')
    .option(
      '--activate',
      'Activate streams that are active in the hosted service; default: import all as paused',
    )
    .option('--journal <file>', 'Journal of the import; a second run resumes from it', JOURNAL)
    .option('--dry-run', 'Print what would be created')
    .addHelpText(
      'after',
      examples(
        'sluice import moralis --hosted-key … --dry-run',
        'sluice import moralis --hosted-key … --streams-secret …',
      ),
    )
    .action((options: ImportOptions) => importHosted(options, terminal));
}

const JOURNAL = 'sluice-import.json';

interface ImportOptions extends ConnectionOptions, SecretOptions {
  hostedKey?: string;
  hostedUrl: string;
  activate?: boolean;
  journal: string;
  dryRun?: boolean;
}

/** Number of pages of 100 addresses that are collected before they are imported and journaled. */
const PAGES_AT_ONCE = 50;
/**
 * Maximum number of retries of a call, mostly for 429 responses, which include the time to wait.
 */
const MAX_RETRIES = 6;

async function importHosted(options: ImportOptions, terminal: Terminal): Promise<void> {
  const apiKey = options.hostedKey ?? terminal.env['MORALIS_API_KEY'];
  if (apiKey === undefined) {
    throw new CommandError(
      'usage',
      'API key of the hosted service is required',
      'pass --hosted-key, or set MORALIS_API_KEY',
    );
  }
  const hosted = createClient({
    baseUrl: options.hostedUrl,
    apiKey,
    maxRetries: MAX_RETRIES,
    ...toClientOptions(options, terminal),
  });
  const found = await listHosted(hosted).catch((error: unknown) => {
    throw isSluiceError(error) ? toHostedError(error, options) : error;
  });
  if (options.dryRun) return printPlan(found, options, terminal);
  const { api, sluice } = connect(options, terminal);
  const journal = openJournal(resolve(terminal.cwd, options.journal), options.hostedUrl);
  await importSecret(api, { ...options, hostedKey: apiKey, journal }, terminal);
  const ours = await listAll(api);
  let failed = 0;
  for (const { stream, family } of found) {
    const entry = journal.find(stream.id);
    const done = (imported: ImportedStream, how: string): void => {
      if (options.json)
        terminal.printJson({
          from: stream.id,
          tag: stream.tag,
          to: imported.id,
          addresses: imported.addresses,
        });
      else
        terminal.print(
          `${terminal.tint('ok', '✓')} ${stream.tag || stream.id}  ${how}  ${formatQuantity(imported.addresses, 'address', 'addresses')}`,
        );
    };
    if (entry?.done) {
      done(entry, 'already imported');
      continue;
    }
    try {
      const target =
        entry ??
        (await findOrCreate(api, {
          stream,
          family,
          ours,
          journal,
          activate: options.activate ?? false,
        }));
      done(await copyAddresses({ hosted, sluice, stream, target, journal, terminal }), 'imported');
    } catch (error) {
      if (terminal.signal.aborted) throw error;
      if (!isSluiceError(error)) throw error;
      failed++;
      const name = stream.tag || stream.id;
      const refusal = explainRefusal(error);
      terminal.note(`✗ ${name}: ${whyOf(error)}`, { tone: 'bad', of: '✗' });
      if (refusal !== undefined) terminal.note(`  ${refusal}`);
    }
  }
  if (failed > 0) {
    throw new CommandError(
      'partial',
      `${failed} of ${found.length} streams failed to import`,
      'fix the problems above and run the command again; it resumes where it stopped',
    );
  }
  if (!options.activate)
    terminal.note(
      `Imported streams are paused to avoid duplicate webhooks. Resume: ${sluiceCommand()} streams resume <tag>`,
    );
}

/**
 * Returns the service's field errors, which are more specific than the error's message, or the
 * message if there are none.
 */
function whyOf({ message, fields }: SluiceError): string {
  const said = Object.values(fields).map((problem) => problem.message);
  return said.length > 0 ? said.join('; ') : message;
}

interface HostedStream {
  stream: AnyStream;
  family: NetworkType;
}

const UNREACHED: ReadonlySet<string> = new Set(['network_error', 'redirected', 'invalid_response']);

/** Names the flags of the hosted service, which differ from those of this service. */
function toHostedError(error: SluiceError, { hostedUrl }: ImportOptions): unknown {
  if (error.code === 'unauthorized' || error.code === 'forbidden') {
    return new CommandError(
      'not_signed_in',
      `The hosted service rejected the API key: ${error.message}`,
      'check --hosted-key (MORALIS_API_KEY)',
    );
  }
  if (!UNREACHED.has(error.code)) return error;
  return new CommandError(
    'no_service',
    `Cannot reach the hosted service at ${hostedUrl}: ${error.message}`,
    'check --hosted-url, and the connection to it',
  );
}

async function listHosted(hosted: Client): Promise<HostedStream[]> {
  const found: HostedStream[] = [];
  for (const family of CHAIN_FAMILIES) {
    try {
      for await (const stream of hosted.streams.list({ networkType: family })) {
        found.push({ stream, family });
      }
    } catch (error) {
      // These errors are expected, because the hosted service no longer supports all families.
      const isGone =
        HOSTED_DROPPED.includes(family) &&
        isSluiceError(error) &&
        ['not_found', 'bad_request', 'forbidden', 'validation_failed', 'server_error'].includes(
          error.code,
        );
      if (!isGone) throw error;
    }
  }
  return found;
}

async function listAll(api: Client): Promise<AnyStream[]> {
  const streams: AnyStream[] = [];
  for (const networkType of CHAIN_FAMILIES) {
    for await (const stream of api.streams.list({ networkType })) streams.push(stream);
  }
  return streams;
}

function printPlan(
  found: readonly HostedStream[],
  options: ImportOptions,
  terminal: Terminal,
): void {
  for (const { stream, family } of found) {
    const { id, tag, status, amountOfAddresses } = stream;
    if (options.json)
      terminal.printJson({ from: id, tag, family, status, fields: toContractFields(stream) });
    else {
      const addresses =
        amountOfAddresses === undefined
          ? ''
          : `, ${formatQuantity(amountOfAddresses, 'address', 'addresses')}`;
      terminal.printText(`+ ${tag || id}  ${family}, ${status} in the hosted service${addresses}`);
    }
  }
  terminal.note(`${formatQuantity(found.length, 'stream')}; nothing was imported (--dry-run)`);
}

/**
 * Finds a local stream with the same fields that is not in the journal, because an interrupted run
 * may have created it; otherwise creates a stream. Pauses the stream unless `activate` is set and
 * the hosted stream is active.
 */
async function findOrCreate(
  api: Client,
  {
    stream,
    family,
    ours,
    journal,
    activate,
  }: HostedStream & { ours: AnyStream[]; journal: ImportJournal; activate: boolean },
): Promise<ImportedStream> {
  const fields = toContractFields(stream);
  const known = ours.find(
    (each) => !journal.has(each.id) && compareFields(each, fields).length === 0,
  );
  const made = known ?? (await createStream(api, fields));
  if (!activate || stream.status !== 'active') {
    await api.streams.setStatus(made.id, 'paused', { networkType: family });
  }
  return journal.save(stream.id, { id: made.id, family, addresses: 0, done: false });
}

async function copyAddresses({
  hosted,
  sluice,
  stream,
  target,
  journal,
  terminal,
}: {
  hosted: Client;
  sluice: SluiceClient;
  stream: AnyStream;
  target: ImportedStream;
  journal: ImportJournal;
  terminal: Terminal;
}): Promise<ImportedStream> {
  const { family: networkType } = target;
  let at = target;
  let gathered: ListedAddress[] = [];
  let pages = 0;
  let progress: Progress | undefined;
  const write = async (cursor: string | undefined): Promise<void> => {
    const { id: streamId, family } = at;
    await sluice.importAddresses({ streamId, family, addresses: gathered });
    const addresses = at.addresses + gathered.length;
    at = journal.save(stream.id, { ...target, addresses, cursor, done: cursor === undefined });
    gathered = [];
    pages = 0;
    progress?.update(addresses);
  };
  const query = { networkType, ...(at.cursor !== undefined && { cursor: at.cursor }) };
  for await (const page of hosted.streams.listAddresses(stream.id, query).pages()) {
    progress ??= createProgress(terminal, {
      what: `addresses of ${stream.tag || stream.id}`,
      total: page.total,
      from: at.addresses,
    });
    gathered.push(...page.result.map(({ address }) => ({ address })));
    if (++pages >= PAGES_AT_ONCE && page.cursor) await write(page.cursor);
  }
  await write(undefined);
  progress?.end();
  return at;
}
