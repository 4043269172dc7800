#!/usr/bin/env node
/** `sluice`: the command tree. Each command is loaded when it is run, so that help stays quick. */
import { Command, CommanderError } from 'commander';
import { addRemoteOptions, addServiceOptions } from './options.ts';
import { EXIT, reportError } from './output.ts';

const program = new Command('sluice')
  .description('Watch blockchains, deliver signed webhooks')
  .version('0.1.0', '-V, --version')
  .showSuggestionAfterError()
  .showHelpAfterError('(sluice --help lists the commands)')
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text) });

addServiceOptions(
  program
    .command('dev')
    .description('service, local chain with token activity, console and a sample receiver')
    .option('--fresh', 'begin with an empty data folder'),
  '.sluice/dev',
).action(async (options) => {
  const { dev } = await import('./commands/dev.ts');
  await dev(options);
});

addServiceOptions(
  program.command('serve').description('the service alone, for chains given with --chain'),
  '.sluice/data',
).action(async (options) => {
  const { serve } = await import('./commands/serve.ts');
  await serve(options);
});

const chains = program.command('chains').description('the chains a running service reads');

addRemoteOptions(chains.command('list').description('how each chain is')).action(
  async (options) => {
    const { listChains } = await import('./commands/chains.ts');
    await listChains(options);
  },
);

addRemoteOptions(
  chains
    .command('resume <id>')
    .description('take a halted chain on from a block, and record what was left out')
    .option('--from <block>', 'the first block to read; default: the head of the node'),
).action(async (id: string, options) => {
  const { resumeChain } = await import('./commands/chains.ts');
  await resumeChain(id, options);
});

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode =
    error instanceof CommanderError
      ? error.exitCode === 0
        ? EXIT.success
        : EXIT.usage
      : reportError(error);
}
