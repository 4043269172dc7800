import type { Command } from 'commander';
import {
  type Connection,
  type ConnectionOptions,
  addConnectionOptions,
  connect,
} from '../connection/connection.ts';
import { writePrivately } from '../connection/contexts.ts';
import {
  type AddressDiff,
  compareAddresses,
  readAddresses,
  removeAddresses,
} from '../streams/addresses.ts';
import {
  type DestinationDiff,
  SAME_DESTINATIONS,
  changeDestinations,
  compareDestinations,
  countDestinationChanges,
  lacksSecret,
  toDestinationFields,
} from '../streams/destinations.ts';
import { examples } from '../flags/examples.ts';
import { createStream, readStream, updateStream } from '../streams/saveStream.ts';
import {
  type DeclaredStream,
  checkFields,
  readStreamFile,
  writeStreamFile,
} from '../streams/streamFile.ts';
import {
  type FieldChange,
  compareFields,
  hideClientSecret,
  lacksClientSecret,
  toFields,
} from '../streams/streamFields.ts';
import { familyOfFields } from '@sluice/kit/contract';
import { CommandError } from '../terminal/errors.ts';
import { confirm } from '../terminal/prompt.ts';
import { formatQuantity } from '../terminal/progress.ts';
import { cutText } from '../terminal/text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { StreamSummary } from '@sluice/kit/sluice';
import { resolve } from 'node:path';

export const declareApply = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(command)
    .option('-f, --file <file>', 'YAML file with a list of streams')
    .option('--dry-run', 'Print the changes without applying them')
    .option('--prune', 'Delete streams that are not in the file')
    .option('-y, --yes', 'Do not prompt before deleting streams')
    .addHelpText(
      'after',
      examples('sluice apply -f sluice.yaml --dry-run', 'sluice apply -f sluice.yaml --prune'),
    )
    .action((options: ApplyOptions) => apply(options, terminal));

interface ApplyOptions extends ConnectionOptions {
  file?: string;
  dryRun?: boolean;
  prune?: boolean;
  yes?: boolean;
}

/** The planned operation for one stream. */
type Step =
  | { readonly do: 'create'; readonly tag: string; readonly declared: DeclaredStream }
  | {
      readonly do: 'update';
      readonly tag: string;
      readonly stream: StreamSummary;
      readonly changes: readonly FieldChange[];
      readonly addresses: AddressDiff;
      readonly destinations: DestinationDiff;
    }
  | { readonly do: 'keep'; readonly tag: string }
  | { readonly do: 'delete'; readonly tag: string; readonly stream: StreamSummary };

async function apply(options: ApplyOptions, terminal: Terminal): Promise<void> {
  if (options.file === undefined) {
    throw new CommandError('usage', 'Missing -f', 'pass a file, e.g. sluice apply -f sluice.yaml');
  }
  const declared = readStreamFile(options.file);
  for (const each of declared) checkFields(options.file, each);
  const connection = connect(options, terminal);
  const steps = await plan(connection, declared, options.prune ?? false);
  if (options.json) terminal.printJson(steps.map(toJson));
  else for (const line of steps.flatMap((step) => describe(step, terminal))) terminal.print(line);
  const changes = steps.filter((step) => step.do !== 'keep');
  if (options.dryRun || changes.length === 0) {
    terminal.note(changes.length === 0 ? 'Nothing to change' : 'Nothing was changed (--dry-run)');
    return;
  }
  const deletions = steps.filter((step) => step.do === 'delete').length;
  if (deletions > 0) {
    await confirm(
      terminal,
      `This deletes ${formatQuantity(deletions, 'stream')}.`,
      String(deletions),
      options,
    );
  }
  for (const step of changes) await carryOut(connection, step);
  terminal.note(`Applied ${formatQuantity(changes.length, 'change')}`);
}

