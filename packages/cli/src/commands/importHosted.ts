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
import { sluiceCommand } from '../package/packaged.ts';
import { type ImportJournal, type ImportedStream, openJournal } from '../streams/importJournal.ts';
import type { ListedAddress } from '../streams/addressFile.ts';
import { type SecretOptions, bringSecret, explainRefusal } from '../streams/importSecret.ts';
import { createStream } from '../streams/saveStream.ts';
import { type AnyStream, compareFields, toContractFields } from '../streams/streamFields.ts';
import { CommandError } from '../terminal/errors.ts';
import { type Progress, count, createProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareImport(command: Command, terminal: Terminal): void {
  addConnectionOptions(
    command
      .command('moralis')
      .description('streams and addresses of the hosted Streams API, by its own key'),
  )
    .option('--hosted-key <key>', 'its API key; default: variable MORALIS_API_KEY')
    .option('--hosted-url <url>', 'where it is', 'https://api.moralis-streams.com')
    .option(
      '--streams-secret <secret>',
      'what receivers verify with now; default: variable MORALIS_STREAMS_SECRET, or asked for',
    )
    .option('--new-secret', 'sign with a new secret instead; receivers have to learn it first')
    .option('--activate', 'leave active what is active there; default: all arrive paused')
    .option('--journal <file>', 'what has arrived: a second run goes on there', JOURNAL)
    .option('--dry-run', 'print what would be made')
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

/** Pages of 100 that are gathered before they are written and the place is noted. */
const PAGES_AT_ONCE = 50;
/** The hosted service limits how fast it is read, and says how long to wait. */
const MAX_RETRIES = 6;

async function importHosted(options: ImportOptions, terminal: Terminal): Promise<void> {
  const apiKey = options.hostedKey ?? terminal.env['MORALIS_API_KEY'];
  if (apiKey === undefined) {
    throw new CommandError(
      'usage',
      'No key of the hosted service',
      'pass --hosted-key, or set MORALIS_API_KEY',
    );
  }
  const hosted = createClient({
    baseUrl: options.hostedUrl,
    apiKey,
    maxRetries: MAX_RETRIES,
    ...toClientOptions(options, terminal),
  });
  const found = await listHosted(hosted);
  if (options.dryRun) return tellPlan(found, options, terminal);
  const { api, sluice } = connect(options, terminal);
  await bringSecret(api, { ...options, hostedKey: apiKey }, terminal);
  const journal = openJournal(resolve(terminal.cwd, options.journal), options.hostedUrl);
  const ours = await listAll(api);
  let failed = 0;
  for (const { stream, family } of found) {
    const entry = journal.find(stream.id);
    const done = (imported: ImportedStream, how: string): void => {
      if (options.json)
        terminal.sayJson({
          from: stream.id,
          tag: stream.tag,
          to: imported.id,
          addresses: imported.addresses,
        });
      else
        terminal.say(
          `${terminal.tint('ok', '✓')} ${stream.tag || stream.id}  ${how}  ${count(imported.addresses)} addresses`,
        );
    };
    if (entry?.done) {
      done(entry, 'was here already');
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
      done(await copyAddresses({ hosted, sluice, stream, target, journal, terminal }), 'is here');
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
      `${failed} of ${found.length} streams did not arrive whole`,
      'mend what is said above and run it again: it goes on where it stopped',
    );
  }
  if (!options.activate)
    terminal.note(
      `They are paused, so that nobody is told twice: ${sluiceCommand()} streams resume <tag>`,
    );
}

/** What the service says of each field, which is more than its message. */
function whyOf({ message, details = {} }: SluiceError): string {
  const said = Object.values(details).flatMap((detail) =>
    typeof detail === 'object' && detail !== null && 'message' in detail
      ? [String(detail.message)]
      : [],
  );
  return said.length > 0 ? said.join('; ') : message;
}

interface HostedStream {
  stream: AnyStream;
  family: NetworkType;
}

async function listHosted(hosted: Client): Promise<HostedStream[]> {
  const found: HostedStream[] = [];
  for await (const stream of hosted.streams.list()) found.push({ stream, family: 'evm' });
  try {
    for await (const stream of hosted.streams.list({ networkType: 'aptos' })) {
      found.push({ stream, family: 'aptos' });
    }
  } catch (error) {
    // It no longer has any.
    const isGone =
      isSluiceError(error) &&
      ['not_found', 'bad_request', 'forbidden', 'validation_failed', 'server_error'].includes(
        error.code,
      );
    if (!isGone) throw error;
  }
  return found;
}

async function listAll(api: Client): Promise<AnyStream[]> {
  const streams: AnyStream[] = [];
  for await (const stream of api.streams.list()) streams.push(stream);
  for await (const stream of api.streams.list({ networkType: 'aptos' })) streams.push(stream);
  return streams;
}

function tellPlan(
  found: readonly HostedStream[],
  options: ImportOptions,
  terminal: Terminal,
): void {
  for (const { stream, family } of found) {
    const { id, tag, status, amountOfAddresses } = stream;
    if (options.json)
      terminal.sayJson({ from: id, tag, family, status, fields: toContractFields(stream) });
    else {
      const addresses =
        amountOfAddresses === undefined ? '' : `, ${count(amountOfAddresses)} addresses`;
      terminal.sayText(`+ ${tag || id}  ${family}, ${status} there${addresses}`);
    }
  }
  terminal.note(`${count(found.length)} streams; nothing was made (--dry-run)`);
}

/**
 * The stream of ours that takes the hosted one's place: one that an earlier run made and was ended
 * before it could note so, or a new one.
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
