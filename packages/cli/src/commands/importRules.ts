/** Converts rules of other products to a file for `apply`. */
import type { Command } from 'commander';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { examples } from '../flags/examples.ts';
import { type ImportedRule, readRuleFile } from '../imports/importedRule.ts';
import { importMonitors } from '../imports/openZeppelin.ts';
import { importInsightWebhooks } from '../imports/thirdweb.ts';
import { checkFields, writeStreamFile } from '../streams/streamFile.ts';
import { CommandError } from '../terminal/errors.ts';
import { formatQuantity } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

const OUTPUT = ['-o, --output <file>', 'Output file; default: standard output'] as const;

export function declareRuleImports(command: Command, terminal: Terminal): void {
  command
    .command('openzeppelin')
    .description('Convert monitors of OpenZeppelin Monitor to a file for sluice apply')
    .argument('<file...>', 'JSON files of monitors and of their networks')
    .option('--url <url>', 'Webhook URL of the streams (required)')
    .option(...OUTPUT)
    .option('--json', 'Print JSON')
    .addHelpText(
      'after',
      examples('sluice import openzeppelin monitor.json network.json --url https://…'),
    )
    .action((files: string[], options: RuleOptions) => {
      const { url } = options;
      if (url === undefined) {
        throw new CommandError('usage', 'Missing --url', 'pass the webhook URL of the streams');
      }
      writeRules(importMonitors(files.map(readRuleFile), url), options, terminal);
    });
  command
    .command('thirdweb')
    .description('Convert webhooks of thirdweb Insight to a file for sluice apply')
    .argument('<file...>', 'JSON files of webhooks, as the API accepts and returns them')
    .option('--url <url>', 'Webhook URL of the streams; default: the URL of each webhook')
    .option(...OUTPUT)
    .option('--json', 'Print JSON')
    .addHelpText('after', examples('sluice import thirdweb webhook.json -o sluice.yaml'))
    .action((files: string[], options: RuleOptions) =>
      writeRules(importInsightWebhooks(files.map(readRuleFile), options.url), options, terminal),
    );
}

interface RuleOptions {
  url?: string;
  output?: string;
  json?: boolean;
}

/** @throws CommandError `partial` if a part of a rule has no equivalent */
function writeRules(
  rules: readonly ImportedRule[],
  options: RuleOptions,
  terminal: Terminal,
): void {
  checkRules(rules);
  const imported = rules.flatMap(({ stream, ...rule }) =>
    stream === undefined ? [] : { ...rule, stream },
  );
  if (options.json) terminal.printJson(rules);
  else if (imported.length > 0) {
    const text = writeStreamFile(
      imported.map(({ stream }) => stream),
      (stream) =>
        imported
          .filter((rule) => rule.stream === stream)
          .flatMap(({ unmapped }) =>
            unmapped.map(({ field, why }) => `not imported: ${field}: ${why}`),
          ),
    );
    if (options.output === undefined) terminal.printExact(text);
    else {
      writeFileSync(resolve(terminal.cwd, options.output), text);
      terminal.note(`Wrote ${formatQuantity(imported.length, 'stream')} to ${options.output}`);
    }
  }
  for (const { file, name, stream, unmapped } of rules) {
    for (const { field, why } of unmapped) {
      terminal.note(`! ${file}: ${name}: ${field}: ${why}`, { tone: 'warn', of: '!' });
    }
    if (stream === undefined) {
      terminal.note(`✗ ${file}: ${name}: no stream was written`, { tone: 'bad', of: '✗' });
    }
  }
  const parts = rules.reduce((sum, { unmapped }) => sum + unmapped.length, 0);
  if (parts === 0) return;
  throw new CommandError(
    'partial',
    `Not imported: ${formatQuantity(parts, 'part')} of ${formatQuantity(rules.length, 'rule')}`,
    'check whether the streams are right without them; each is a comment in the file, too',
  );
}

/** Checks that `apply` accepts the streams. */
function checkRules(rules: readonly ImportedRule[]): void {
  if (rules.length === 0) {
    throw new CommandError('invalid_file', 'The files contain no rules', 'pass at least one rule');
  }
  const files = new Map<string, string>();
  for (const { file, name, stream } of rules) {
    if (stream === undefined) continue;
    checkFields(file, stream);
    const other = files.get(name);
    if (other !== undefined) {
      throw new CommandError(
        'invalid_file',
        `${file}: ${other} also has a rule with the name ${name}`,
        'rename one of them, because streams are identified by tag',
      );
    }
    files.set(name, file);
  }
}