async function plan(
  { api, sluice }: Connection,
  declared: readonly DeclaredStream[],
  prune: boolean,
): Promise<Step[]> {
  const present = await sluice.listStreamSummaries();
  const steps: Step[] = [];
  const kept = new Set(declared.flatMap(({ id }) => id ?? []));
  for (const each of declared) {
    const { tag } = each;
    const byId = present.filter((one) => one.id === each.id);
    const byTag = present.filter((one) => one.tag === tag && !kept.has(one.id));
    const [stream, ...more] = byId.length > 0 ? byId : byTag;
    if (more.length > 0) {
      throw new CommandError(
        'invalid_file',
        `${more.length + 1} streams of the service have the tag ${tag}`,
        'add the ID of each stream to the file, as sluice export does, or use unique tags',
      );
    }
    if (stream === undefined) {
      for (const fields of [each.fields, ...(each.destinations ?? [])]) {
        refuseWithoutClientSecret({ tag, fields });
      }
      steps.push({ do: 'create', tag, declared: each });
      continue;
    }
    kept.add(stream.id);
    if (stream.family !== familyOfFields(each.fields)) {
      throw new CommandError(
        'invalid_file',
        `${tag} already exists as an ${stream.family} stream`,
        'use another tag for the new stream',
      );
    }
    const changes = compareFields(await readStream(api, stream), each.fields);
    if (changes.some(({ field }) => field === 'oauth2')) refuseWithoutClientSecret(each);
    const addresses =
      each.addresses === undefined
        ? { added: [], removed: [] }
        : compareAddresses(stream.family, await readAddresses(api, stream), each.addresses);
    const destinations =
      each.destinations === undefined
        ? SAME_DESTINATIONS
        : compareDestinations(await sluice.listDestinations(stream.id), each.destinations);
    if (lacksSecret(destinations)) throw noClientSecret(tag);
    const count =
      changes.length +
      addresses.added.length +
      addresses.removed.length +
      countDestinationChanges(destinations);
    steps.push(
      count === 0
        ? { do: 'keep', tag }
        : { do: 'update', tag, stream, changes, addresses, destinations },
    );
  }
  if (prune) {
    for (const stream of present) {
      if (!kept.has(stream.id)) steps.push({ do: 'delete', tag: stream.tag || stream.id, stream });
    }
  }
  return steps;
}

function refuseWithoutClientSecret({ tag, fields }: Pick<DeclaredStream, 'tag' | 'fields'>): void {
  if (lacksClientSecret(fields)) throw noClientSecret(tag);
}

const noClientSecret = (tag: string): CommandError =>
  new CommandError(
    'invalid_file',
    `${tag}: oauth2 has no client secret, which the service does not return`,
    'add clientSecretFile, the path of a file with the secret, to oauth2',
  );

async function carryOut({ api, sluice }: Connection, step: Step): Promise<void> {
  switch (step.do) {
    case 'keep':
      return;
    case 'delete':
      await api.streams.delete(step.stream.id, { networkType: step.stream.family });
      return;
    case 'create': {
      const { fields, addresses = [], destinations: added = [] } = step.declared;
      const { id } = await createStream(api, { description: '', ...fields });
      await changeDestinations(sluice, id, { ...SAME_DESTINATIONS, added });
      await sluice.importAddresses({ streamId: id, family: familyOfFields(fields), addresses });
      return;
    }
    case 'update': {
      const { stream, changes, addresses, destinations } = step;
      if (changes.length > 0) {
        await updateStream(
          api,
          stream,
          Object.fromEntries(changes.map(({ field, to }) => [field, to])),
        );
      }
      const { id: streamId, family } = stream;
      await changeDestinations(sluice, streamId, destinations);
      await sluice.importAddresses({ streamId, family, addresses: addresses.added });
      await removeAddresses(api, stream, addresses.removed);
    }
  }
}

