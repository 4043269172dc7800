/** Declares the flags of the fields of a stream, and reads their values. */
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { NetworkType } from '@sluice/kit';
import {
  CONFIRMATIONS_FORM,
  type Confirmations,
  RETRY_PRESETS,
  type Retries,
  isEventItem,
  listAbi,
  parseConfirmations,
  parseRetries,
} from '@sluice/kit/contract';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type FieldFlag, flagsOf, nameOf } from './flagTable.ts';
import { type OAuth2Options, addOAuth2Options, toOAuth2 } from './oauth2Flags.ts';
import type { Fields } from './streamFields.ts';

/** The given flags: those of the table of fields, and those of the OAuth 2.0 credentials. */
export interface FieldOptions extends OAuth2Options {
  network?: string[];
}

/** @param flags the flags to declare. Default: all flags */
export function addFieldOptions(
  command: Command,
  flags: readonly FieldFlag[] = flagsOf(),
): Command {
  addOAuth2Options(command);
  for (const flag of flags) {
    if (flag.kind === 'boolean') {
      const off = nameOf(flag).replace('--', '--no-');
      command.option(flag.syntax, `${flag.help} (off: ${off})`);
      command.addOption(new Option(off).hideHelp());
    } else command.option(flag.syntax, flag.help);
  }
  return command;
}

/** Maps the given flags to the contract's field names for the chain family. */
export function toGivenFields(
  options: FieldOptions,
  family: NetworkType,
  terminal: Terminal,
): Fields {
  const isNeeded = options['function'] === undefined ? isEventItem : () => true;
  const fields = flagsOf(family).map((flag) => [
    flag.field,
    toValue(flag, options[new Option(flag.syntax).attributeName()], isNeeded),
  ]);
  return Object.fromEntries(
    [...fields, ['oauth2', toOAuth2(options, terminal)]].filter(([, value]) => value !== undefined),
  ) as Fields;
}

function toValue(
  flag: FieldFlag,
  given: unknown,
  isNeeded: (abiItem: unknown) => boolean,
): unknown {
  if (typeof given !== 'string') return given;
  if (flag.field === 'abi') return readAbiFile(given, isNeeded);
  if (flag.field === 'retries') return readRetries(flag, given);
  if (flag.field === 'confirmations') return readConfirmations(flag, given);
  if (flag.kind !== 'integer' && flag.kind !== 'number') return given;
  if (given.trim() !== '' && Number.isFinite(Number(given))) return Number(given);
  throw new CommandError('usage', `${nameOf(flag)} ${given}: should be a number`);
}

function readRetries(flag: FieldFlag, given: string): Retries {
  const retries = parseRetries(given);
  if (retries !== undefined) return retries;
  throw new CommandError(
    'usage',
    `${nameOf(flag)} ${given}: should be ${RETRY_PRESETS.join(', ')}, or waits such as 30s,5m,1h`,
  );
}

function readConfirmations(flag: FieldFlag, given: string): Confirmations {
  const confirmations = parseConfirmations(given);
  if (confirmations !== undefined) return confirmations;
  throw new CommandError('usage', `${nameOf(flag)} ${given}: should be ${CONFIRMATIONS_FORM}`);
}

/** Reads the needed items of an ABI from a JSON list, or from a compiler's output that has one. */
function readAbiFile(path: string, isNeeded: (item: unknown) => boolean): unknown {
  try {
    const abi = listAbi(JSON.parse(readFileSync(path, 'utf8')));
    if (abi === undefined)
      throw new Error('should be a JSON list, or an object with a list in abi');
    return abi.filter(isNeeded);
  } catch (error) {
    throw new CommandError('invalid_file', `${path}: ${(error as Error).message}`);
  }
}
