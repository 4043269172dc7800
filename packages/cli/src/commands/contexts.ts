import { createSluiceClient } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import {
  type ConnectionOptions,
  addConnectionOptions,
  findTarget,
  toClientOptions,
  toMissingKey,
} from '../connection/connection.ts';
import { contextsPath, readContexts, saveContexts } from '../connection/contexts.ts';
import { examples } from '../flags/examples.ts';
import { sluiceCommand } from '../package/packaged.ts';
import { CommandError } from '../terminal/errors.ts';
import { ask } from '../terminal/prompt.ts';
import { printTable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const declareLogin = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(command)
    .addHelpText(
      'after',
      examples(
        'sluice login',
        'sluice login --api-url https://sluice.example --context production',
      ),
    )
    .action((options: ConnectionOptions) => login(options, terminal));

/** Prompts for missing values, checks the key and saves the service as the context in use. */
async function login(options: ConnectionOptions, terminal: Terminal): Promise<void> {
  const { env } = terminal;
  const given = options.apiUrl ?? env['SLUICE_API_URL'];
  const url = given ?? (await ask(terminal, 'Service URL:', { fix: 'pass --api-url' }));
  const apiKey =
    options.apiKey ??
    env['SLUICE_API_KEY'] ??
    (await ask(terminal, 'API key:', { fix: 'pass --api-key', hidden: true }));
  if (!URL.canParse(url)) {
    throw new CommandError(
      'usage',
      `--api-url ${url}: should be a URL`,
      'e.g. https://sluice.example',
    );
  }
  await checkKey(url, apiKey, options, terminal);
  const name = options.context ?? new URL(url).host;
  const { contexts } = readContexts(terminal);
  saveContexts(terminal, {
    current: name,
    contexts: { ...contexts, [name]: { apiUrl: url, apiKey } },
  });
  if (options.json) terminal.printJson({ context: name, apiUrl: url });
  else terminal.printText(`Signed in to ${url} as context ${name}`);
  terminal.note(`Saved in ${contextsPath(terminal)}`);
}

async function checkKey(
  url: string,
  apiKey: string,
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<void> {
  const client = createSluiceClient({
    baseUrl: url,
    apiKey,
    ...toClientOptions(options, terminal),
  });
  if (await client.checkSession()) return;
  throw new CommandError(
    'not_signed_in',
    `${url} rejected this API key`,
    'use the key that the service printed on its first start, its --api-key, or a key from sluice keys create',
  );
}

export const declareLogout = (command: Command, terminal: Terminal): Command =>
  command
    .argument('[context]', 'Context to remove; default: the one in use')
    .addHelpText('after', examples('sluice logout', 'sluice logout production'))
    .action((name: string | undefined) => {
      const { current, contexts } = readContexts(terminal);
      const gone = name ?? current;
      if (gone === undefined || contexts[gone] === undefined) throw unknown(gone, contexts);
      const rest = Object.fromEntries(Object.entries(contexts).filter(([each]) => each !== gone));
      saveContexts(terminal, {
        ...(current !== undefined && current !== gone && { current }),
        contexts: rest,
      });
      terminal.print(`Removed context ${gone}`);
    });

const unknown = (name: string | undefined, contexts: object): CommandError =>
  new CommandError(
    'not_found',
    name === undefined ? 'No context is in use' : `There is no context ${JSON.stringify(name)}`,
    Object.keys(contexts).length === 0
      ? 'save one: sluice login'
      : `pass one of: ${Object.keys(contexts).join(', ')}`,
  );

export const declareWhoami = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(command)
    .addHelpText('after', examples('sluice whoami', 'sluice whoami --context production'))
    .action(async (options: ConnectionOptions) => {
      const target = findTarget(options, terminal);
      const { url, apiKey, source, name } = target;
      if (apiKey !== undefined) await checkKey(url, apiKey, options, terminal);
      const from = {
        flags: 'flags or variables',
        context: `context ${name}`,
        dev: `sluice dev in ${name}`,
        default: 'the default URL',
      };
      const key = apiKey === undefined ? null : `…${apiKey.slice(-4)}`;
      if (options.json)
        terminal.printJson({ apiUrl: url, source, name: name ?? null, apiKey: key });
      else {
        const line = `${url}  from ${from[source]}  ${key === null ? 'no API key' : `key ${key}`}`;
        terminal.printText(line, { indent: 4 });
      }
      if (apiKey === undefined) throw toMissingKey(target);
    });

export function declareContext(command: Command, terminal: Terminal): void {
  command
    .command('list')
    .description('List saved services; * marks the one in use')
    .option('--json', 'Print JSON')
    .addHelpText('after', examples('sluice context list'))
    .action(({ json }: { json?: boolean }) => {
      const { current, contexts } = readContexts(terminal);
      const rows = Object.entries(contexts).map(([name, { apiUrl }]) => ({
        name,
        apiUrl,
        inUse: name === current,
      }));
      if (json) return terminal.printJson(rows);
      if (rows.length === 0)
        return terminal.note(`No saved services yet. Save one: ${sluiceCommand()} login`);
      printTable(terminal, rows, [
        { title: ' ', value: ({ inUse }) => (inUse ? { text: '*', tone: 'ok' } : '') },
        { title: 'NAME', value: ({ name }) => name, cut: 'end' },
        { title: 'SERVICE', value: ({ apiUrl }) => apiUrl },
      ]);
    });
  command
    .command('use <name>')
    .description('Switch to a saved service')
    .addHelpText('after', examples('sluice context use production'))
    .action((name: string) => {
      const { contexts } = readContexts(terminal);
      if (contexts[name] === undefined) throw unknown(name, contexts);
      saveContexts(terminal, { current: name, contexts });
      terminal.printText(`Using ${name}: ${contexts[name].apiUrl}`);
    });
}
