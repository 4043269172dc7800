/** Declares the flags of commands that start a service, and resolves the settings. */
import { type Command, Option } from 'commander';
import {
  type Config,
  type ConfigError,
  FIELDS,
  type Field,
  type GivenValue,
  type Settings,
  checkTogether,
  flagOf,
  kindOf,
  readSetting,
  schemaOf,
  settingOf,
  splitNodeOptions,
  variableOf,
} from '@sluice/service';
import { findConsole, findDocs } from '../package/packaged.ts';
import {
  type SettingsFile,
  type WrittenText,
  readSettingsFile,
  toShown,
} from '../settings/settingsFile.ts';
import { maskText } from '../settings/masked.ts';
import { CommandError, combineErrors } from '../terminal/errors.ts';

/**
 * Creates a repeatable flag. Each argument, and the environment variable, can contain several
 * values separated by spaces.
 */
export const repeatable = (flags: string, description: string, shownDefault = 'none'): Option =>
  new Option(flags, description)
    .default([], shownDefault)
    .argParser((value: string, before: string[] | undefined) => [
      ...(before ?? []),
      ...value.split(/\s+/).filter(Boolean),
    ]);

function toOption(field: Field): Option {
  const { flags, description, shownDefault } = settingOf(field);
  const kind = kindOf(field);
  const isRepeatable = kind === 'list' || kind === 'textByChain' || kind === 'nodesByChain';
  const option = isRepeatable
    ? repeatable(flags, description, shownDefault)
    : new Option(flags, description);
  const { default: fallback } = schemaOf(field);
  if (kind === 'switch' && !option.negate) option.default(false);
  if (typeof fallback === 'string' || typeof fallback === 'number') {
    option.default(String(fallback));
  }
  return option.env(variableOf(field));
}

/** @param dataFolder default of `--data` */
export function addServiceOptions(command: Command, dataFolder: string): Command {
  command.addOption(
    new Option(
      '--config <file>',
      'Settings file (YAML); flags and variables take precedence over it',
    ).env('SLUICE_CONFIG'),
  );
  for (const field of FIELDS) {
    const variable = variableOf(field);
    // Commander turns a boolean flag on for any value of its variable, so the variable is deleted
    // if its value means off.
    const isOff = /^(|0|no|false|off)$/i.test(process.env[variable] ?? '');
    if (kindOf(field) === 'switch' && isOff) delete process.env[variable];
    const option = toOption(field);
    command.addOption(field === 'data' ? option.default(dataFolder) : option);
  }
  return command;
}

/** One setting of this process, and where its value comes from. */
export interface ResolvedSetting {
  value: GivenValue;
  source: 'flag' | 'variable' | 'file' | 'default';
  /** The values as written; empty if missing, or for a switch that is not set in the file. */
  texts: readonly WrittenText[];
  /** The flag, the variable, or the position of the field in the settings file. */
  place: string;
}

export interface ResolvedSettings {
  settings: Readonly<Record<Field, ResolvedSetting>>;
  config: Config;
  /** Variables that the settings file refers to. */
  variables: ReadonlySet<string>;
}

/**
 * Resolves the settings of a command with the options of `addServiceOptions`. A flag takes
 * precedence over its variable, which takes precedence over the settings file.
 *
 * @throws CommandError that names the flag, the variable or the place in the file.
 */
export function resolveSettings(command: Command): ResolvedSettings {
  const path = command.opts<{ config?: string }>().config;
  const file: SettingsFile =
    path === undefined
      ? { settings: new Map(), variables: new Set(), errors: [] }
      : readSettingsFile(path, process.env);
  const settings = Object.fromEntries(
    FIELDS.map((field) => [field, resolveSetting(command, field, file)]),
  ) as Record<Field, ResolvedSetting>;
  const errors = [...file.errors];
  const onError = (error: ConfigError): void => {
    errors.push(locate(error, settings));
  };
  const config = Object.fromEntries(
    FIELDS.map((field) => [field, readSetting(field, settings[field].value, onError)]),
  ) as Settings;
  // Settings are checked together only once each of them is valid.
  if (errors.length === 0) checkTogether(config).forEach(onError);
  if (errors.length > 0) throw combineErrors(errors);
  return {
    settings,
    config: {
      ...config,
      masterKey: process.env['SLUICE_MASTER_KEY'],
      consoleFolder: findConsole(),
      docsFolder: findDocs(),
    },
    variables: file.variables,
  };
}

function resolveSetting(command: Command, field: Field, file: SettingsFile): ResolvedSetting {
  const { flags } = settingOf(field);
  const option = command.options.find((each) => each.flags === flags)!;
  const name = option.attributeName();
  const value = command.getOptionValue(name) as string | string[] | boolean | undefined;
  const source = command.getOptionValueSource(name);
  const written = file.settings.get(field);
  if (written && source !== 'cli' && source !== 'env') {
    const texts = written.texts.map(({ text }) => text);
    const isList = Array.isArray(value);
    return {
      value: isList ? texts : kindOf(field) === 'switch' ? texts[0] === 'true' : texts[0],
      source: 'file',
      texts: written.texts,
      place: written.place,
    };
  }
  const place = source === 'env' ? variableOf(field) : flagOf(field);
  const given = typeof value === 'boolean' || value === undefined ? [] : [value].flat();
  return {
    value,
    source: source === 'cli' ? 'flag' : source === 'env' ? 'variable' : 'default',
    texts: given.map((text) => ({ text, written: text, place })),
    place,
  };
}

/** Names the place that sets the invalid value, and masks and truncates the value. */
function locate(
  { setting, value, shown, problem }: ConfigError,
  settings: Readonly<Record<Field, ResolvedSetting>>,
): CommandError {
  const { source, texts, place } = settings[setting];
  const found =
    texts.find(({ text }) => text === value) ?? (texts.length === 1 ? texts[0] : undefined);
  const isComplete = found !== undefined && shown === found.text;
  const invalid = isComplete ? toShown(found.written) : shown && maskText(shown);
  const why = isComplete ? problem.replaceAll(toUrl(found.text), toUrl(found.written)) : problem;
  const rest = `${invalid === undefined ? '' : ` ${invalid}`}: ${maskText(why)}`;
  return source === 'file'
    ? new CommandError('invalid_file', `${found?.place ?? place}: ${setting}${rest}`)
    : new CommandError('usage', `${place}${rest}`);
}

/** Returns the URL of `<chain>=<url>[,option=value]`, or the complete text. */
const toUrl = (text: string): string => splitNodeOptions(text.slice(text.indexOf('=') + 1)).url;
