/**
 * The command tree. The first screen knows names and a line each; a command's flags and code are
 * loaded when it is called, so that help and version stay quick.
 */
import { Command } from 'commander';
import { EXIT, reportError } from './terminal/errors.ts';
import type { Terminal, TerminalOptions } from './terminal/terminal.ts';
import { VERSION } from './version.ts';

/** Gives a command its flags, its subcommands and what they do. */
export type Declare = (command: Command, terminal: Terminal) => unknown;

interface Entry {
  name: string;
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
  ],
  'Manage:': [
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

/** How long a command may take to end after Ctrl-C, where it does not drain. */
const END_WITHIN_MS = 2_000;

/** Runs what the arguments say and answers with the exit code. Prints errors; never rejects. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const given = toGiven(args);
  const program = createProgram(terminal);
  const name = given.find((arg) => !arg.startsWith('-')) ?? '';
  const entry = Object.values(GROUPS)
    .flat()
    .find((each) => each.name === name);
  try {
    const running = program.parseAsync(given, { from: 'user' });
    await (entry?.drains ? running : unlessStuck(running, terminal));
    return Number(process.exitCode ?? EXIT.success);
  } catch (error) {
    return reportError(error, terminal, entry ? `sluice ${name}` : 'sluice');
  }
}

/** `sluice` alone asks for help, and `sluice help listen` is `sluice listen --help`. */
function toGiven(args: readonly string[]): readonly string[] {
  if (args.length === 0) return ['--help'];
  return args[0] === 'help' ? [...args.slice(1), '--help'] : args;
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
      writeOut: (text) => terminal.stdout.write(text),
      // `reportError` tells of it, in the words of all errors.
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => 80,
    })
    .hook('preSubcommand', async (_, command) => {
      const entry = Object.values(GROUPS)
        .flat()
        .find(({ name }) => name === command.name());
      await entry?.load().then((declare) => declare(command, terminal));
    })
    .hook('preAction', () => terminal.adopt(program.opts<TerminalOptions>()));
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
