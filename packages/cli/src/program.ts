/**
 * The command tree. The first screen knows names and a line each; a command's flags and code are
 * loaded when it is called, so that help and version stay quick.
 */
import { Command } from 'commander';
import type { CommandName } from './package/commandNames.ts';
import { EXIT, reportError } from './terminal/errors.ts';
import { STOPPED, type Terminal, type TerminalOptions } from './terminal/terminal.ts';
import { VERSION } from './version.ts';

/** Gives a command its flags, its subcommands and what they do. */
export type Declare = (command: Command, terminal: Terminal) => unknown;

interface Entry {
  name: CommandName;
  summary: string;
  /** It stops by itself when it is asked to, in its own time. */
  drains?: true;
  load(): Promise<Declare>;
}

const GROUPS: Readonly<Record<string, readonly Entry[]>> = {
  'Every day:': [
    {
      name: 'dev',
      summary: 'service, local chains with activity, console and a sample receiver',
      drains: true,
      load: async () => (await import('./commands/dev.ts')).declareDev,
    },
    {
      name: 'listen',
      summary: 'forward live webhooks to your app on this machine',
      load: async () => (await import('./commands/listen.ts')).declareListen,
    },
    {
      name: 'trigger',
      summary: 'send your app a signed webhook of any kind',
      load: async () => (await import('./commands/trigger.ts')).declareTrigger,
    },
    {
      name: 'tail',
      summary: 'follow deliveries',
      load: async () => (await import('./commands/tail.ts')).declareTail,
    },
    {
      name: 'replay',
      summary: 'send deliveries again, or to another address',
      load: async () => (await import('./commands/replay.ts')).declareReplay,
    },
    {
      name: 'explain',
      summary: 'why a webhook was sent, or not, stream by stream',
      load: async () => (await import('./commands/explain.ts')).declareExplain,
    },
  ],
  'Manage:': [
    {
      name: 'streams',
      summary: 'create, list, get, update, pause, resume, delete, duplicate',
      load: async () => (await import('./commands/streams.ts')).declareStreams,
    },
    {
      name: 'apply',
      summary: 'make the streams what a YAML file says',
      load: async () => (await import('./commands/apply.ts')).declareApply,
    },
    {
      name: 'export',
      summary: 'write the streams to a YAML file',
      load: async () => (await import('./commands/apply.ts')).declareExport,
    },
    {
      name: 'addresses',
      summary: 'add, remove, list, import, diff',
      load: async () => (await import('./commands/addresses.ts')).declareAddresses,
    },
    {
      name: 'dry-run',
      summary: 'what a stream would have got of past blocks',
      load: async () => (await import('./commands/dryRun.ts')).declareDryRun,
    },
    {
      name: 'deliveries',
      summary: 'list, get, payload',
      load: async () => (await import('./commands/deliveries.ts')).declareDeliveries,
    },
    {
      name: 'replays',
      summary: 'selections that are sent again: list, get, cancel',
      load: async () => (await import('./commands/replay.ts')).declareReplays,
    },
    {
      name: 'verify',
      summary: 'whether a webhook is genuine, and why it is not',
      load: async () => (await import('./commands/verify.ts')).declareVerify,
    },
    {
      name: 'fixture',
      summary: 'webhooks as test data: save, run',
      load: async () => (await import('./commands/fixture.ts')).declareFixture,
    },
    {
      name: 'import',
      summary: 'bring streams here from the hosted Streams API',
      load: async () => (await import('./commands/importHosted.ts')).declareImport,
    },
    {
      name: 'chains',
      summary: 'the chains a running service reads',
      load: async () => (await import('./commands/chains.ts')).declareChains,
    },
  ],
  'Keys and secrets:': [
    {
      name: 'keys',
      summary: 'API keys: create, list, revoke',
      load: async () => (await import('./commands/keys.ts')).declareKeys,
    },
    {
      name: 'secret',
      summary: 'what signs the webhooks of a stream: show, rotate',
      load: async () => (await import('./commands/secret.ts')).declareSecret,
    },
    {
      name: 'audit',
      summary: 'who did what: list, verify',
      load: async () => (await import('./commands/audit.ts')).declareAudit,
    },
  ],
  'Run and look after:': [
    {
      name: 'serve',
      summary: 'the service alone, for chains given with --chain',
      drains: true,
      load: async () => (await import('./commands/serve.ts')).declareServe,
    },
    {
      name: 'backup',
      summary: 'write the ledger to a file while the service runs',
      load: async () => (await import('./commands/backup.ts')).declareBackup,
    },
    {
      name: 'restore',
      summary: 'put a backup in the place of the ledger',
      load: async () => (await import('./commands/backup.ts')).declareRestore,
    },
    {
      name: 'doctor',
      summary: 'look for what most often is wrong',
      load: async () => (await import('./commands/doctor.ts')).declareDoctor,
    },
    {
      name: 'docs',
      summary: 'the documentation: a page, a heading, an error code',
      load: async () => (await import('./commands/docs.ts')).declareDocs,
    },
    {
      name: 'completion',
      summary: 'completion for bash, zsh or fish',
      load: async () => (await import('./commands/completion.ts')).declareCompletion,
    },
    {
      name: 'open',
      summary: 'open the console',
      load: async () => (await import('./commands/open.ts')).declareOpen,
    },
    {
      name: 'login',
      summary: 'remember a service and its key under a name',
      load: async () => (await import('./commands/contexts.ts')).declareLogin,
    },
    {
      name: 'logout',
      summary: 'forget a service and its key',
      load: async () => (await import('./commands/contexts.ts')).declareLogout,
    },
    {
      name: 'whoami',
      summary: 'which service the commands speak to, and whether it knows the key',
      load: async () => (await import('./commands/contexts.ts')).declareWhoami,
    },
    {
      name: 'context',
      summary: 'the services signed in to: list, use',
      load: async () => (await import('./commands/contexts.ts')).declareContext,
    },
  ],
};

