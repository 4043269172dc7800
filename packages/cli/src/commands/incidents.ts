import { type Command, Option } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { shortenId } from '../connection/shortIds.ts';
import { toCount } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { printTable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

interface IncidentOptions extends ConnectionOptions {
  open?: true;
  ended?: true;
  limit: string;
}

export function declareIncidents(command: Command, terminal: Terminal): void {
  addConnectionOptions(command)
    .description('List what stopped or delayed webhooks, by cause, newest first')
    .addOption(new Option('--open', 'Only incidents that last').conflicts('ended'))
    .option('--ended', 'Only incidents that ended')
    .option('--limit <n>', 'Maximum number of incidents, at most 100', '20')
    .addHelpText('after', examples('sluice incidents', 'sluice incidents --open'))
    .action((options: IncidentOptions) => listIncidents(options, terminal));
}

async function listIncidents(options: IncidentOptions, terminal: Terminal): Promise<void> {
  const limit = toCount('--limit', options.limit, 1);
  const open = options.open ?? (options.ended ? false : undefined);
  const { result: incidents } = await connect(options, terminal).sluice.listIncidents({
    open,
    limit,
  });
  if (options.json) {
    terminal.printJson(incidents);
    return;
  }
  if (incidents.length === 0) {
    terminal.print(open === true ? 'No open incidents.' : 'No incidents.');
    return;
  }
  const time = (at: number): string => new Date(at).toISOString().slice(0, 19);
  printTable(terminal, incidents, [
    { title: 'START', value: ({ startedAt }) => time(startedAt) },
    { title: 'END', value: ({ endedAt }) => (endedAt === null ? 'open' : time(endedAt)) },
    { title: 'CAUSE', value: ({ cause }) => cause, cut: 'end' },
    { title: 'STREAMS', value: ({ affectedCount }) => affectedCount || '–', right: true },
    { title: 'DELIVERY', value: ({ deliveryId }) => (deliveryId ? shortenId(deliveryId) : '–') },
  ]);
}
