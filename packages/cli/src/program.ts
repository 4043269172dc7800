/**
 * Declares the command tree. The flags and code of a command are loaded only when it is called, so
 * that `--help` and `--version` are fast.
 */
import { Command, CommanderError } from 'commander';
import type { CommandName } from './package/commandNames.ts';
import { EXIT_CODES, reportError } from './terminal/errors.ts';
import { STOPPED, type Terminal, type TerminalOptions } from './terminal/terminal.ts';
import { describeBuild } from '@sluice/service/build';

/** Adds flags, subcommands and actions to a command. */
export type DeclareCommand = (command: Command, terminal: Terminal) => unknown;

interface Entry {
  name: CommandName;
  summary: string;
  /** Whether the command drains after a signal, which may take longer than `END_WITHIN_MS`. */
  drains?: true;
  load(): Promise<DeclareCommand>;
}

const GROUPS: Readonly<Record<string, readonly Entry[]>> = {
  'Common commands:': [
    {
      name: 'dev',
      summary: 'Start a service, local chains, the console and a sample receiver',
      drains: true,
      load: async () => (await import('./commands/dev.ts')).declareDev,
    },
    {
      name: 'listen',
      summary: 'Forward live webhooks to a local app',
      load: async () => (await import('./commands/listen.ts')).declareListen,
    },
    {
      name: 'trigger',
      summary: 'Send a signed sample webhook to your app',
      load: async () => (await import('./commands/trigger.ts')).declareTrigger,
    },
    {
      name: 'tail',
      summary: 'Follow deliveries as they happen',
      load: async () => (await import('./commands/tail.ts')).declareTail,
    },
    {
      name: 'replay',
      summary: 'Send deliveries again, to the same or another URL',
      load: async () => (await import('./commands/replay.ts')).declareReplay,
    },
    {
      name: 'explain',
      summary: 'Explain why each stream did or did not send a webhook',
      load: async () => (await import('./commands/explain.ts')).declareExplain,
    },
  ],
  'Manage:': [
    {
      name: 'streams',
      summary: 'Create, list, update, pause, resume, duplicate and delete streams',
      load: async () => (await import('./commands/streams.ts')).declareStreams,
    },
    {
      name: 'apply',
      summary: 'Create and update streams from a YAML file',
      load: async () => (await import('./commands/apply.ts')).declareApply,
    },
    {
      name: 'export',
      summary: 'Write all streams to a YAML file',
      load: async () => (await import('./commands/apply.ts')).declareExport,
    },
    {
      name: 'addresses',
      summary: 'Add, remove, list, import and compare stream addresses',
      load: async () => (await import('./commands/addresses.ts')).declareAddresses,
    },
    {
      name: 'dry-run',
      summary: 'Match past blocks against a stream without sending anything',
      load: async () => (await import('./commands/dryRun.ts')).declareDryRun,
    },
    {
      name: 'feed',
      summary: 'Read a feed; list, reset and delete its consumers',
      load: async () => (await import('./commands/feed.ts')).declareFeed,
    },
    {
      name: 'destinations',
      summary: 'List, add and remove the additional destinations of a stream',
      load: async () => (await import('./commands/destinations.ts')).declareDestinations,
    },
    {
      name: 'deliveries',
      summary: 'List deliveries, show one or print its body',
      load: async () => (await import('./commands/deliveries.ts')).declareDeliveries,
    },
    {
      name: 'replays',
      summary: 'List, show and cancel replays',
      load: async () => (await import('./commands/replay.ts')).declareReplays,
    },
    {
      name: 'backfills',
      summary: 'Create, list, pause, resume and cancel backfills, and searches for children',
      load: async () => (await import('./commands/backfills.ts')).declareBackfills,
    },
    {
      name: 'verify',
      summary: 'Verify the signature of a webhook',
      load: async () => (await import('./commands/verify.ts')).declareVerify,
    },
    {
      name: 'fixture',
      summary: 'Save deliveries as test fixtures, and send them to your app',
      load: async () => (await import('./commands/fixture.ts')).declareFixture,
    },
    {
      name: 'import',
      summary: 'Import streams from the hosted Streams API, or rules of other products',
      load: async () => (await import('./commands/import.ts')).declareImport,
    },
    {
      name: 'chains',
      summary: 'List and resume chains; add, remove and test nodes',
      load: async () => (await import('./commands/chains.ts')).declareChains,
    },
    {
      name: 'incidents',
      summary: 'List what stopped or delayed webhooks, by cause',
      load: async () => (await import('./commands/incidents.ts')).declareIncidents,
    },
    {
      name: 'alerts',
      summary: 'List, add, remove and test alert URLs',
      load: async () => (await import('./commands/alerts.ts')).declareAlerts,
    },
    {
      name: 'mcp',
      summary: 'Serve streams and deliveries to AI agents (Model Context Protocol)',
      load: async () => (await import('./commands/mcp.ts')).declareMcp,
    },
  ],
  'Keys and secrets:': [
    {
      name: 'keys',
      summary: 'Create, list and revoke API keys',
      load: async () => (await import('./commands/keys.ts')).declareKeys,
    },
    {
      name: 'secret',
      summary: 'Print or rotate the signing secret of a stream',
      load: async () => (await import('./commands/secret.ts')).declareSecret,
    },
    {
      name: 'public-keys',
      summary: 'List, create and remove key pairs that sign webhooks',
      load: async () => (await import('./commands/publicKeys.ts')).declarePublicKeys,
    },
    {
      name: 'audit',
      summary: 'List and verify the audit log',
      load: async () => (await import('./commands/audit.ts')).declareAudit,
    },
  ],
  'Operate:': [
    {
      name: 'serve',
      summary: 'Run the service',
      drains: true,
      load: async () => (await import('./commands/serve.ts')).declareServe,
    },
    {
      name: 'config',
      summary: 'Check and print the settings of the service',
      load: async () => (await import('./commands/config.ts')).declareConfig,
    },
    {
      name: 'backup',
      summary: 'Back up a SQLite ledger to a file; the service can keep running',
      load: async () => (await import('./commands/backup.ts')).declareBackup,
    },
    {
      name: 'restore',
      summary: 'Restore a SQLite ledger from a backup',
      load: async () => (await import('./commands/backup.ts')).declareRestore,
    },
    {
      name: 'doctor',
      summary: 'Check for common problems',
      load: async () => (await import('./commands/doctor.ts')).declareDoctor,
    },
    {
      name: 'docs',
      summary: 'Print a page or section of the documentation, or explain an error code',
      load: async () => (await import('./commands/docs.ts')).declareDocs,
    },
    {
      name: 'completion',
      summary: 'Print a completion script for bash, zsh or fish',
      load: async () => (await import('./commands/completion.ts')).declareCompletion,
    },
    {
      name: 'open',
      summary: 'Open the console in a browser',
      load: async () => (await import('./commands/open.ts')).declareOpen,
    },
    {
      name: 'login',
      summary: 'Save a service and its API key under a name',
      load: async () => (await import('./commands/contexts.ts')).declareLogin,
    },
    {
      name: 'logout',
      summary: 'Remove a saved service and its API key',
      load: async () => (await import('./commands/contexts.ts')).declareLogout,
    },
    {
      name: 'whoami',
      summary: 'Show the service in use and check the API key',
      load: async () => (await import('./commands/contexts.ts')).declareWhoami,
    },
    {
      name: 'context',
      summary: 'List and switch saved services',
      load: async () => (await import('./commands/contexts.ts')).declareContext,
    },
  ],
};

