/** Declares the flags of commands that start a service, and resolves the settings. */
import { type Command, Option } from 'commander';
import {
  CallerError,
  findConfigErrors,
  configError,
  hideSecrets,
  type ServiceConfig,
  parseAbiUrls,
  parseAptos,
  parseChains,
  parseExplorers,
  parseLogFormat,
  parseRoles,
  readSpamLists,
  splitNodeOptions,
} from '@sluice/service';
import { findConsole, findDocs } from '../package/packaged.ts';
import {
  FIELDS,
  type Field,
  type Setting,
  type SettingValues,
  settingOf,
} from '../settings/settings.ts';
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

function toOption({ flags, description, variable, shape, ...setting }: Setting): Option {
  const isList = !['switch', 'number', 'text'].includes(shape.kind);
  const option = isList
    ? repeatable(flags, description, setting.shownDefault)
    : new Option(flags, description);
  if (setting.default !== undefined) option.default(setting.default);
  if (shape.kind === 'switch' && !option.negate) option.default(false);
  return option.env(variable);
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
    const setting = settingOf(field);
    // Commander turns a boolean flag on for any value of its variable, so the variable is deleted
    // if its value means off.
    const isOff = /^(|0|no|false|off)$/i.test(process.env[setting.variable] ?? '');
    if (setting.shape.kind === 'switch' && isOff) delete process.env[setting.variable];
    const option = toOption(setting);
    command.addOption(field === 'data' ? option.default(dataFolder) : option);
  }
  return command;
}

/** One setting of this process, and where its value comes from. */
export interface ResolvedSetting {
  value: string | string[] | boolean | undefined;
  source: 'flag' | 'variable' | 'file' | 'default';
  /** The values as written; empty if missing, or for a switch that is not set in the file. */
  texts: readonly WrittenText[];
  /** The flag, the variable, or the position of the field in the settings file. */
  place: string;
}

export interface ResolvedSettings {
  settings: Readonly<Record<Field, ResolvedSetting>>;
  config: ServiceConfig;
  /** Variables that the settings file refers to. */
  variables: ReadonlySet<string>;
}

/**
 * Resolves the settings of a command with the options of `addServiceOptions`. A flag takes
 * precedence over its variable, which takes precedence over the settings file.
 *
 * @throws CallerError or CommandError that names the flag, the variable or the place in the file.
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
  const errors: Error[] = [...file.errors];
  const config = toServiceConfig(
    Object.fromEntries(FIELDS.map((field) => [field, settings[field].value])) as SettingValues,
    (error) => errors.push(locate(error, settings)),
  );
  // Settings are checked together only once each of them can be read.
  if (errors.length === 0) {
    errors.push(...findConfigErrors(config).map((error) => locate(error, settings)));
  }
  if (errors.length > 0) throw combineErrors(errors);
  return { settings, config, variables: file.variables };
}

function resolveSetting(command: Command, field: Field, file: SettingsFile): ResolvedSetting {
  const { flags, variable, shape } = settingOf(field);
  const option = command.options.find((each) => each.flags === flags)!;
  const name = option.attributeName();
  const value = command.getOptionValue(name) as string | string[] | boolean | undefined;
  const source = command.getOptionValueSource(name);
  const written = file.settings.get(field);
  if (written && source !== 'cli' && source !== 'env') {
    const texts = written.texts.map(({ text }) => text);
    const isList = Array.isArray(value);
    return {
      value: isList ? texts : shape.kind === 'switch' ? texts[0] === 'true' : texts[0],
      source: 'file',
      texts: written.texts,
      place: written.place,
    };
  }
  const place = source === 'env' ? variable : option.long!;
  const given = typeof value === 'boolean' || value === undefined ? [] : [value].flat();
  return {
    value,
    source: source === 'cli' ? 'flag' : source === 'env' ? 'variable' : 'default',
    texts: given.map((text) => ({ text, written: text, place })),
    place,
  };
}

/** Adds to the error where the rejected value was set, and masks and truncates the value. */
function locate(
  error: CallerError,
  settings: Readonly<Record<Field, ResolvedSetting>>,
): CallerError | CommandError {
  const { code, message, fix } = error;
  const flag = /^--[a-z-]+/.exec(message)?.[0] ?? '';
  const field = FIELDS.find((each) => settingOf(each).flags.split(' ')[0] === flag);
  if (field === undefined) return error;
  const { source, texts, place } = settings[field];
  // Includes the colon, because after a query value, `hideSecrets` hides the colon too.
  const begin = (text: string): string => hideSecrets(`${flag} ${text}:`);
  const found =
    texts.find(({ text }) => message.startsWith(begin(text))) ??
    texts.find(({ text }) => message.startsWith(`${flag} ${text.split('=')[0]}=…:`)) ??
    (texts.length === 1 ? texts[0] : undefined);
  let rest = maskText(message.slice(flag.length));
  if (found && message.startsWith(begin(found.text))) {
    const why = message
      .slice(begin(found.text).length)
      .replaceAll(hideSecrets(toUrl(found.text)), toUrl(found.written));
    rest = ` ${toShown(found.written)}:${maskText(why)}`;
  }
  if (source !== 'file') return new CallerError(code, `${place}${rest}`, { ...(fix && { fix }) });
  return new CommandError('invalid_file', `${found?.place ?? place}: ${field}${rest}`, fix);
}