function describe(step: Step, { tint, width }: Terminal): string[] {
  const name = (mark: string): string => cutText(`${mark} ${step.tag}`, width);
  switch (step.do) {
    case 'keep':
      return [tint('faint', name('='))];
    case 'delete':
      return [tint('bad', name('-'))];
    case 'create': {
      const { fields, addresses = [], destinations = [] } = step.declared;
      return [
        tint('ok', name('+')),
        ...Object.entries(fields)
          .filter(([field]) => field !== 'tag')
          .map(([field, value]) => `    ${field}: ${brief(value, width - field.length - 6)}`),
        ...destinations.map((fields) => describeDestination('+', fields, width)),
        ...(addresses.length > 0
          ? [`    ${formatQuantity(addresses.length, 'address', 'addresses')}`]
          : []),
      ];
    }
    case 'update': {
      const { added, removed } = step.addresses;
      const { destinations } = step;
      return [
        tint('warn', name('~')),
        ...step.changes.map((change) => describeChange(change, 4, width)),
        ...destinations.removed.map((each) => describeDestination('-', each, width)),
        ...destinations.changed.flatMap((each) => [
          describeDestination('~', each, width),
          ...each.changes.map((change) => describeChange(change, 6, width)),
        ]),
        ...destinations.added.map((fields) => describeDestination('+', fields, width)),
        ...(added.length > 0
          ? [`    + ${formatQuantity(added.length, 'address', 'addresses')}`]
          : []),
        ...(removed.length > 0
          ? [`    - ${formatQuantity(removed.length, 'address', 'addresses')}`]
          : []),
      ];
    }
  }
}

function describeChange({ field, from, to }: FieldChange, indent: number, width: number): string {
  const half = Math.floor((width - field.length - indent - 5) / 2);
  return `${' '.repeat(indent)}${field}: ${brief(from, half)} → ${brief(to, half)}`;
}

const describeDestination = (
  mark: '+' | '~' | '-',
  { webhookUrl }: { readonly webhookUrl?: unknown },
  width: number,
): string => cutText(`    ${mark} destination ${String(webhookUrl)}`, width);

const brief = (value: unknown, width: number): string =>
  cutText(JSON.stringify(hideClientSecret(value)), width);

function toJson(step: Step): object {
  if (step.do !== 'update') return { do: step.do, tag: step.tag };
  const { tag, changes, addresses, destinations } = step;
  const visible = (all: readonly FieldChange[]) =>
    all.map((each) => ({ ...each, to: hideClientSecret(each.to) }));
  return {
    do: step.do,
    tag,
    changes: visible(changes),
    ...(countDestinationChanges(destinations) > 0 && {
      destinationsAdded: destinations.added.map(({ webhookUrl }) => webhookUrl),
      destinationsChanged: destinations.changed.map(({ destination, changes: theirs }) => ({
        destination,
        changes: visible(theirs),
      })),
      destinationsRemoved: destinations.removed.map(({ destination }) => destination),
    }),
    addressesAdded: addresses.added.length,
    addressesRemoved: addresses.removed.length,
  };
}

export const declareExport = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(command)
    .option('-o, --output <file>', 'Output file; default: standard output')
    .option('--no-addresses', 'Omit the addresses')
    .addHelpText('after', examples('sluice export -o sluice.yaml'))
    .action((options: ExportOptions) => exportStreams(options, terminal));

interface ExportOptions extends ConnectionOptions {
  output?: string;
  addresses: boolean;
}

/**
 * Writes a file for `apply`, or prints its text. Only the user can read the file, because custom
 * headers can contain secrets.
 */
async function exportStreams(options: ExportOptions, terminal: Terminal): Promise<void> {
  const { api, sluice } = connect(options, terminal);
  const streams: DeclaredStream[] = [];
  const present = await sluice.listStreamSummaries();
  const isShared = (tag: string): boolean =>
    tag === '' || present.filter((each) => each.tag === tag).length > 1;
  for (const summary of present) {
    const { tag, ...fields } = toFields(await readStream(api, summary));
    const addresses = options.addresses
      ? [...(await readAddresses(api, summary)).values()]
      : undefined;
    const destinations = (await sluice.listDestinations(summary.id)).map(toDestinationFields);
    const id = isShared(summary.tag) ? summary.id : undefined;
    streams.push({ tag: typeof tag === 'string' ? tag : '', id, fields, addresses, destinations });
  }
  if (options.json) return terminal.printJson(streams);
  const text = writeStreamFile(streams);
  if (options.output === undefined) terminal.printExact(text);
  else {
    writePrivately(resolve(terminal.cwd, options.output), text);
    terminal.note(`Wrote ${formatQuantity(streams.length, 'stream')} to ${options.output}`);
  }
}