const findEntry = (name: string): Entry | undefined =>
  Object.values(GROUPS)
    .flat()
    .find((each) => each.name === name);

/** Time within which a command without a drain must end after a signal, such as Ctrl-C. */
const END_WITHIN_MS = 2_000;

/** Runs a command and returns its exit code. Prints errors; never rejects. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  // The completion scripts call `complete`, which help does not list.
  if (args[0] === 'complete')
    return printCompletions(args.slice(args[1] === '--' ? 2 : 1), terminal);
  const given = toGiven(args);
  const program = createProgram(terminal);
  const name = given.find((arg) => !arg.startsWith('-')) ?? '';
  const entry = findEntry(name);
  try {
    const running = program.parseAsync(given, { from: 'user' });
    await (entry?.drains ? running : unlessStuck(running, terminal));
    return entry?.drains ? EXIT_CODES.success : exitOf(terminal.signal);
  } catch (error) {
    // Errors after Ctrl-C are not reported, except for a command that drains.
    if (terminal.signal.aborted && !entry?.drains) return exitOf(terminal.signal);
    const json = given.slice(0, given.indexOf('--') >>> 0).includes('--json');
    return reportError(error, terminal, { command: toPath(program, given), json });
  }
}

/**
 * Returns the exit code of a finished command. Ctrl-C counts as an interruption; a key that quits
 * the command does not.
 */
