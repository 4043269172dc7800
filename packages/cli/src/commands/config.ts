import { FIELDS, type Field, kindOf, settingOf, splitNodeOptions } from '@sluice/service';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { examples } from '../flags/examples.ts';
import { type ResolvedSetting, addServiceOptions, resolveSettings } from '../flags/options.ts';
import { findUnknownVariables } from '../flags/unknownVariables.ts';
import { maskText } from '../settings/masked.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareConfig(command: Command, terminal: Terminal): void {
  const check = command.command('check');
  addServiceOptions(check, '.sluice/data')
    .description('Check the settings file, flags and variables without starting the service')
    .addHelpText('after', examples('sluice config check --config sluice.yaml'))
    .action(() => {
      const { settings, variables } = resolveSettings(check);
      findUnknownVariables(check, terminal.env, variables).forEach((text) => terminal.note(text));
      const count = (source: ResolvedSetting['source']): number =>
        FIELDS.filter((field) => settings[field].source === source).length;
      terminal.print(
        `Settings are valid: ${count('file')} from the settings file, ` +
          `${count('variable')} from variables, ${count('flag')} from flags`,
      );
    });
  const print = command.command('print');
  addServiceOptions(print, '.sluice/data')
    .description('Print the settings in effect and their sources as YAML, with secrets masked')
    .addHelpText('after', examples('sluice config print --config sluice.yaml'))
    .action(() => {
      const { settings } = resolveSettings(print);
      for (const field of FIELDS) {
        const { source, value, place } = settings[field];
        const shown = toFileValue(field, settings[field]);
        if (value === undefined || (source === 'default' && Array.isArray(value))) continue;
        terminal.print(`# ${source === 'default' ? 'default' : place}`);
        terminal.printExact(stringify({ [field]: shown }, { lineWidth: 0 }));
      }
    });
}

/**
 * Returns a setting as it would appear in the settings file, with secrets masked. References
 * (`file:…`, `${NAME}`) stay as written.
 */
function toFileValue(field: Field, { value, texts }: ResolvedSetting): unknown {
  const kind = kindOf(field);
  if (kind === 'switch') return value;
  const { isSecret } = settingOf(field);
  const shown = texts.map(({ written }) =>
    isSecret && !/^(file:.*|\$\{\w+\})$/.test(written) ? '***' : written,
  );
  if (kind === 'list') return shown.map(maskText);
  if (kind === 'number') return /^[\d.]+$/.test(shown[0] ?? '') ? Number(shown[0]) : shown[0];
  if (kind === 'text') return maskText(shown[0] ?? '');
  const pairs = shown.map((text) => {
    const at = text.indexOf('=');
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  if (kind === 'textByChain') {
    return Object.fromEntries(pairs.map(([chain, text]) => [chain, maskText(text)]));
  }
  const byChain: Record<string, { nodes: string[] } & Record<string, unknown>> = {};
  for (const [chain, text] of pairs) {
    const { url, options } = splitNodeOptions(text);
    const entry = (byChain[chain] ??= { nodes: [] });
    entry.nodes.push(maskText(url));
    for (const [name, each] of options) entry[name] = /^\d+$/.test(each) ? Number(each) : each;
  }
  return byChain;
}
