#!/usr/bin/env node
/** `sluice`: the command tree. Each command is loaded when it is run, so that help stays quick. */
import { Command, CommanderError } from 'commander';
import { addServiceOptions } from './options.ts';
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