/** Returns the URL of `<chain>=<url>[,option=value]`, or the complete text. */
const toUrl = (text: string): string => splitNodeOptions(text.slice(text.indexOf('=') + 1)).url;

/**
 * Parses a number. Throws a CallerError that names the flag if the number is invalid or out of
 * bounds.
 */
function toNumber(field: Field, text: string): number {
  const { flags, shape } = settingOf(field);
  if (shape.kind !== 'number') throw new TypeError(`${field} is not a number`);
  const { least, most = Number.POSITIVE_INFINITY, isWhole } = shape;
  const isNumber = isWhole ? /^\d+$/.test(text) : /^\d+(\.\d+)?$/.test(text);
  if (isNumber && Number(text) >= least && Number(text) <= most) return Number(text);
  throw configError(
    `${flags.split(' ')[0]} ${text}: should be a ${isWhole ? 'whole ' : ''}number ` +
      (shape.most === undefined ? `of at least ${least}` : `from ${least} to ${most}`),
  );
}

/** @param onError called with the error of each setting that cannot be read */
function toServiceConfig(
  values: SettingValues,
  onError: (error: CallerError) => void,
): ServiceConfig {
  /** Reads a setting. If this fails, the configuration must not be used. */
  const attempt = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof CallerError)) throw error;
      onError(error);
      return undefined as T;
    }
  };
  const number = (field: Parameters<typeof toNumber>[0], text: string): number =>
    attempt(() => toNumber(field, text));
  const optional = (field: 'maxPerHost' | 'terminateAfter'): number | undefined =>
    values[field] === undefined ? undefined : number(field, values[field]);
  /** Reads a list, and reports each value that cannot be read together with the others. */
  const listed = <T>(parse: (texts: readonly string[]) => T, texts: readonly string[]): T => {
    const accepted: string[] = [];
    const refuses = (text: string): boolean => {
      try {
        parse([...accepted, text]);
        accepted.push(text);
        return false;
      } catch {
        return true;
      }
    };
    // A value may need a later one, so the refused ones are tried again.
    for (const text of texts.filter(refuses).filter(refuses)) {
      attempt(() => parse([...accepted, text]));
    }
    return parse(accepted);
  };
  return {
    roles: listed(parseRoles, values.roles),
    port: number('port', values.port),
    host: values.host,
    dataFolder: values.data,
    databaseUrl: values.databaseUrl,
    apiKey: values.apiKey,
    secret: values.secret,
    masterKey: process.env['SLUICE_MASTER_KEY'],
    masterKeyFile: values.masterKeyFile,
    trustProxy: values.trustProxy,
    allowHosts: values.allowHosts,
    corsOrigins: values.corsOrigins,
    rateLimit: number('rateLimit', values.rateLimit),
    chains: listed(parseChains, values.chains),
    settleMs: number('settle', values.settle) * 1_000,
    aptos: listed(parseAptos, values.aptos),
    spamLists: listed(readSpamLists, values.spamLists),
    abiUrls: listed(parseAbiUrls, values.abiUrls),
    explorers: listed(parseExplorers, values.explorers),
    allowCidrs: values.allowCidrs,
    allowPrivateEndpoints: values.allowPrivateEndpoints,
    allowNodeChanges: values.allowNodeChanges,
    egressProxy: values.egressProxy,
    clientCertFile: values.clientCert,
    clientKeyFile: values.clientKey,
    httpsOnly: values.httpsOnly,
    maxPerHost: optional('maxPerHost'),
    hideSecrets: values.hideSecrets,
    testWebhook: values.testWebhook,
    fastRetry: values.fastRetry,
    retention: {
      deliveredDays: number('keepDelivered', values.keepDelivered),
      undeliveredDays: number('keepUndelivered', values.keepUndelivered),
      minFreeBytes: number('minFreeMib', values.minFreeMib) * 1024 * 1024,
    },
    maxWebhookBytes: number('maxWebhookBytes', values.maxWebhookBytes),
    omitRecentFields: values.omitRecentFields,
    notifyUrl: values.notifyUrl,
    terminateAfterHours: optional('terminateAfter'),
    logFormat: attempt(() => parseLogFormat(values.logFormat)),
    consoleFolder: findConsole(),
    docsFolder: findDocs(),
  };
}