const exitOf = ({ aborted, reason }: AbortSignal): number =>
  aborted && reason !== STOPPED ? EXIT_CODES.interrupted : EXIT_CODES.success;

/** Prints the completions, one per line. */
async function printCompletions(words: readonly string[], terminal: Terminal): Promise<number> {
  // A note would overwrite what the user has typed.
  terminal.adopt({ quiet: true });
  const { completeWord } = await import('./flags/complete.ts');
  const load = async (command: Command): Promise<unknown> =>
    (await findEntry(command.name())?.load())?.(command, terminal);
  const found = await completeWord(createProgram(terminal), words, { load, terminal });
  for (const each of found) terminal.print(each);
  return EXIT_CODES.success;
}

/** Replaces an empty list of arguments with `--help`, and `help listen` with `listen --help`. */
function toGiven(args: readonly string[]): readonly string[] {
  if (args.length === 0) return ['--help'];
  return args[0] === 'help' ? [...args.slice(1), '--help'] : args;
}

/**
 * Returns the path of the given command, such as `sluice streams list`, up to the first word that
 * is not a command.
 */
function toPath(program: Command, given: readonly string[]): string {
  const path = [program.name()];
  let at: Command | undefined = program;
  for (const word of given.filter((arg) => !arg.startsWith('-'))) {
    at = at.commands.find((each) => each.name() === word);
    if (at === undefined) break;
    path.push(word);
  }
  return path.join(' ');
}

function createProgram(terminal: Terminal): Command {
  const program = new Command('sluice')
    .description('Watch blockchains and deliver signed webhooks.')
    .option('-V, --version', 'Print the version and commit')
    .on('option:version', () => {
      terminal.print(describeBuild());
      throw new CommanderError(EXIT_CODES.success, 'commander.version', '');
    })
    .helpOption('-h, --help', 'Show help')
    .option('--no-color', 'Disable colors (env: NO_COLOR)')
    .option('--quiet', 'Hide progress and hints')
    .option('--no-input', 'Never prompt')
    .option('--debug', 'Print each request, and the stack trace of an error')
    // Subcommands inherit this description. `helpCommand(false)` removes `help` from the first
    // screen.
    .helpCommand('help [command]', 'Show help for a command')
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text.endsWith('\n') ? text : `${text}\n`),
      // `reportError` prints all errors, so that they have one format.
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => terminal.width,
    })
    .hook('preSubcommand', async (_, command) => {
      terminal.adopt(program.opts<TerminalOptions>());
      (await findEntry(command.name())?.load())?.(command, terminal);
    });
  for (const [group, entries] of Object.entries(GROUPS)) {
    program.commandsGroup(group);
    for (const { name, summary } of entries) program.command(name).description(summary);
  }
  return program;
}

async function unlessStuck(running: Promise<unknown>, { signal }: Terminal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise<never>((_, reject) => {
    const giveUp = (): void => {
      timer = setTimeout(() => reject(new Error('Interrupted')), END_WITHIN_MS);
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
  stuck.catch(() => {});
  try {
    await Promise.race([running, stuck]);
  } finally {
    clearTimeout(timer);
  }
}
