import type { Command } from 'commander';
import type { Terminal } from '../terminal/terminal.ts';
import { declareHostedImport } from './importHosted.ts';
import { declareRuleImports } from './importRules.ts';

export function declareImport(command: Command, terminal: Terminal): void {
  declareHostedImport(command, terminal);
  declareRuleImports(command, terminal);
}
