import type { AddDestination, StreamDestination } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { toCount } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { type FieldOptions, addFieldOptions, toGivenFields } from '../streams/fieldFlags.ts';
import { flagsOf } from '../streams/flagTable.ts';
import { findStream, nameOf } from '../streams/findStream.ts';
import { CommandError } from '../terminal/errors.ts';
import { confirm } from '../terminal/prompt.ts';
import { type Cell, type TableOptions, addTableOptions, printTable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The fields of a stream that an additional destination has, too. */
const FIELDS = [
  'webhookUrl',
  'description',
  'maxInFlight',
  'maxPerSecond',
  'timeoutSeconds',
  'retries',
  'strictOrder',
];

const flags = flagsOf().filter(({ field }) => FIELDS.includes(field));

export function declareDestinations(command: Command, terminal: Terminal): void {
  const add = (spec: string, description: string): Command =>
    addConnectionOptions(command.command(spec).description(description));
  const addFlags = (to: Command): Command => addFieldOptions(to, flags);

  addTableOptions(add('list <stream>', 'List the additional destinations of a stream'))
    .addHelpText('after', examples('sluice destinations list payments'))
    .action((name: string, options: ListOptions) => list(name, options, terminal));
  addFlags(add('add <stream>', 'Send the webhooks of a stream to another URL as well'))
    .addHelpText(
      'after',
      examples(
        'sluice destinations add payments --url https://billing.example/hook',
        'sluice destinations add payments --url sluice://feed',
      ),
    )
    .action((name: string, options: ChangeOptions) => addOne(name, options, terminal));
  addFlags(add('update <stream> <number>', 'Change an additional destination'))
    .addHelpText('after', examples('sluice destinations update payments 1 --strict-order'))
    .action((name: string, number: string, options: ChangeOptions) =>
      update(name, number, options, terminal),
    );
  add('remove <stream> <number>', 'Remove an additional destination')
    .option('-y, --yes', 'Do not prompt')
    .addHelpText('after', examples('sluice destinations remove payments 1'))
    .action((name: string, number: string, options: RemoveOptions) =>
      remove(name, number, options, terminal),
    );
}

type ListOptions = ConnectionOptions & TableOptions;
type ChangeOptions = ConnectionOptions & FieldOptions;
type RemoveOptions = ConnectionOptions & { yes?: boolean };

async function list(name: string, options: ListOptions, terminal: Terminal): Promise<void> {
  const { sluice } = connect(options, terminal);
  const { id } = await findStream({ sluice }, name);
  const destinations = await sluice.listDestinations(id);
  if (options.json) return terminal.printJson(destinations);
  if (destinations.length === 0) {
    return terminal.note('No additional destinations. The webhooks go to the URL of the stream.');
  }
  printTable(
    terminal,
    destinations,
    [
      { title: 'NUMBER', value: ({ destination }) => destination, right: true },
      { title: 'URL', value: ({ webhookUrl }) => webhookUrl, cut: 'middle' },
      { title: 'STATUS', value: toStatus },
      { title: 'DESCRIPTION', value: ({ description }) => description, cut: 'end' },
    ],
    options,
  );
  for (const { destination, status, statusMessage } of destinations) {
    if (status === 'error' || status === 'terminated') {
      terminal.note(`${destination}: ${statusMessage}`);
    }
  }
}

const toStatus = ({ status }: StreamDestination): Cell =>
  status === 'error' || status === 'terminated' ? { text: status, tone: 'bad' } : status;

async function addOne(name: string, options: ChangeOptions, terminal: Terminal): Promise<void> {
  const { sluice } = connect(options, terminal);
  const { id, family } = await findStream({ sluice }, name);
  const fields = toGivenFields(options, family, terminal);
  if (fields['webhookUrl'] === undefined) {
    throw new CommandError('usage', '--url is required');
  }
  print(await sluice.addDestination(id, fields as unknown as AddDestination), options, terminal);
}

async function update(
  name: string,
  number: string,
  options: ChangeOptions,
  terminal: Terminal,
): Promise<void> {
  const destination = toCount('<number>', number);
  const { sluice } = connect(options, terminal);
  const { id, family } = await findStream({ sluice }, name);
  const fields = toGivenFields(options, family, terminal);
  print(await sluice.updateDestination(id, destination, fields), options, terminal);
}

function print(
  destination: StreamDestination,
  { json }: ConnectionOptions,
  terminal: Terminal,
): void {
  if (json) return terminal.printJson(destination);
  const { destination: number, webhookUrl, status } = destination;
  terminal.printText(`Destination ${number}  ${webhookUrl}  ${status}`, { indent: 4 });
}

async function remove(
  name: string,
  number: string,
  options: RemoveOptions,
  terminal: Terminal,
): Promise<void> {
  const destination = toCount('<number>', number);
  const { sluice } = connect(options, terminal);
  const stream = await findStream({ sluice }, name);
  const what = `This removes destination ${destination} of ${nameOf(stream)} and cancels its waiting deliveries.`;
  await confirm(terminal, what, String(destination), options);
  await sluice.removeDestination(stream.id, destination);
  if (options.json) terminal.printJson({ destination, removed: true });
  else terminal.printText(`Removed destination ${destination}`);
}