const findEntry = (name: string): Entry | undefined =>
  Object.values(GROUPS)
    .flat()
    .find((each) => each.name === name);

/** How long a command may take to end after Ctrl-C, where it does not drain. */
const END_WITHIN_MS = 2_000;

/** Runs what the arguments say and answers with the exit code. Prints errors; never rejects. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  // What the scripts of `sluice completion` ask; no command of its own.
  if (args[0] === 'complete') return answerTab(args.slice(args[1] === '--' ? 2 : 1), terminal);
  const given = toGiven(args);
  const program = createProgram(terminal);
  const name = given.find((arg) => !arg.startsWith('-')) ?? '';
  const entry = findEntry(name);
  try {
    const running = program.parseAsync(given, { from: 'user' });
    await (entry?.drains ? running : unlessStuck(running, terminal));
    const { aborted, reason } = terminal.signal;
    return aborted && !entry?.drains && reason !== STOPPED ? EXIT.interrupted : EXIT.success;
  } catch (error) {
    // Ctrl-C is no failure, and what it broke off is not worth a word; a drain that fails is.
    if (terminal.signal.aborted && !entry?.drains) return EXIT.interrupted;
    const json = given.slice(0, given.indexOf('--') >>> 0).includes('--json');
    return reportError(error, terminal, { command: toPath(program, given), json });
  }
}

/** One word a line. */
async function answerTab(words: readonly string[], terminal: Terminal): Promise<number> {
  // A note would be printed over what is being typed.
  terminal.adopt({ quiet: true });
  const { complete } = await import('./flags/complete.ts');
  const load = async (command: Command): Promise<unknown> =>
    (await findEntry(command.name())?.load())?.(command, terminal);
  const found = await complete(createProgram(terminal), words, { load, terminal });
  for (const each of found) terminal.say(each);
  return EXIT.success;
}

/** `sluice` alone asks for help, and `sluice help listen` is `sluice listen --help`. */
function toGiven(args: readonly string[]): readonly string[] {
  if (args.length === 0) return ['--help'];
  return args[0] === 'help' ? [...args.slice(1), '--help'] : args;
}

/** The command that was meant, as far as it is known: `sluice streams list`. */
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
    .description('Watch blockchains, deliver signed webhooks')
    .version(VERSION, '-V, --version')
    .option('--no-color', 'no colour; variable NO_COLOR')
    .option('--quiet', 'no progress and no hints')
    .option('--no-input', 'never ask')
    .option('--debug', 'print each request, and the stack of an error')
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text.endsWith('\n') ? text : `${text}\n`),
      // `reportError` tells of it, in the words of all errors.
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
