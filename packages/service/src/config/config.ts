/** The configuration of a service: its settings, and the options of programs that start one. */
import type { ServiceDetails } from '@sluice/kit/contract';
import { type ConfigError, configError } from './configError.ts';
import { checkSetting } from './readSetting.ts';
import { ROLES } from './roles.ts';
import { FIELDS, type Field, type SettingValue, flagOf } from './settings.ts';

/** Options of programs, which operators cannot set. */
interface ProgramConfig {
  /** The environment that the console shows, to distinguish services. Default: prod. */
  environment?: ServiceDetails['environment'] | undefined;
  /**
   * One or more master keys that encrypt the secrets in the ledger, in the format of
   * `parseMasterKeys`. `masterKeyFile` takes precedence. Default: a key that is created in the data
   * folder.
   */
  masterKey?: string | undefined;
  /**
   * When a block with a failed check is read again: milliseconds after it was accepted. Default:
   * `READ_AGAIN_AFTER_MS`.
   */
  readAgainAfterMs?: readonly number[] | undefined;
  consoleFolder?: string | undefined;
  docsFolder?: string | undefined;
  /** Waits between attempts in milliseconds. Default: the standard schedule. */
  schedule?: readonly number[] | undefined;
}

/** The values of all settings, with their defaults. */
export type Settings = { [F in Field]: SettingValue<F> };

/** The complete configuration of a service. */
export interface Config extends Settings, ProgramConfig {}

/** The configuration of a service; absent settings have their default. */
export type ServiceConfig = { [F in Field]?: Settings[F] | undefined } & ProgramConfig;

/**
 * Adds the defaults of absent settings.
 *
 * @throws ConfigError for the first invalid setting
 */
export function completeConfig(given: ServiceConfig): Config {
  const fail = (error: ConfigError): never => {
    throw error;
  };
  const settings = Object.fromEntries(
    FIELDS.map((field) => [field, checkSetting(field, given[field], fail)]),
  ) as Settings;
  const config = { ...given, ...settings };
  checkTogether(config).forEach(fail);
  return config;
}

/** Returns whether the settings have nodes of any chain. */
export const hasChains = ({ chains, aptos }: Settings): boolean => chains.length + aptos.length > 0;

/** Returns the errors of settings that do not fit together. */
export function checkTogether(config: Settings): ConfigError[] {
  const { roles, databaseUrl } = config;
  const errors: ConfigError[] = [];
  const refuse = (problem: string): void => {
    const shown = roles.join(` ${flagOf('roles')} `);
    errors.push(configError({ setting: 'roles', value: roles.join(' '), shown, problem }));
  };
  if (roles.length < ROLES.length && databaseUrl === undefined) {
    refuse(
      `needs ${flagOf('databaseUrl')}, because a SQLite ledger belongs to one process, which needs all roles`,
    );
  }
  const readsOnly = !roles.includes('deliver') && !roles.includes('api');
  if (readsOnly && !hasChains(config) && !config.allowNodeChanges) {
    const flags = [flagOf('chains'), flagOf('aptos')].join(', ');
    refuse(`needs a chain to read; pass ${flags} or ${flagOf('allowNodeChanges')}`);
  }
  return errors;
}
